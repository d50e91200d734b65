import Crypto
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A named pair of keys with rights, of one hub or of all hubs. Both keys sign, so that one can be exchanged while the other works.
public struct AccessRule: Sendable, Hashable {
    /// The most characters of a rule's name (Reference/AzureNotificationHubs.md#1-1).
    public static let maximumNameLength = 256

    /// The name of the default rule for apps: right Listen.
    public static let listenName = "DefaultListenSharedAccessSignature"
    /// The name of the default rule for backends: all rights.
    public static let fullName = "DefaultFullSharedAccessSignature"

    /// The name that tokens and connection strings carry.
    public var name: String
    public var rights: Set<AccessRight>
    public var primary: SharedAccessKey
    public var secondary: SharedAccessKey

    /// Creates a rule, with new random keys unless some are given.
    public init(
        name: String, rights: Set<AccessRight>, primary: SharedAccessKey = .random(), secondary: SharedAccessKey = .random()
    ) {
        self.name = name
        self.rights = rights
        self.primary = primary
        self.secondary = secondary
    }

    /// The two rules that every hub starts with, with new keys (Reference/AzureNotificationHubs.md#1-1).
    public static func defaults() -> [AccessRule] {
        [AccessRule(name: listenName, rights: [.listen]), AccessRule(name: fullName, rights: Set(AccessRight.allCases))]
    }

    /// Whether a text can be the name of a rule: 1 to 256 of `[A-Za-z0-9._-]`, which every client carries unchanged.
    public static func isName(_ text: String) -> Bool {
        (1...maximumNameLength).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "._-".utf8.contains($0) }
    }
}

extension AccessRule: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "access rule \(name) (\(rights.text), keys not shown)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["name": name, "rights": rights.text]) }
}

/// What a key of a hub allows. No right implies another; a full rule lists all three (Reference/AzureNotificationHubs.md#1-5).
public enum AccessRight: String, Sendable, Hashable, CaseIterable, Codable {
    /// Manage registrations and installations one by one.
    case listen = "Listen"
    /// Send, schedule and cancel.
    case send = "Send"
    /// Manage hubs, list registrations, run jobs.
    case manage = "Manage"
}

extension Set<AccessRight> {
    /// The rights as words in the order of `AccessRight.allCases`, separated by commas: for storage and tables.
    public var text: String { AccessRight.allCases.filter(contains).map(\.rawValue).joined(separator: ",") }

    /// Reads what `text` gave, ignoring case; `nil` for an unknown word.
    public init?(text: String) {
        var rights: Set<AccessRight> = []
        for word in text.split(separator: ",") {
            let found = AccessRight.allCases.first { $0.rawValue.lowercased() == word.lowercased() }
            guard let found else { return nil }
            rights.insert(found)
        }
        self = rights
    }
}

/// What a verified token allows.
public struct AccessGrant: Sendable, Hashable {
    /// The name of the rule whose key signed.
    public let rule: String
    public let rights: Set<AccessRight>
    /// Whether the signature was made with the rule's secondary key.
    public var usedSecondaryKey = false

    /// Whether one of the rights is granted: operations on registrations take Listen or Manage, for example
    /// (Reference/AzureNotificationHubs.md#1-5).
    public func allows(anyOf needed: Set<AccessRight>) -> Bool { !rights.isDisjoint(with: needed) }
}

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
