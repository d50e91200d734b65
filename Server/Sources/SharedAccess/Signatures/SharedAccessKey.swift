import Crypto

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A key text of an access rule. It signs as text, not as the bytes its Base64 look stands for
/// (Reference/AzureNotificationHubs.md#1-1). Never printed.
public struct SharedAccessKey: Sendable, Hashable {
    /// The most characters of a key text that clients take (Reference/AzureNotificationHubs.md#1-1).
    public static let maximumLength = 256

    /// The key itself. For the one answer that hands it out, and for sealed storage; never log it.
    public let text: String

    /// Takes a key text; `nil` when it is empty, too long, or holds what a connection string cannot carry.
    public init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= Self.maximumLength,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ";") })
        else { return nil }
        self.text = text
    }

    private init(random bytes: [UInt8]) { text = Data(bytes).base64EncodedString() }

    /// A new key: 32 random bytes, whose Base64 has 44 characters and exactly one `=` at its end, as one of the clients needs.
    public static func random() -> SharedAccessKey { SharedAccessKey(random: RandomBytes.make(32)) }

    /// The HMAC-SHA256 over an encoded audience and an expiry, as written (Reference/AzureNotificationHubs.md#1-2).
    func signature(audience: some StringProtocol, expiry: some StringProtocol) -> [UInt8] {
        var code = HMAC<SHA256>(key: SymmetricKey(data: Array(text.utf8)))
        code.update(data: Array(audience.utf8))
        code.update(data: [0x0A])
        code.update(data: Array(expiry.utf8))
        return Array(code.finalize())
    }
}

extension SharedAccessKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "shared access key (not shown)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
