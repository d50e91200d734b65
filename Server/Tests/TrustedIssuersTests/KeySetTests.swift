import CryptoExtras
import Testing
import WireText

@testable import TrustedIssuers

@Suite struct KeySetTests {
    private typealias Samples = TokenSamples

    private func set(_ document: String, _ algorithms: [SignatureAlgorithm] = SignatureAlgorithm.allCases) async throws -> KeySet
    {
        try await KeySet(document: Array(document.utf8), algorithms: algorithms)
    }

    private func fault(_ entry: String, _ algorithms: [SignatureAlgorithm] = SignatureAlgorithm.allCases) async throws
        -> KeyEntryFault?
    {
        try await set(Raw.keySet(entry), algorithms).skipped.keys.first
    }

    @Test("entries that are not understood are skipped, and the others of the set are used")
    func unknownEntries() async throws {
        let x = Base64URL.text(of: [UInt8](repeating: 7, count: 32))
        let odd = [
            "{\"kty\":\"oct\",\"kid\":\"a\",\"k\":\"\(x)\"}",
            "{\"kty\":\"AKP\",\"kid\":\"b\",\"alg\":\"ML-DSA-65\",\"pub\":\"\(x)\"}",
            "{\"kty\":\"OKP\",\"crv\":\"X25519\",\"kid\":\"c\",\"x\":\"\(x)\"}",
            "{\"kty\":\"OKP\",\"crv\":\"Ed448\",\"kid\":\"d\",\"x\":\"\(x)\"}",
            "{\"kty\":\"EC\",\"crv\":\"secp256k1\",\"alg\":\"ES256K\",\"kid\":\"e\",\"x\":\"\(x)\",\"y\":\"\(x)\"}",
            "{\"kty\":\"EC\",\"crv\":\"P-521\",\"kid\":\"f\",\"x\":\"\(x)\",\"y\":\"\(x)\"}", "{\"kid\":\"g\"}", "{}", "null",
            "1", "[]",
            "\"RSA\"", "{\"kty\":1}", SigningKey.es384.jwk("h", ["alg": "\"ES256\""]),
            SigningKey.es256.jwk("i", ["alg": "\"HS256\""]),
            SigningKey.rs256.jwk("j", ["alg": "\"RSA-OAEP\""]), SigningKey.es256.jwk("k", ["alg": "null"]),
            SigningKey.es256.jwk("l").replacing("\"kty\"", with: "\"kid\":\"m\",\"kty\""),
        ]
        let document = "{\"keys\":[\(odd.joined(separator: ",")),\(SigningKey.es256.jwk())],\"more\":1}"
        let set = try await set(document)
        #expect(set.keys.map(\.id) == ["k1"] && set.skipped.values.reduce(0, +) == odd.count)
        #expect(try await Samples.reason(Samples.token(), keys: document) == nil)
    }

    @Test("a private key is refused, and with it the public one of the same kid")
    func privateKeys() async throws {
        for member in ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] {
            #expect(try await fault(SigningKey.rs256.jwk("k1", [member: "\"AQAB\""])) == .privateKey)
        }
        #expect(try await fault(SigningKey.es256.jwk("k1", ["d": "null"])) == .privateKey)
        let both = Raw.keySet(
            SigningKey.es256.jwk("k1", ["d": "\"AQAB\""]), SigningKey.es256.jwk("k1"), SigningKey.es384.jwk("k2"))
        #expect(try await set(both).keys.map(\.id) == ["k2"])
    }

    @Test("a key for encryption or other operations verifies nothing")
    func use() async throws {
        #expect(try await fault(SigningKey.es256.jwk("k1", ["use": "\"enc\""])) == .otherUse)
        #expect(try await fault(SigningKey.es256.jwk("k1", ["use": "null"])) == .otherUse)
        #expect(try await fault(SigningKey.es256.jwk("k1", ["use": "\"SIG\""])) == .otherUse)
        #expect(try await fault(SigningKey.es256.jwk("k1", ["use": "\"sig\""])) == nil)
        #expect(try await fault(SigningKey.es256.jwk("k1", ["key_ops": "[\"encrypt\"]"])) == .otherUse)
        #expect(try await fault(SigningKey.es256.jwk("k1", ["key_ops": "\"verify\""])) == .otherUse)
        #expect(try await fault(SigningKey.es256.jwk("k1", ["key_ops": "[\"verify\"]"])) == nil)
    }

    @Test("an RSA key below 2,048 bits, with a small or even exponent or an even modulus is weak")
    func weak() async throws {
        func jwk(bits: Int, last: UInt8 = 0x81, exponent: [UInt8] = [1, 0, 1]) -> String {
            var modulus = [UInt8](repeating: 0xA5, count: bits / 8)
            modulus[modulus.count - 1] = last
            return SigningKey.rs256.jwk(
                "k1", ["n": "\"\(Base64URL.text(of: modulus))\"", "e": "\"\(Base64URL.text(of: exponent))\""])
        }
        #expect(try await fault(jwk(bits: 2_048)) == nil)
        for bits in [8, 512, 1_024, 2_040, 8_200, 16_384] { #expect(try await fault(jwk(bits: bits)) == .weak) }
        #expect(try await fault(jwk(bits: 2_048, last: 0x80)) == .weak)
        for exponent: [UInt8] in [[], [0], [1], [3], [1, 0, 0], [1, 0, 2], [1, 0, 0, 0, 1]] {
            #expect(try await fault(jwk(bits: 2_048, exponent: exponent)) == .weak)
        }
        // Zeros in front do not make a key longer.
        let short = [UInt8](repeating: 0, count: 128) + [UInt8](repeating: 0xA5, count: 128)
        #expect(try await fault(SigningKey.rs256.jwk("k1", ["n": "\"\(Base64URL.text(of: short))\""])) == .weak)
    }

    @Test("a token that a weak RSA key signed is refused")
    func weakSignature() async throws {
        let weak = SigningKey.rs256(try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: 1_024)))
        let keys = Raw.keySet(weak.jwk(), SigningKey.rs256.jwk("k2"))
        let token = Samples.token(header: Samples.header(weak), key: weak)
        #expect(try await Samples.reason(token, keys: keys, ["algorithms": ["RS256"]]) == .unknownKey)
    }

    @Test("of two keys with one kid neither is used, in any order")
    func doubled() async throws {
        for keys in [[SigningKey.es256, .otherES256], [.otherES256, .es256], [.es256, .rs256]] {
            let set = try await set(Raw.keySet(keys[0].jwk(), keys[1].jwk(), SigningKey.es384.jwk("k2")))
            #expect(set.keys.map(\.id) == ["k2"] && set.skipped == [.doubledID: 2])
        }
        let beside = Raw.keySet(SigningKey.rs256.jwk("k1", ["use": "\"enc\""]), SigningKey.es256.jwk())
        #expect(try await set(beside).keys.count == 1)
    }

    @Test("a point that is not on its curve, a short coordinate and loose base64url are no key")
    func malformed() async throws {
        let x = Base64URL.text(of: [UInt8](repeating: 7, count: 32))
        #expect(try await fault(SigningKey.es256.jwk("k1", ["x": "\"\(x)\"", "y": "\"\(x)\""])) == .malformed)
        #expect(try await fault(SigningKey.es256.jwk("k1", ["x": "\"AAAA\""])) == .malformed)
        #expect(try await fault(SigningKey.es256.jwk("k1", ["y": nil])) == .malformed)
        #expect(try await fault(SigningKey.es384.jwk("k1", ["crv": "\"P-256\""])) == .malformed)
        #expect(try await fault(SigningKey.ed25519.jwk("k1", ["x": "\"\(x)=\""])) == .malformed)
        #expect(try await fault(SigningKey.rs256.jwk("k1", ["n": nil])) == .malformed)
        #expect(try await fault(SigningKey.rs256.jwk("k1", ["e": "65537"])) == .malformed)
        #expect(try await fault(SigningKey.es256.jwk("k1", ["kid": "1"])) == .malformed)
        #expect(try await fault(SigningKey.es256.jwk(String(repeating: "k", count: 257))) == .malformed)
    }

    @Test("a key without alg is for the first algorithm of the issuer that fits it")
    func withoutAlgorithm() async throws {
        #expect(try await set(Raw.keySet(SigningKey.rs256.jwk()), [.ps256, .rs256]).keys.map(\.algorithm) == [.ps256])
        #expect(try await set(Raw.keySet(SigningKey.rs256.jwk()), [.es256, .rs256]).keys.map(\.algorithm) == [.rs256])
        #expect(try await fault(SigningKey.rs256.jwk(), [.es256]) == .otherAlgorithm)
        #expect(try await fault(SigningKey.rs256.jwk("k1", ["alg": "\"PS256\""]), [.rs256]) == .otherAlgorithm)
    }

    @Test(
        "a document that is no key set is refused as a whole",
        arguments: ["", "[]", "{}", "{\"keys\":{}}", "{\"keys\":[],\"keys\":[]}", "{\"keys\":[]", "<html>", "{\"keys\":null}"])
    func noKeySet(_ document: String) async {
        await #expect(throws: KeySetFault.self) { try await set(document) }
    }

    @Test("a set has at most a hundred entries")
    func manyEntries() async throws {
        #expect(try await set("{\"keys\":[\(Array(repeating: "{}", count: 100).joined(separator: ","))]}").keys.isEmpty)
        let more = "{\"keys\":[\(Array(repeating: "{}", count: 101).joined(separator: ","))]}"
        await #expect(throws: KeySetFault.self) { try await set(more) }
    }
}
