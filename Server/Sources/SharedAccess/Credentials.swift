import Crypto
import RichPushModel
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// User name and password of an `Authorization: Basic` header (RFC 7617), read as UTF-8. Never printed.
public struct BasicCredential: Sendable, Equatable {
    /// The most bytes of a header value.
    public static let maximumHeaderLength = 4096
    /// The most bytes of a password.
    public static let maximumPasswordLength = 1024

    public let user: String
    public let password: String

    /// Reads the value of the header; `nil` when it is another scheme, too long, not base64, not UTF-8, without a colon, with
    /// an empty name, or holds control characters (RFC 7617 section 2 forbids them).
    public init?(header: String) {
        guard header.utf8.count <= Self.maximumHeaderLength, let blank = header.firstIndex(of: " "),
            header[..<blank].lowercased() == "basic"
        else { return nil }
        let encoded = header[blank...].drop { $0 == " " }
        guard let data = Data(base64Encoded: Self.padded(encoded)), let text = String(validating: data, as: UTF8.self),
            let colon = text.unicodeScalars.firstIndex(of: ":")
        else { return nil }
        let user = String(text.unicodeScalars[..<colon])
        let password = String(text.unicodeScalars[text.unicodeScalars.index(after: colon)...])
        guard !user.isEmpty, password.utf8.count <= Self.maximumPasswordLength, !Self.hasControls(text) else { return nil }
        self.user = user
        self.password = password
    }

    private static func padded(_ text: Substring) -> String {
        text.hasSuffix("=") ? String(text) : text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }

    private static func hasControls(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    }
}

extension BasicCredential: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { "basic credential (not shown)" }
    public var debugDescription: String { description }
}

/// The narrow credential of one installation: 256 random bits. The server keeps its SHA-256 only; the text form,
/// `installation-id.secret`, is shown once and never printed.
public struct InstallationCredential: Sendable {
    private static let secretLength = 32

    public let installation: InstallationID
    private let secret: [UInt8]

    /// A new random credential.
    public init(for installation: InstallationID) {
        self.installation = installation
        secret = RandomBytes.make(Self.secretLength)
    }

    /// Reads the text form; `nil` when it is malformed.
    public init?(text: String) {
        guard text.utf8.count <= 256, let dot = text.lastIndex(of: "."), let installation = InstallationID(String(text[..<dot])),
            let secret = Base64URL.bytes(of: text[text.index(after: dot)...]), secret.count == Self.secretLength
        else { return nil }
        self.installation = installation
        self.secret = secret
    }

    /// What the phone gets and sends back. For the one answer only; never log it.
    public var text: String { "\(installation.text).\(Base64URL.text(of: secret))" }

    /// What the server stores: a hash suffices, because 256 random bits cannot be guessed.
    public var digest: [UInt8] { Array(SHA256.hash(data: Array(installation.text.utf8) + [0] + secret)) }

    /// Whether this is the credential whose digest was stored. Constant time.
    public func matches(digest stored: [UInt8]) -> Bool { ConstantTime.equal(digest, stored) }
}

extension InstallationCredential: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { "installation credential (not shown)" }
    public var debugDescription: String { description }
}

/// A digest under a key that only this process knows: a cache may hold it without holding anything that a password could
/// be guessed from after a memory dump of another moment.
public struct KeyedDigest: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    private let key = SymmetricKey(size: .bits256)

    /// Creates a digest function with a fresh key.
    public init() {}

    /// The digest of the parts; their lengths are part of it, so that no two lists of parts meet.
    public func digest(of parts: [String]) -> [UInt8] {
        var code = HMAC<SHA256>(key: key)
        for part in parts {
            let bytes = Array(part.utf8)
            withUnsafeBytes(of: UInt64(bytes.count).bigEndian) { code.update(data: Array($0)) }
            code.update(data: bytes)
        }
        return Array(code.finalize())
    }

    public var description: String { "keyed digest (key not shown)" }
    public var debugDescription: String { description }
}

/// Comparison of secrets.
enum ConstantTime {
    /// Whether two byte sequences are equal, in a time that depends on their lengths only.
    static func equal(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for (a, b) in zip(left, right) { difference |= a ^ b }
        return difference == 0
    }
}

/// Bytes from the system's generator.
enum RandomBytes {
    /// `count` random bytes.
    static func make(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}
