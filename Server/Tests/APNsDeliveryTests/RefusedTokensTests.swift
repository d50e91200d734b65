import APNsProtocol
import Testing

@testable import APNsDelivery

extension APNsDeviceToken: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) { self.init(text) }
}

@Suite("Tokens that were refused")
struct RefusedTokensTests {
    @Test("a refused token is remembered until it is accepted")
    func memory() {
        let refused = RefusedTokens()
        #expect(refused.contains(["a", "b"]) == nil)
        refused.insert("a")
        #expect(refused.contains(["a", "b"]) == [true, false])
        refused.remove("a")
        #expect(refused.contains(["a"]) == nil)
    }

    @Test("the memory is bounded: the oldest goes first")
    func bound() {
        let refused = RefusedTokens(capacity: 3)
        for token: APNsDeviceToken in ["a", "b", "c", "d", "d", "e"] { refused.insert(token) }
        #expect(refused.contains(["a", "b", "c", "d", "e"]) == [false, false, true, true, true])
        refused.remove("d")
        refused.insert("f")
        #expect(refused.contains(["c", "d", "e", "f"]) == [true, false, true, true])
    }
}
