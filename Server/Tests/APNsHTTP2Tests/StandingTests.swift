import APNsProtocol
import NIOCore
import Testing

@testable import APNsHTTP2

@Suite("The standing of pushes")
struct StandingTests {
    private func push(_ standing: APNsPush.Standing, _ digit: Character) -> APNsPush {
        var push = Pushes.push()
        push.deviceToken = String(repeating: digit, count: 64)
        push.standing = standing
        return push
    }

    @Test("when a refusal has lowered the limit to 1, the push that is likeliest to be accepted goes first")
    func likeliestFirst() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink(streamLimit: 1)
        _ = rig.submit(1)
        _ = rig.submit([push(.ordinary, "a"), push(.untried, "b"), push(.proven, "c"), push(.proven, "d")])
        try link.exchange()
        _ = link.server.takeRequests()
        try link.say(.refusal(3, 400, "BadDeviceToken"), .streamLimit(1))
        try link.exchange()
        #expect(link.server.takeRequests().first?.value(":path") == "/3/device/" + String(repeating: "c", count: 64))
        // The success restores the limit, and the rest keeps its order.
        try link.say(.success(5), .streamLimit(1000))
        try link.exchange()
        #expect(link.server.takeRequests().map { $0.value(":path")?.last } == ["a", "b", "d"])
    }

    @Test("doubtful is what was never accepted or was refused; the rest travels together")
    func doubt() {
        #expect(APNsPush.Standing.allCases.filter(\.isDoubtful) == [.suspect, .untried])
        #expect(APNsPush.Standing.allCases.sorted() == [.suspect, .untried, .ordinary, .proven])
        #expect(Pushes.push().standing == .ordinary)
    }
}
