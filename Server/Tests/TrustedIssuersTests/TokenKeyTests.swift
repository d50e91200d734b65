import ClarionTesting
import Testing
import WireText

@testable import TrustedIssuers

@Suite struct TokenKeyTests {
    private typealias Samples = TokenSamples

    @Test("a signature of another key, a changed body and a changed header are refused")
    func forged() async throws {
        #expect(try await Samples.reason(Samples.token(key: .otherES256)) == .signature)
        let parts = Samples.token().split(separator: ".")
        let body = Samples.text(Samples.claims(["sub": "\"bob\""]))
        #expect(try await Samples.reason("\(parts[0]).\(body).\(parts[2])") == .signature)
        let header = Samples.text(Samples.header(.es256, ["typ": nil]))
        #expect(try await Samples.reason("\(header).\(parts[1]).\(parts[2])") == .signature)
    }

    @Test("signatures of zeros, of a wrong length and in DER are refused")
    func oddSignatures() async throws {
        let signed = Samples.token().split(separator: ".")[..<2].joined(separator: ".")
        let der: [UInt8] = [0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01]
        let zeros = [0, 1, 32, 63, 64, 65, 72, 96, 256, 512].map { [UInt8](repeating: 0, count: $0) }
        for signature in zeros + [der] {
            let reason = try await Samples.reason(signed + "." + Base64URL.text(of: signature))
            #expect(reason == (signature.isEmpty ? .malformed : .signature))
        }
    }

    @Test("one forged PS256 header does not keep an RS256 issuer's key without alg from verifying")
    func algorithmOfKeyWithoutName() async throws {
        let issuer = try await Samples.issuer(
            keys: Raw.keySet(SigningKey.rs256.jwk()), ["algorithms": ["RS256", "PS256"]])
        let verifier = await Samples.verifier(issuer)
        let forged = Samples.token(header: Samples.header(.ps256), key: .es256)
        #expect(await Samples.reason(forged, by: verifier) == .keyMismatch)
        // Even a valid signature of the key with another algorithm: a key has one.
        let pss = Samples.token(header: Samples.header(.ps256), key: .ps256)
        #expect(await Samples.reason(pss, by: verifier) == .keyMismatch)
        #expect(await Samples.reason(Samples.token(header: Samples.header(.rs256), key: .rs256), by: verifier) == nil)
        let renamed = Samples.token(header: Samples.header(.rs256), key: .ps256)
        #expect(await Samples.reason(renamed, by: verifier) == .signature)
    }

    @Test("an algorithm outside of the issuer's list is refused, though the key would fit")
    func algorithmOfOtherIssuer() async throws {
        let token = Samples.token(header: Samples.header(.rs256), key: .rs256)
        #expect(try await Samples.reason(token) == .algorithm)
        for name in ["RS384", "RS512", "PS384", "PS512", "ES512", "ES256K", "ML-DSA-65", "RSA-OAEP", "dir"] {
            #expect(try await Samples.reason(Samples.token(header: Samples.header(.es256, ["alg": "\"\(name)\""]))) == .algorithm)
        }
    }

    @Test("a key that the token brings or points to is never used", arguments: ["jwk", "jku", "x5u", "x5c"])
    func broughtKey(_ name: String) async throws {
        let value =
            switch name {
            case "jwk": SigningKey.otherES256.jwk()
            case "x5c": "[\"\(Base64URL.text(of: Array(SigningKey.otherES256.pem.utf8)))\"]"
            default: "\"https://evil.example.test/keys\""
            }
        let forged = Samples.token(header: Samples.header(.es256, [name: value]), key: .otherES256)
        #expect(try await Samples.reason(forged) == .signature)
        let unnamed = Samples.token(header: Samples.header(.es256, [name: value, "kid": "\"evil\""]), key: .otherES256)
        #expect(try await Samples.reason(unnamed) == .unknownKey)
        // A token of the issuer itself may have them.
        #expect(try await Samples.reason(Samples.token(header: Samples.header(.es256, [name: value]))) == nil)
    }

    @Test(
        "a kid is an opaque text: a path, a statement or an address names no key",
        arguments: [
            "../../../../dev/null", "/dev/null", "k1' OR '1'='1", "k1; DROP TABLE users", "https://evil.example.test", "K1",
            "k1 ",
            "k1\u{0}", "", "k\u{301}1",
        ])
    func opaqueKeyID(_ id: String) async throws {
        let token = Samples.token(header: Samples.header(.es256, ["kid": JSONText.string(id)]))
        #expect(try await Samples.reason(token) == .unknownKey)
    }

    @Test("a kid that is no text or has more than 256 bytes is refused", arguments: ["1", "null", "[\"k1\"]", "{}", "true"])
    func oddKeyID(_ value: String) async throws {
        #expect(try await Samples.reason(Samples.token(header: Samples.header(.es256, ["kid": value]))) == .keyID)
        let long = "\"\(String(repeating: "k", count: 257))\""
        #expect(try await Samples.reason(Samples.token(header: Samples.header(.es256, ["kid": long]))) == .keyID)
    }

    @Test("kids are compared by bytes: two spellings of one character are two keys")
    func spellings() async throws {
        let keys = Raw.keySet(SigningKey.es256.jwk("caf\u{E9}"), SigningKey.otherES256.jwk("cafe\u{301}"))
        func header(_ id: String) -> String { Samples.header(.es256, ["kid": JSONText.string(id)]) }
        #expect(try await Samples.reason(Samples.token(header: header("caf\u{E9}")), keys: keys) == nil)
        #expect(try await Samples.reason(Samples.token(header: header("cafe\u{301}")), keys: keys) == .signature)
        #expect(try await Samples.reason(Samples.token(header: header("cafe\u{301}"), key: .otherES256), keys: keys) == nil)
    }

    @Test("a token without kid is verified only if one key alone fits its algorithm")
    func withoutKeyID() async throws {
        let token = Samples.token(header: Samples.header(.es256, ["kid": nil]))
        #expect(try await Samples.reason(token) == nil)
        #expect(try await Samples.reason(token, keys: Raw.keySet(SigningKey.es256.jwk(nil))) == nil)
        let two = Raw.keySet(SigningKey.es256.jwk("k1"), SigningKey.otherES256.jwk("k2"))
        #expect(try await Samples.reason(token, keys: two) == .ambiguousKey)
        let mixed = Raw.keySet(SigningKey.rs256.jwk("k2"), SigningKey.es256.jwk("k1"))
        #expect(try await Samples.reason(token, keys: mixed, ["algorithms": ["RS256", "ES256"]]) == nil)
        let other = Raw.keySet(SigningKey.rs256.jwk("k2"))
        #expect(try await Samples.reason(token, keys: other, ["algorithms": ["RS256", "ES256"]]) == .unknownKey)
    }

    @Test("a token of one issuer is not verified with the key of another")
    func issuersApart() async throws {
        let first = try await Samples.issuer()
        let second = try await Samples.issuer(
            keys: Raw.keySet(SigningKey.otherES256.jwk()), ["issuer": ["https://other.example.test"]])
        let verifier = await Samples.verifier(first, second)
        let claims = Samples.claims(["iss": "\"https://other.example.test\""])
        #expect(await Samples.reason(Samples.token(claims: claims), by: verifier) == .signature)
        #expect(await Samples.reason(Samples.token(claims: claims, key: .otherES256), by: verifier) == nil)
        #expect(await Samples.reason(Samples.token(), by: verifier) == nil)
    }

    @Test("an error names the configured issuer, and nothing else of the token")
    func errorText() async throws {
        let verifier = await Samples.verifier(try await Samples.issuer())
        let marks = ["alg": "\"SECRET\"", "kid": "\"SECRET\"", "typ": "\"SECRET\"", "jku": "\"SECRET\""]
        let claims = Samples.claims(["sub": "\"SECRET\"", "aud": "\"SECRET\"", "exp": "\"SECRET\""])
        let tokens =
            marks.map { Samples.token(header: Samples.header(.es256, [$0: $1]), claims: claims) } + [
                Samples.token(claims: Samples.claims(["iss": "\"SECRET\""])), "SECRET",
            ]
        for token in tokens {
            let error = await #expect(throws: TokenError.self) { try await verifier.verify(token) }
            let texts = "\(error.map { "\($0) \($0.issuer ?? "")" } ?? "")"
            #expect(!texts.contains("SECRET"))
            #expect(error?.issuer == nil || error?.issuer == Samples.issuer)
        }
    }

    @Test("every reason has a sentence of its own")
    func reasons() {
        let texts = TokenError.Reason.allCases.map(\.text)
        #expect(Set(texts).count == texts.count && !texts.contains(""))
        #expect(TokenError.Reason.allCases.filter { TokenError($0).isOutage } == [.keysUnavailable])
    }
}
