import ClarionTesting
import RichPushModel
import Testing
import WireText

@testable import TrustedIssuers

@Suite struct TokenFuzzTests {
    private typealias Samples = TokenSamples

    private static let fragments = [
        "none", "HS256", "ES256", "RS256", "alg", "kid", "typ", "crit", "iss", "aud", "sub", "exp", "{", "}", "[", "]", "[]",
        "{}", "\"",
        ":", ",", ".", "..", "=", "-", "_", "\\", "\\u0000", "\\ud800", "null", "true", "1e400", "-0", "99999999999999999999",
        "\u{0}", "é",
        "\u{301}", "\u{FEFF}", " ", "\n", "eyJhbGciOiJub25lIn0", "eyJ", "AAAA", "A",
    ]

    @Test("ten thousand changed, forged and random tokens: none is accepted, none crashes")
    func fuzz() async throws {
        var generator = SeededGenerator()
        print("seed \(generator.seed)")
        let keys = Raw.keySet(SigningKey.es256.jwk(), SigningKey.rs256.jwk("k2"), SigningKey.ed25519.jwk("k3"))
        let issuer = try await Samples.issuer(keys: keys, ["algorithms": ["ES256", "RS256", "PS256", "EdDSA"]])
        let verifier = await Samples.verifier(issuer)
        let tokens = [Samples.token(), Samples.token(header: Samples.header(.rs256, ["kid": "\"k2\""]), key: .rs256)]
        for token in tokens { #expect(await Samples.reason(token, by: verifier) == nil) }
        var reasons: [TokenError.Reason: Int] = [:]
        for number in 0..<10_000 {
            let token =
                switch number % 4 {
                case 0: Self.change(tokens[number / 4 % 2], using: &generator)
                case 1: Self.forged(using: &generator)
                case 2: Self.unsigned(using: &generator)
                default: Self.random(using: &generator)
                }
            guard let reason = await Samples.reason(token, by: verifier) else {
                // A change may have put back what was there.
                #expect(tokens.contains(token), "seed \(generator.seed): \(token)")
                continue
            }
            reasons[reason, default: 0] += 1
        }
        // The tokens came further than to the first check.
        #expect(reasons.count >= 6 && reasons[.signature, default: 0] > 500, "seed \(generator.seed): \(reasons)")
    }

    @Test("two thousand validly signed tokens with changed claims: none crashes, and an accepted one has sound claims")
    func signed() async throws {
        var generator = SeededGenerator()
        print("seed \(generator.seed)")
        let settings = ["tags-claim": ["/groups"], "role-claim": ["/roles"], "role-values": ["s=sender"]]
        let verifier = await Samples.verifier(try await Samples.issuer(settings))
        var accepted = 0
        for _ in 0..<2_000 {
            let claims = Self.change(Samples.claims(["groups": "[\"a\"]", "roles": "[\"s\"]"]), using: &generator)
            guard let identity = try? await verifier.verify(Samples.token(claims: claims)) else { continue }
            accepted += 1
            #expect(identity.issuer == Samples.issuer && !identity.subject.isEmpty, "seed \(generator.seed): \(claims)")
            #expect(identity.expiresAt <= identity.issuedAt + .seconds(86_400), "seed \(generator.seed): \(claims)")
        }
        #expect((1..<1_000).contains(accepted), "seed \(generator.seed)")
    }

    @Test("two thousand changed key sets: none crashes, and none makes a forged token valid")
    func keySets() async throws {
        var generator = SeededGenerator()
        print("seed \(generator.seed)")
        let document = Raw.keySet(
            SigningKey.es256.jwk(), SigningKey.rs256.jwk("k2", ["alg": "\"RS256\""]), SigningKey.ed25519.jwk("k3"))
        let bytes = Array(Samples.token(key: .otherES256).utf8)
        var tried = 0
        for _ in 0..<2_000 {
            let changed = Self.change(document, using: &generator)
            guard let set = try? await KeySet(document: Array(changed.utf8), algorithms: [.es256, .rs256, .edDSA]) else {
                continue
            }
            for key in set.keys {
                tried += 1
                #expect(
                    !key.verifies(SigningKey.otherES256.signature(over: bytes), over: bytes[...]),
                    "seed \(generator.seed): \(changed)")
            }
        }
        #expect(tried > 100, "seed \(generator.seed)")
    }

    /// Replaces, removes, doubles or adds something in one to three places.
    private static func change(_ text: String, using generator: inout SeededGenerator) -> String {
        var scalars = Array(text.unicodeScalars)
        for _ in 0..<Int.random(in: 1...3, using: &generator) where !scalars.isEmpty {
            let index = Int.random(in: scalars.indices, using: &generator)
            let fragment = Array((fragments.randomElement(using: &generator) ?? "x").unicodeScalars)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: scalars.remove(at: index)
            case 1: scalars.insert(contentsOf: fragment, at: index)
            case 2: scalars[index] = fragment[0]
            case 3: scalars.swapAt(index, Int.random(in: scalars.indices, using: &generator))
            default: scalars.removeSubrange(index..<min(scalars.count, index + Int.random(in: 1...20, using: &generator)))
            }
        }
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    /// A sound token that the wrong key signed, with some odd member in its header.
    private static func forged(using generator: inout SeededGenerator) -> String {
        let key = [SigningKey.otherES256, .es384].randomElement(using: &generator) ?? .es384
        let word = JSONText.string(fragments.randomElement(using: &generator) ?? "")
        let name = ["alg", "kid", "typ", "jku", "x5u", "x"].randomElement(using: &generator) ?? "x"
        let id = ["\"k1\"", "\"k2\"", "\"k3\"", nil].randomElement(using: &generator) ?? nil
        var changes: [String: String?] = ["kid": id]
        if Bool.random(using: &generator) { changes[name] = .some(word) }
        return Samples.token(header: Samples.header(.es256, changes), key: key)
    }

    /// A header and claims that were changed, and a signature of any length.
    private static func unsigned(using generator: inout SeededGenerator) -> String {
        let name = ["ES256", "RS256", "PS256", "EdDSA"].randomElement(using: &generator) ?? "ES256"
        let header = Samples.header(.es256, ["alg": "\"\(name)\"", "kid": "\"k\(Int.random(in: 1...4, using: &generator))\""])
        let claims = change(Samples.claims(), using: &generator)
        let length = [1, 32, 64, 96, 256].randomElement(using: &generator) ?? 64
        let signature = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return "\(Samples.text(header)).\(Samples.text(claims)).\(Base64URL.text(of: signature))"
    }

    private static func random(using generator: inout SeededGenerator) -> String {
        (0..<Int.random(in: 0...12, using: &generator)).map { _ in
            let fragment = fragments.randomElement(using: &generator) ?? ""
            return Bool.random(using: &generator) ? fragment : Samples.text(fragment)
        }.joined(separator: Bool.random(using: &generator) ? "." : "")
    }
}
