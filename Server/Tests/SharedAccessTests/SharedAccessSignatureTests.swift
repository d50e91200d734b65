import RichPushModel
import Testing
import WireText

@testable import SharedAccess

@Suite struct SharedAccessSignatureTests {
    @Test("the documented example is admitted, and signing gives it back")
    func workedExample() {
        #expect(SignatureSamples.fault(SignatureSamples.verify(SignatureSamples.example)) == nil)
        let signed = SignatureSamples.key().signature(audience: "https%3a%2f%2fpush.example.test%2f", expiry: "1900000000")
        #expect(PercentEncoding.decode("RApAsvlEQaYK5X4ROe%2B6DDW8DZSnqAZ00D3SyFBvN24%3D") != nil)
        #expect(
            SignatureSamples.header(encoded: "https%3a%2f%2fpush.example.test%2f").lowercased()
                == SignatureSamples.example.lowercased())
        #expect(signed.count == 32)
    }

    @Test("both keys of a rule sign, and the grant says which one did")
    func bothKeys() throws {
        let audience = "https%3a%2f%2fpush.example.test%2fdemo"
        let second = SignatureSamples.header(encoded: audience, key: SignatureSamples.key(SignatureSamples.otherKeyText))
        #expect(try SignatureSamples.verify(SignatureSamples.header(encoded: audience)).get().usedSecondaryKey == false)
        #expect(try SignatureSamples.verify(second).get().usedSecondaryKey)
    }

    @Test("a rule of the hub and one of all hubs may share a name; each key grants the rights of its own rule")
    func sharedName() throws {
        let wide = AccessRule(name: AccessRule.fullName, rights: [.listen])
        let header = SignatureSamples.header(encoded: "sb%3a%2f%2fpush.example.test%2f", key: wide.secondary)
        let grant = try SignatureSamples.verify(header, rules: [SignatureSamples.rule, wide]).get()
        #expect(grant.rights == [.listen])
        #expect(grant.allows(anyOf: [.listen, .manage]))
        #expect(!grant.allows(anyOf: [.send]))
    }

    @Test("a token counts until five minutes after its expiry")
    func expiry() {
        let end = Timestamp(seconds: 1_900_000_000) + .seconds(300)
        #expect(SignatureSamples.fault(SignatureSamples.verify(SignatureSamples.example, now: end - .milliseconds(1))) == nil)
        #expect(SignatureSamples.verify(SignatureSamples.example, now: end) == .failure(.expiredToken))
    }

    @Test("a token of another key is refused before anything is said about its time or address")
    func wrongKey() {
        let header = SignatureSamples.header(encoded: "https%3a%2f%2felsewhere.test%2f", expiry: "1", key: .random())
        #expect(SignatureSamples.verify(header) == .failure(.invalidSignature))
    }

    @Test("an unknown rule is not distinguished from a wrong key")
    func unknownRule() {
        let header = SignatureSamples.header(encoded: "https%3a%2f%2fpush.example.test%2f", name: "Nobody")
        #expect(SignatureSamples.verify(header) == .failure(.invalidSignature))
        #expect(SignatureSamples.verify(SignatureSamples.example, rules: []) == .failure(.invalidSignature))
    }

    @Test("every name of the server admits, with or without port, whatever the case")
    func aliases() {
        let hosts = ["localhost:8080", "Push.Example.TEST"]
        #expect(SignatureSamples.fault(SignatureSamples.verify(SignatureSamples.example, hosts: hosts)) == nil)
        let six = SignatureSamples.header(encoded: "https%3a%2f%2f%5b%3a%3a1%5d%3a8443%2fdemo")
        #expect(SignatureSamples.fault(SignatureSamples.verify(six, hosts: ["[::1]:8443"])) == nil)
        #expect(SignatureSamples.verify(six, hosts: ["[::2]:8443"]) == .failure(.invalidAudience))
    }

    @Test("a path is compared after both sides were decoded once")
    func decodedOnce() {
        let header = SignatureSamples.header(
            encoded: AudienceEncoding.rfc3986.encode("https://push.example.test/demo/tags/a%20b/registrations"))
        #expect(SignatureSamples.fault(SignatureSamples.verify(header, path: "/demo/tags/A%20B/registrations")) == nil)
        #expect(SignatureSamples.verify(header, path: "/demo/tags/a%2520b/registrations") == .failure(.invalidAudience))
        #expect(SignatureSamples.verify(header, path: "/demo/tags/a/registrations") == .failure(.invalidAudience))
    }

    @Test("the sub-codes are those that clients know")
    func subCodes() {
        #expect(
            SharedAccessFault.allCases.map(\.subCode) == [40101, 40102, 40103, 40104, 40105, 40106, 40107, 40108, 40109, 40110])
    }

    @Test("a token is never printed")
    func redacted() throws {
        let signature = try SharedAccessSignature(header: SignatureSamples.example)
        for text in ["\(signature)", String(reflecting: signature)] { #expect(text == "shared access signature (not shown)") }
        var dumped = ""
        dump(signature, to: &dumped)
        #expect(!dumped.contains("RApAsvl"))
        #expect(!dumped.contains("push.example"))
    }
}
