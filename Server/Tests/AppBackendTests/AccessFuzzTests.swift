import AppBackend
import ClarionTesting
import RichPushModel
import ServiceErrors
import SharedAccess
import Testing
import WireText

/// Changes credentials at random, in every form that a request can carry.
@Suite("Random changes of credentials")
struct AccessFuzzTests {
    private static let count = 10_000

    /// Expects that each credential but the valid ones is refused as one: neither taken, nor an error of the server.
    private func expectRefusals(
        of credentials: [String], but valid: [String], for operation: BackendOperation, by backend: RichPushBackend, seed: UInt64
    ) async {
        var tried = 0
        for credential in credentials where !valid.contains(credential) {
            tried += 1
            let refused = await code {
                _ = try await backend.authenticate(.bearer(credential), from: TestBackend.source, for: operation)
            }
            if refused != .unauthenticated {
                Issue.record("seed \(seed): \(refused.map(\.rawValue) ?? "taken"): \(credential)")
            }
        }
        #expect(tried > Self.count * 9 / 10, "seed \(seed)")
    }

    @Test("ten thousand changed tokens of an issuer: none signs in, and each is refused as a credential")
    func tokens() async throws {
        var generator = SeededGenerator()
        print("seed \(generator.seed)")
        let issuer = try await IssuerAtWork(["create-users": ["true"], "tags-claim": ["/groups"]])
        let valid = [try issuer.token("ann", #","groups":["gold"]"#), try issuer.token("bob")]
        for token in valid { _ = try await issuer.principal(token) }
        let changed = (0..<Self.count).map { _ in CredentialChange.token(valid, using: &generator) }
        await expectRefusals(of: changed, but: valid, for: .putInstallation, by: issuer.backend, seed: generator.seed)
        #expect(try await issuer.test.rows(of: "users") == 2)
        #expect(try await issuer.refusals().count < 100)
    }

    @Test("ten thousand changed keys and one-time tokens: none is taken, and each is refused as a credential")
    func secrets() async throws {
        var generator = SeededGenerator()
        print("seed \(generator.seed)")
        let issuer = try await IssuerAtWork()
        var valid: [String] = []
        for number in 0..<3 {
            let request = ServiceKeyRequest(name: "key-\(number)", scopes: ["admin"])
            valid.append(try #require(try await issuer.backend.createKey(request).key))
            valid.append(try await issuer.oneTime("ann"))
        }
        for secret in valid { _ = try await issuer.principal(secret) }
        let changed = (0..<Self.count).map { _ in CredentialChange.secret(valid, using: &generator) }
        await expectRefusals(of: changed, but: valid, for: .putInstallation, by: issuer.backend, seed: generator.seed)
        #expect(try await issuer.test.rows(of: "users WHERE name = 'ann'") == 1)
    }

    @Test("ten thousand changed installation credentials: none is taken, and each is refused as a credential")
    func credentials() async throws {
        var generator = SeededGenerator()
        print("seed \(generator.seed)")
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let valid = [
            try await test.install(ann, "phone", handle: 1).credential,
            try await test.install(ann, "tablet", handle: 2).credential,
        ]
        let changed = (0..<Self.count).map { _ in
            CredentialChange.text(valid.randomElement(using: &generator) ?? "", using: &generator)
        }
        await expectRefusals(of: changed, but: valid, for: .readInbox, by: test.backend, seed: generator.seed)
    }
}

private enum CredentialChange {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let headers = [
        #"{"alg":"none"}"#, #"{"alg":"None","kid":"k1"}"#, #"{"alg":"HS256","kid":"k1"}"#, #"{"alg":"ES384","kid":"k1"}"#,
        #"{"alg":"ES256","kid":"k2"}"#, #"{"alg":"ES256"}"#, #"{"alg":"ES256","kid":"k1","crit":["exp"]}"#,
        #"{"alg":"ES256","kid":"k1","jku":"https://id.example.test/keys"}"#, #"{"alg":"ES256","kid":"../k1"}"#,
        #"{"alg":"ES256","kid":"k1","kid":"k1"}"#, #"{"alg":"ES256","kid":"k1","zip":"DEF"}"#, "[]", "", "null",
    ]

    /// Replaces, removes, adds or swaps characters in one to three places.
    static func text(_ text: String, using generator: inout SeededGenerator) -> String {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
            let index = Int.random(in: bytes.indices, using: &generator)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: bytes.remove(at: index)
            case 1: bytes.insert(UInt8.random(in: 0x21..<0x7F, using: &generator), at: index)
            case 2: bytes[index] = digits.randomElement(using: &generator) ?? 0x41
            case 3: bytes.swapAt(index, Int.random(in: bytes.indices, using: &generator))
            case 4: bytes.removeSubrange(index..<min(bytes.count, index + Int.random(in: 1...20, using: &generator)))
            default: bytes[index] = (0x41...0x7A).contains(bytes[index]) ? bytes[index] ^ 0x20 : 0x2E
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Changes the text of a token, the JSON in it or its signature, or puts parts together that were never signed together.
    static func token(_ valid: [String], using generator: inout SeededGenerator) -> String {
        func part(_ index: Int, _ generator: inout SeededGenerator) -> String {
            let token = valid.randomElement(using: &generator) ?? ""
            return String(token.split(separator: ".")[index])
        }
        let token = valid.randomElement(using: &generator) ?? ""
        var parts = token.split(separator: ".").map(String.init)
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: return text(token, using: &generator)
        case 1:
            let index = Int.random(in: 0...1, using: &generator)
            let json = String(decoding: Base64URL.bytes(of: parts[index]) ?? [], as: UTF8.self)
            parts[index] = Base64URL.text(of: Array(text(json, using: &generator).utf8))
        case 2:
            var signature = Base64URL.bytes(of: parts[2]) ?? []
            let index = Int.random(in: signature.indices, using: &generator)
            signature[index] ^= 1 << UInt8.random(in: 0...7, using: &generator)
            parts[2] = Base64URL.text(of: signature)
        case 3:
            let header = headers.randomElement(using: &generator) ?? ""
            parts[0] = Base64URL.text(of: Array(header.utf8))
            if Bool.random(using: &generator) { parts[2] = "" }
        default:
            parts = [part(0, &generator), part(1, &generator), text(part(2, &generator), using: &generator)]
        }
        return parts.joined(separator: ".")
    }

    /// Changes a secret, gives it the prefix of the other kind, or makes another with a right checksum.
    static func secret(_ valid: [String], using generator: inout SeededGenerator) -> String {
        let secret = valid.randomElement(using: &generator) ?? ""
        let kind = PrefixedSecret.Kind.allCases.randomElement(using: &generator) ?? .serviceKey
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return PrefixedSecret(kind).text
        case 1: return text(kind.rawValue + secret.dropFirst(kind.rawValue.count), using: &generator)
        default: return text(secret, using: &generator)
        }
    }
}
