import RichPushModel
import Testing

@testable import SharedAccess

@Suite struct SharedAccessSignerTests {
    private let signer = SharedAccessSigner(ruleName: AccessRule.fullName, key: SignatureSamples.key())

    @Test("a signed token is the worked example, and is admitted below its address only")
    func token() {
        let token = signer.token(audience: "https://Push.Example.test/", expiresAt: Timestamp(seconds: 1_900_000_000))
        #expect(token == SignatureSamples.example.replacing("%2B", with: "%2b").replacing("%3D", with: "%3d"))
        let narrow = signer.token(audience: "https://push.example.test/demo", expiresAt: Timestamp(seconds: 1_900_000_000))
        #expect(SignatureSamples.fault(SignatureSamples.verify(narrow)) == nil)
        #expect(SignatureSamples.verify(narrow, path: "/other/messages") == .failure(.invalidAudience))
    }

    @Test("a token is made once and made anew before it runs out")
    func cache() {
        var cache = SharedAccessTokenCache(signer)
        let now = SignatureSamples.now
        let first = cache.token(for: "https://push.example.test/demo", now: now)
        #expect(cache.token(for: "https://push.example.test/demo", now: now + .seconds(2999)) == first)
        #expect(cache.token(for: "https://push.example.test/other", now: now) != first)
        let second = cache.token(for: "https://push.example.test/demo", now: now + .seconds(3000))
        #expect(second != first)
        #expect(SignatureSamples.fault(SignatureSamples.verify(second, now: now + .seconds(3000))) == nil)
        cache.removeAll()
        #expect(cache.token(for: "https://push.example.test/demo", now: now + .seconds(3001)) != second)
    }

    @Test("a clock that was set back does not keep a token forever")
    func clockSetBack() {
        var cache = SharedAccessTokenCache(signer)
        let ahead = cache.token(for: "a", now: SignatureSamples.now + .seconds(86_400))
        #expect(cache.token(for: "a", now: SignatureSamples.now) != ahead)
    }

    @Test("a signer is printed without its key")
    func redacted() {
        var dumped = ""
        dump(signer, to: &dumped)
        for text in ["\(signer)", String(reflecting: signer), dumped] { #expect(!text.contains(SignatureSamples.keyText)) }
    }
}
