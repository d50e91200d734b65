import RichPushModel
import Testing

@testable import SharedAccess

@Suite struct HostileSignatureTests {
    private static let audience = "https%3a%2f%2fpush.example.test%2fdemo"
    private static let good = SignatureSamples.header(encoded: audience)
    private static let fields = good.dropFirst("SharedAccessSignature ".count).split(separator: "&").map(String.init)

    private func without(_ name: String) -> String {
        "SharedAccessSignature " + Self.fields.filter { !$0.hasPrefix(name + "=") }.joined(separator: "&")
    }

    @Test("each missing field has its own sub-code")
    func missing() {
        let expected: [(String, SharedAccessFault)] = [
            ("sr", .missingAudience), ("se", .missingExpiry), ("skn", .missingIssuer), ("sig", .missingSignature),
        ]
        for (name, fault) in expected {
            #expect(SignatureSamples.verify(without(name)) == .failure(fault))
            #expect(SignatureSamples.verify(without(name) + "&\(name)=") == .failure(fault))
        }
        #expect(SignatureSamples.verify(nil) == .failure(.missingToken))
        #expect(SignatureSamples.verify("") == .failure(.missingToken))
    }

    @Test("a field that comes twice makes the token malformed, even with the same value", arguments: ["sr", "sig", "se", "skn"])
    func duplicate(_ name: String) throws {
        let field = try #require(Self.fields.first { $0.hasPrefix(name + "=") })
        #expect(SignatureSamples.verify(Self.good + "&" + field) == .failure(.malformedToken))
    }

    @Test(
        "other schemes and broken headers are malformed",
        arguments: [
            "Bearer abc", "SharedAccessSignature", "SharedAccessSignature ", "SharedAccessSignature sr",
            "SharedAccessSignature &&&",
            "SharedAccessSignature\tsr=a", "WRAP access_token=\"a\"", "SharedAccessSignature sr=a&sig=b&se=c&skn=d\u{0}",
            "SharedAccessSignature sr=ä&sig=b&se=1&skn=d", "SharedAccessSignature sr=a&sig=b&se=-1&skn=d",
            "SharedAccessSignature sr=a&sig=b&se=1e9&skn=d", "SharedAccessSignature sr=a&sig=b&se=9999999999999999999&skn=d",
            "SharedAccessSignature sr=a&sig=b&se=1&skn=%ff", "SharedAccessSignature sr=a&sig=b&se=1&skn=%0a",
            "SharedAccessSignature sr=a&sig=b&se=1&skn=%4", "SharedAccessSignature sr=a&sig=b&se= 1&skn=d",
        ])
    func malformed(_ header: String) { #expect(SignatureSamples.verify(header) == .failure(.malformedToken)) }

    @Test("a huge header is refused unread")
    func huge() {
        let longName = "SharedAccessSignature sr=a&sig=b&se=1&skn=" + String(repeating: "n", count: 300)
        let manyFields = Self.good + String(repeating: "&a=b", count: 20)
        let long = Self.good + "&x=" + String(repeating: "a", count: 8192)
        for header in [longName, manyFields, long] { #expect(SignatureSamples.verify(header) == .failure(.malformedToken)) }
    }

    @Test("hexadecimal digits in another case void the audience, for the very text was signed, but not the signature's escapes")
    func caseOfDigits() {
        let changed = Self.good.replacing("%3a%2f%2f", with: "%3A%2F%2F")
        #expect(changed != Self.good)
        #expect(SignatureSamples.verify(changed) == .failure(.invalidSignature))
        #expect(SignatureSamples.fault(SignatureSamples.verify(SignatureSamples.example.replacing("%2B", with: "%2b"))) == nil)
        #expect(SignatureSamples.fault(SignatureSamples.verify(SignatureSamples.example.replacing("%2B", with: "+"))) == nil)
    }

    @Test("a signature that is escaped twice, cut, lengthened, in lower case or not Base64 is invalid")
    func brokenSignatures() {
        let raw = "RApAsvlEQaYK5X4ROe%2B6DDW8DZSnqAZ00D3SyFBvN24%3D"
        let broken = [
            raw.replacing("%", with: "%25"), String(raw.dropLast(3)), raw + "%3D", raw.lowercased(), "AAAA",
            raw.replacing("%2B", with: "%20"),
            raw.replacing("%2B", with: "-"), "%00" + raw, raw.replacing("%3D", with: "%3"),
        ]
        for signature in broken {
            #expect(
                SignatureSamples.verify(SignatureSamples.example.replacing(raw, with: signature)) == .failure(.invalidSignature),
                "\(signature)")
        }
    }

    @Test("a changed expiry voids the signature, even if only its spelling changed")
    func changedExpiry() {
        for expiry in ["1900000001", "01900000000", "9900000000"] {
            let header = SignatureSamples.example.replacing("se=1900000000", with: "se=\(expiry)")
            #expect(SignatureSamples.verify(header) == .failure(.invalidSignature))
        }
    }

    @Test(
        "an address that only looks like this server's is another audience",
        arguments: [
            "https://push.example.test@evil.test/demo", "https://evil.test/push.example.test/demo", "https://push.example.tes",
            "https://push.example.test.evil.test/", "https://evil.test#push.example.test", "https://evil.test?push.example.test/",
            "ftp://push.example.test/", "push.example.test", "//push.example.test/", "https:push.example.test", "https:///demo",
            "https://push.example.test:80a/", "https://push.example.test:123456/", "https://push.example.test\\demo", "",
            "https://push.example.test/demo2", "https://push.example.test/dem", "https://push.example.test/demo/messages/x",
            "https://push.example.test/demo/../demo", "https://push.example.test/./demo",
            "https://push.example.test/demo%2fmessages",
            "https://push.example.test/demo%5cmessages", "https://push.example.test/demo%00",
            "https://push.example.test/demo\u{0}",
            "https://push.example.test/%64%65%6d%6f%32", "https%3a%2f%2fpush.example.test%2f", "https://push.example.test /",
            "https://[push.example.test]/", "https://push.example.test,evil.test/",
        ])
    func lookalikes(_ address: String) {
        let header = SignatureSamples.header(encoded: AudienceEncoding.rfc3986.encode(address) + (address.isEmpty ? "%20" : ""))
        #expect(SignatureSamples.verify(header) == .failure(.invalidAudience))
    }

    @Test("a request path with an escaped slash is not below an audience of the path it imitates")
    func imitatedRequestPath() {
        let header = SignatureSamples.header(encoded: "https%3a%2f%2fpush.example.test%2fdemo")
        for path in ["/demo%2f..%2fother/messages", "/demo/../other/messages", "/demo%5cx", "/demo%", "/DEMO%00"] {
            #expect(SignatureSamples.verify(header, path: path) == .failure(.invalidAudience), "\(path)")
        }
        #expect(SignatureSamples.fault(SignatureSamples.verify(header, path: "/%64emo/messages")) == nil)
        #expect(SignatureSamples.fault(SignatureSamples.verify(header, path: "/DEMO/")) == nil)
    }
}
