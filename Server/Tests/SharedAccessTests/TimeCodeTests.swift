import Crypto
import Foundation
import Testing

@testable import SharedAccess

@Suite("Codes of authenticator apps")
struct TimeCodeTests {
    /// The key of the test vectors of RFC 6238, appendix B.
    private static let secret = TimeCodeSecret(key: SymmetricKey(data: Array("12345678901234567890".utf8)))

    @Test(
        "the codes are those of RFC 6238",
        arguments: [
            (59, "287082"), (1_111_111_109, "081804"), (1_111_111_111, "050471"), (1_234_567_890, "005924"),
            (2_000_000_000, "279037"), (20_000_000_000, "353130"),
        ] as [(Int64, String)])
    func vectors(_ seconds: Int64, _ code: String) {
        #expect(Self.secret.step(of: code, atSeconds: seconds) == seconds / 30)
    }

    @Test("a code holds one step before and after its own, and no longer")
    func window() {
        let (code, moment) = ("081804", Int64(1_111_111_109))
        let step = TimeCodeSecret.step(atSeconds: moment)
        for (shift, holds) in [(-60, false), (-30, true), (0, true), (30, true), (60, false)] as [(Int64, Bool)] {
            #expect((Self.secret.step(of: code, atSeconds: moment + shift) == step) == holds, "\(shift)")
        }
        for other in ["", "81804", "0818044", "081805", "०८१८०४"] {
            #expect(Self.secret.step(of: other, atSeconds: moment) == nil)
        }
    }

    @Test("only the codes of the three steps are taken")
    func others() {
        let moment = Int64(1_111_111_109)
        let now = TimeCodeSecret.step(atSeconds: moment)
        let right = Set((now - 1...now + 1).map(Self.secret.code(of:)))
        let near = right.flatMap { code in
            (0..<6).flatMap { place in
                (0...9).map { digit in String(code.prefix(place)) + "\(digit)" + String(code.dropFirst(place + 1)) }
            }
        }
        let spread = stride(from: 0, to: 1_000_000, by: 97).map { String(String($0 + 1_000_000).dropFirst()) }
        let taken = (near + spread).filter { Self.secret.step(of: $0, atSeconds: moment) != nil }
        #expect(Set(taken) == right)
    }

    @Test("an app gets the secret as Base32, and in the address that it opens")
    func forms() {
        #expect(Self.secret.text == "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")
        #expect(
            Self.secret.address(account: "ann@example.org")
                == "otpauth://totp/Clarion:ann%40example.org?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Clarion")
    }

    @Test("each salt has a secret of its own, which another master key does not have, and which is never printed")
    func derived() {
        let (master, salt) = (MasterKey.random(), TimeCodeSecrets.randomSalt())
        let secrets = TimeCodeSecrets(master)
        #expect(secrets.secret(salt: salt).text == TimeCodeSecrets(master).secret(salt: salt).text)
        #expect(secrets.secret(salt: salt).text != secrets.secret(salt: TimeCodeSecrets.randomSalt()).text)
        #expect(secrets.secret(salt: salt).text != TimeCodeSecrets(.random()).secret(salt: salt).text)
        let secret = secrets.secret(salt: salt)
        #expect(secret.text.count == 32)
        #expect(!"\(secret) \(String(reflecting: secret))".contains(secret.text))
    }

    @Test("a recovery code is known again however it is typed, and unlike any other")
    func recovery() throws {
        let codes = Set((0..<100).map { _ in RecoveryCode.random() })
        #expect(codes.count == 100)
        let code = try #require(codes.first)
        #expect(code.count == 19)
        let digest = try #require(RecoveryCode.digest(of: code))
        #expect(RecoveryCode.digest(of: code.lowercased().replacing("-", with: " ")) == digest)
        #expect(Set(codes.compactMap(RecoveryCode.digest)).count == 100)
        for other in ["", "123456", String(code.dropLast()), code + "A", "0000-0000-0000-0000"] {
            #expect(RecoveryCode.digest(of: other) == nil, "\(other)")
        }
    }
}
