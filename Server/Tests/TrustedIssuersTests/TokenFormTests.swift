import Crypto
import Testing
import WireText

@testable import TrustedIssuers

@Suite struct TokenFormTests {
    private typealias Samples = TokenSamples

    @Test("a token of a trusted issuer signs its user in, with every algorithm of the list")
    func accepted() async throws {
        for key in [SigningKey.es256, .es384, .ed25519, .rs256, .ps256] {
            let token = Samples.token(header: Samples.header(key), key: key)
            let keys = Raw.keySet(key.jwk("k1", ["alg": "\"\(key.algorithm)\"", "use": "\"sig\""]))
            let issuer = try await Samples.issuer(keys: keys, ["algorithms": [key.algorithm]])
            let identity = try await Samples.verifier(issuer).verify(token)
            #expect(identity.issuer == Samples.issuer && identity.subject == "alice" && identity.userName.text == "alice")
            #expect(identity.issuedAt.seconds == Samples.now && identity.expiresAt.seconds == Samples.now + 600)
            #expect(identity.tags == nil && identity.role == nil && !identity.mayCreateUser)
        }
    }

    @Test("Ed25519 is another name of EdDSA, in a header and in a key set")
    func ed25519() async throws {
        let token = Samples.token(header: Samples.header(.ed25519, ["alg": "\"Ed25519\""]), key: .ed25519)
        for named in ["EdDSA", "Ed25519"] {
            let keys = Raw.keySet(SigningKey.ed25519.jwk("k1", ["alg": "\"\(named)\""]))
            #expect(try await Samples.reason(token, keys: keys, ["algorithms": [named]]) == nil)
        }
    }

    @Test(
        "no spelling of none is an algorithm, with and without a signature",
        arguments: ["none", "None", "NONE", "nOnE", "none ", " none", "", "null", "HS256\u{0}", "es256", "ES256 "])
    func none(_ spelling: String) async throws {
        let header = Samples.header(.es256, ["alg": JSONText.string(spelling)])
        #expect(try await Samples.reason(Samples.token(header: header)) == .algorithm)
        let unsigned = "\(Samples.text(header)).\(Samples.text(Samples.claims()))."
        #expect(try await Samples.reason(unsigned) == .malformed)
        #expect(try await Samples.reason(unsigned + "AA") == .algorithm)
    }

    @Test("an alg that is missing or no text is refused", arguments: [nil, "null", "[\"ES256\"]", "256", "{}", "true"])
    func oddAlgorithm(_ value: String?) async throws {
        #expect(try await Samples.reason(Samples.token(header: Samples.header(.es256, ["alg": value]))) == .algorithm)
    }

    @Test("HS256 with the public key's text as the secret is refused", arguments: ["HS256", "HS384", "HS512"])
    func symmetric(_ name: String) async throws {
        for key in [SigningKey.rs256, .es256] {
            let signed = "\(Samples.text(Samples.header(.es256, ["alg": "\"\(name)\""]))).\(Samples.text(Samples.claims()))"
            for secret in [key.pem, key.pem + "\n", key.jwk()] {
                let symmetric = SymmetricKey(data: Array(secret.utf8))
                let code = HMAC<SHA256>.authenticationCode(for: Array(signed.utf8), using: symmetric)
                let token = signed + "." + Base64URL.text(of: Array(code))
                let reason = try await Samples.reason(
                    token, keys: Raw.keySet(key.jwk()), ["algorithms": [key.algorithm]])
                #expect(reason == .algorithm)
            }
        }
    }

    @Test("an encrypted token of five parts is refused, and so is one with enc")
    func encrypted() async throws {
        #expect(try await Samples.reason("a.b.c.d.e") == .encrypted)
        #expect(try await Samples.reason(Samples.token() + ".x.y") == .encrypted)
        #expect(
            try await Samples.reason(Samples.token(header: Samples.header(.es256, ["enc": "\"A128GCM\""]))) == .encrypted)
    }

    @Test(
        "a text that is not three parts is malformed",
        arguments: ["", ".", "..", "a", "a.b", "a.b.c", "...", "....", ".....", "Bearer x.y.z", "{\"payload\":\"\"}", "é.é.é"])
    func parts(_ text: String) async throws {
        let reason = try await Samples.reason(text)
        #expect(reason == .malformed || reason == .encrypted)
    }

    @Test("crit, zip and b64 are refused, whatever they name")
    func extensions() async throws {
        let cases: [(String, String, TokenError.Reason)] = [
            ("crit", "[\"exp\"]", .criticalHeader), ("crit", "[]", .criticalHeader), ("crit", "null", .criticalHeader),
            ("zip", "\"DEF\"", .compressed), ("zip", "null", .compressed), ("b64", "false", .criticalHeader),
        ]
        for (name, value, reason) in cases {
            #expect(try await Samples.reason(Samples.token(header: Samples.header(.es256, [name: value]))) == reason)
        }
    }

    @Test("a name that occurs twice is refused, in the header, in the claims and inside a claim")
    func doubled() async throws {
        let header = "{\"alg\":\"ES256\",\"kid\":\"k1\",\"alg\":\"ES256\"}"
        #expect(try await Samples.reason(Samples.token(header: header)) == .malformed)
        let escaped = "{\"alg\":\"ES256\",\"kid\":\"k1\",\"\\u0061lg\":\"none\"}"
        #expect(try await Samples.reason(Samples.token(header: escaped)) == .malformed)
        let claims = Samples.claims().dropLast() + ",\"sub\":\"bob\"}"
        #expect(try await Samples.reason(Samples.token(claims: String(claims))) == .malformed)
        let inner = Samples.claims(["realm": "{\"roles\":[],\"roles\":[\"x\"]}"])
        #expect(try await Samples.reason(Samples.token(claims: inner)) == .malformed)
    }

    @Test(
        "a header or a body that is no JSON object is malformed",
        arguments: ["", "[]", "null", "\"x\"", "1", "{", "{}{}", "{\"a\":NaN}", "{'a':1}", "{\"a\":\"\\ud800\"}", "\u{FEFF}{}"])
    func json(_ text: String) async throws {
        #expect(try await Samples.reason(Samples.token(header: text)) == .malformed)
        #expect(try await Samples.reason(Samples.token(claims: text)) == .malformed)
    }

    @Test("lists nested two thousand deep, and texts that are not UTF-8, are malformed")
    func nested() async throws {
        let deep = String(repeating: "[", count: 2_000) + String(repeating: "]", count: 2_000)
        #expect(try await Samples.reason(Samples.token(claims: Samples.claims(["x": deep]))) == .malformed)
        let overlong = Base64URL.text(of: Array("{\"alg\":\"".utf8) + [0xC0, 0xAF] + Array("\"}".utf8))
        #expect(try await Samples.reason("\(overlong).e30.AA") == .malformed)
    }

    @Test("a token of 8 KiB is read, and one byte more is too long")
    func length() async throws {
        let plain = Samples.token(claims: Samples.claims(["x": "\"\""]))
        // Three bytes of a claim are four of the token.
        let room = (CompactToken.maximumLength - plain.utf8.count) / 4 * 3
        let fitting = Samples.token(claims: Samples.claims(["x": "\"\(String(repeating: "x", count: room))\""]))
        #expect(fitting.utf8.count <= CompactToken.maximumLength && fitting.utf8.count > CompactToken.maximumLength - 4)
        #expect(try await Samples.reason(fitting) == nil)
        let longer = Samples.token(claims: Samples.claims(["x": "\"\(String(repeating: "x", count: room + 6))\""]))
        #expect(try await Samples.reason(longer) == .tooLong)
        #expect(try await Samples.reason(String(repeating: "a", count: 10_000_000)) == .tooLong)
    }

    @Test("base64url has one spelling: padding, other letters and loose last bits are refused")
    func canonical() async throws {
        let token = Samples.token()
        #expect(try await Samples.reason(token + "=") == .malformed)
        #expect(try await Samples.reason(token + "==") == .malformed)
        #expect(try await Samples.reason(token + "\n") == .malformed)
        #expect(try await Samples.reason(" " + token) == .malformed)
        #expect(try await Samples.reason(token.replacing(".", with: "=.")) == .malformed)
        // 64 bytes are 86 letters, of whose last only two bits count.
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        let letter = try #require(token.last)
        let last = try #require(letters.firstIndex(of: letter))
        for other in letters.indices where other != last && other & 0b110000 == last & 0b110000 {
            #expect(try await Samples.reason(token.dropLast() + String(letters[other])) == .malformed)
        }
    }
}
