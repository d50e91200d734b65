import Testing

@testable import APNsHTTP2

@Suite("The order of addresses")
struct AddressFamiliesTests {
    @Test(
        "families take turns, the resolver's favourite first, and nothing is lost",
        arguments: [
            (["6a", "6b", "6c", "4a", "4b"], ["6a", "4a", "6b", "4b", "6c"]), (["4a", "6a", "6b"], ["4a", "6a", "6b"]),
            (["4a", "4b"], ["4a", "4b"]), ([], []),
        ])
    func order(resolved: [String], tried: [String]) {
        #expect(AddressFamilies.alternating(resolved) { $0.hasPrefix("6") } == tried)
    }
}
