import Crypto

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The secret that a person's authenticator app shares with the server: six digits that change every thirty seconds
/// (https://www.rfc-editor.org/rfc/rfc6238). Never printed.
public struct TimeCodeSecret: Sendable {
    /// How long a code is shown.
    public static let stepSeconds: Int64 = 30
    private static let digits = 6
    private let key: SymmetricKey

    /// Takes a key as it is.
    init(key: SymmetricKey) { self.key = key }

    /// The number of the step that a moment, in seconds since 1970, lies in.
    public static func step(atSeconds seconds: Int64) -> Int64 { seconds / stepSeconds }

    /// The code of a step.
    func code(of step: Int64) -> String {
        let counter = withUnsafeBytes(of: step.bigEndian) { Array($0) }
        let hash = Array(HMAC<Insecure.SHA1>.authenticationCode(for: counter, using: key))
        let offset = Int(hash[hash.count - 1] & 0xF)
        let number = hash[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let text = String(number % 1_000_000)
        return String(repeating: "0", count: Self.digits - text.count) + text
    }

    /// The step whose code this is, at a moment or one step before or after it, as a clock that is a little off shows it; `nil` for any
    /// other code. Takes the same time for each.
    public func step(of code: String, atSeconds seconds: Int64) -> Int64? {
        let now = Self.step(atSeconds: seconds)
        var found: Int64?
        for step in now - 1...now + 1 where ConstantTime.equal(code.utf8, self.code(of: step).utf8) {
            found = step
        }
        return found
    }

    /// The form in which a person types it into the app.
    public var text: String { key.withUnsafeBytes { Base32.text(of: $0) } }

    /// The form that an app opens (https://github.com/google/google-authenticator/wiki/Key-Uri-Format).
    ///
    /// - Parameter account: who signs in with it; made of letters, digits and `_@.-`.
    public func address(account: String) -> String {
        "otpauth://totp/Clarion:\(account.replacing("@", with: "%40"))?secret=\(text)&issuer=Clarion"
    }
}

extension TimeCodeSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "time code secret (not shown)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Derives the secrets of time codes from the master key, so that the database holds none.
public struct TimeCodeSecrets: Sendable {
    private let key: SymmetricKey

    /// For all nodes that share a master key.
    public init(_ master: MasterKey) { key = master.derivedKey(for: "time codes") }

    /// The secret of 20 bytes that belongs to a salt; a new salt makes a new secret.
    public func secret(salt: [UInt8]) -> TimeCodeSecret {
        TimeCodeSecret(
            key: HKDF<SHA256>.deriveKey(
                inputKeyMaterial: key, salt: salt, info: Array("clarion time code".utf8), outputByteCount: 20))
    }

    /// A salt of 16 random bytes.
    public static func randomSalt() -> [UInt8] { RandomBytes.make(16) }
}

extension TimeCodeSecrets: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "time code secrets (not shown)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A code that signs in once in place of a time code, for a person who has lost the phone.
public enum RecoveryCode {
    /// How many a person gets.
    public static let count = 10

    /// A code of 80 random bits, such as `ABCD-EFGH-IJKL-MNOP`.
    public static func random() -> String {
        let text = RandomBytes.make(10).withUnsafeBytes { Base32.text(of: $0) }
        return stride(from: 0, to: 16, by: 4).map { String(text.dropFirst($0).prefix(4)) }.joined(separator: "-")
    }

    /// The digest that is stored; `nil` for what is no such code. Blanks, hyphens and the case do not matter.
    public static func digest(of text: String) -> [UInt8]? {
        let letters = text.uppercased().filter { $0 != "-" && $0 != " " }
        guard letters.utf8.count == 16, letters.utf8.allSatisfy(Base32.alphabet.contains) else { return nil }
        return Array(SHA256.hash(data: Array("clarion recovery code\n\(letters)".utf8)))
    }
}

/// Base32 without padding (https://www.rfc-editor.org/rfc/rfc4648#section-6).
private enum Base32 {
    static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    static func text(of bytes: UnsafeRawBufferPointer) -> String {
        var (buffer, bits, text) = (UInt64(0), 0, [UInt8]())
        for byte in bytes {
            (buffer, bits) = (buffer << 8 | UInt64(byte), bits + 8)
            while bits >= 5 {
                bits -= 5
                text.append(alphabet[Int(buffer >> UInt64(bits) & 31)])
            }
        }
        if bits > 0 { text.append(alphabet[Int(buffer << UInt64(5 - bits) & 31)]) }
        return String(decoding: text, as: UTF8.self)
    }
}
