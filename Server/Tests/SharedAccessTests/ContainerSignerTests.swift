import RichPushModel
import SharedAccess
import Testing

@Suite("Links to containers")
struct ContainerSignerTests {
    private static let now = Timestamp(seconds: 1_900_000_000)
    private let signer = ContainerSigner(.random())

    private func check(
        _ query: String, _ place: [String], _ needed: ContainerPermission, by signer: ContainerSigner? = nil, at now: Timestamp = now
    ) -> ContainerSigner.Fault? {
        var parts: [String: String] = [:]
        for part in query.split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            parts[String(pair[0])] = pair.count > 1 ? String(pair[1]) : ""
        }
        do throws(ContainerSigner.Fault) {
            try (signer ?? self.signer).check(
                signature: parts["sig"], expiry: parts["se"], permissions: parts["sp"], for: place, needed, at: now)
            return nil
        } catch {
            return error
        }
    }

    @Test("a link holds for its place, its permissions and its time, and for nothing else")
    func holds() {
        let query = signer.query(for: ["1", "abc"], [.list, .read], until: Self.now + .seconds(60))
        #expect(query.hasSuffix("&se=1900000060&sp=rl"))
        #expect(check(query, ["1", "abc"], .read) == nil)
        #expect(check(query, ["1", "abc"], .list) == nil)
        #expect(check(query, ["1", "abc"], .write) == .lacks(.write))
        #expect(check(query, ["1", "abd"], .read) == .notAuthentic)
        #expect(check(query, ["1a", "bc"], .read) == .notAuthentic)
        #expect(check(query, ["1", "abc"], .read, by: ContainerSigner(.random())) == .notAuthentic)
        #expect(check(query, ["1", "abc"], .read, at: Self.now + .seconds(60)) == .expired)
    }

    @Test("a link that was changed is refused before anything else is said of it")
    func changed() {
        let query = signer.query(for: ["1", "abc"], [.read], until: Self.now + .seconds(60))
        #expect(check(query.replacing("sp=r", with: "sp=rw"), ["1", "abc"], .write) == .notAuthentic)
        #expect(check(query.replacing("se=19", with: "se=29"), ["1", "abc"], .read) == .notAuthentic)
        for broken in ["", "sig=", "sig=%%&se=1&sp=r", query.replacing("se=1900000060", with: "se=x"), query.replacing("&sp=r", with: "")] {
            #expect(check(broken, ["1", "abc"], .read) != nil)
        }
    }

    @Test("the key does not show in a printed signer")
    func printed() { #expect("\(signer) \(String(reflecting: signer))".contains("not shown")) }
}
