import ClarionTesting
import Crypto
import Foundation
import Testing

@testable import APNsEmulation

@Suite("Damaged provider tokens")
struct ProviderTokenFuzzTests {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ \u{7F}".utf8)

    /// The possible answers to a damaged token. A damaged key id may still be some known one only if nothing was damaged.
    private static let refusals: Set<String> = ["403 InvalidProviderToken", "403 MissingProviderToken"]

    @Test("a byte changed, dropped, added or doubled anywhere makes it invalid, raw or DER", arguments: [false, true])
    func damaged(der: Bool) throws {
        var random = SeededGenerator()
        var fixture = try EmulatorFixture()
        let good = Array(fixture.signer.authorization(issuedAt: "\(fixture.clock.now.seconds)", der: der).utf8.dropFirst(7))
        for _ in 0..<1_500 {
            var bytes = good
            let position = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[position] = Self.alphabet.randomElement(using: &random) ?? 0
            case 1: bytes.remove(at: position)
            case 2: bytes.insert(Self.alphabet.randomElement(using: &random) ?? 0, at: position)
            default: bytes.replaceSubrange(position..<position, with: bytes[position...].prefix(8))
            }
            let text = String(decoding: bytes, as: UTF8.self)
            let answer = EmulatorFixture.text(fixture.send { $0.authorization = "bearer " + text })
            #expect(bytes == good || Self.refusals.contains(answer), "seed \(random.seed): \(text) got \(answer)")
        }
    }

    @Test("random bytes in three parts are invalid, and nothing falls")
    func noise() throws {
        var random = SeededGenerator()
        var fixture = try EmulatorFixture()
        for _ in 0..<1_500 {
            let parts = (0..<Int.random(in: 0...5, using: &random)).map { _ in
                ProviderSigner.base64URL(
                    Data((0..<Int.random(in: 0...90, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }))
            }
            let answer = EmulatorFixture.text(
                fixture.send { $0.authorization = "bearer " + parts.joined(separator: ".") })
            #expect(Self.refusals.contains(answer), "seed \(random.seed): got \(answer)")
        }
    }

    @Test(
        "claims of another form are invalid",
        arguments: [
            #"{"iat":1}"#, #"{"iss":"TEAM000001"}"#, #"{"iss":1,"iat":1}"#, #"{"iss":null,"iat":1}"#, "[]", "null", "",
            #"{"iss":"TEAM000001","iat":[1]}"#, #"{"iss":"TEAM000001","iat":""}"#, #"{"iss":"TEAM000001","iat":"1.0"}"#,
            #"{"iss":"TEAM000001","iat":99999999999999999999}"#, #"{"iss":"team000001","iat":1800000000}"#,
        ])
    func claims(_ claims: String) throws {
        var fixture = try EmulatorFixture()
        let token = try Self.token(claims: claims, key: fixture.signer.key, keyID: fixture.signer.keyID)
        #expect(EmulatorFixture.text(fixture.send { $0.authorization = token }) == "403 InvalidProviderToken")
    }

    @Test("further fields, typ and white space in the JSON do no harm")
    func tolerated() throws {
        var fixture = try EmulatorFixture()
        let now = fixture.clock.now.seconds
        let header = #"{ "typ" : "JWT", "alg":"ES256" , "kid":"KEY0000001" }"#
        let claims = #"{"aud":"x", "iat" : "\#(now)", "iss":"TEAM000001","exp":1}"#
        let token = try Self.token(header: header, claims: claims, key: fixture.signer.key, keyID: "")
        #expect(EmulatorFixture.text(fixture.send { $0.authorization = token }) == "200")
    }

    @Test("times at the ends of the number range are expired or from the future", arguments: [Int64.min, 0, .max])
    func extremes(issuedAt: Int64) throws {
        var fixture = try EmulatorFixture()
        let token = fixture.signer.authorization(issuedAt: "\(issuedAt)")
        let answer = EmulatorFixture.text(fixture.send { $0.authorization = token })
        #expect(answer == (issuedAt == 0 ? "403 ExpiredProviderToken" : "403 InvalidProviderToken"))
    }

    @Test("how far ahead a token may be minted, and the answer to a later one, are rules")
    func future() throws {
        var fixture = try EmulatorFixture { rules in
            (rules.providerTokenLead, rules.futureTokenReason) = (60, .expiredProviderToken)
        }
        let near = fixture.signer.authorization(issuedAt: "\(fixture.clock.now.seconds + 60)")
        let far = fixture.signer.authorization(issuedAt: "\(fixture.clock.now.seconds + 61)")
        #expect(EmulatorFixture.text(fixture.send { $0.authorization = far }) == "403 ExpiredProviderToken")
        #expect(EmulatorFixture.text(fixture.send { $0.authorization = near }) == "200")
    }

    private static func token(
        header: String? = nil, claims: String, key: P256.Signing.PrivateKey, keyID: String
    ) throws -> String {
        let header = header ?? #"{"alg":"ES256","kid":"\#(keyID)"}"#
        let text = [header, claims].map { ProviderSigner.base64URL(Data($0.utf8)) }.joined(separator: ".")
        return try "bearer \(text)." + ProviderSigner.base64URL(key.signature(for: Data(text.utf8)).rawRepresentation)
    }
}
