import Crypto
import RichPushModel
import WireText

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
