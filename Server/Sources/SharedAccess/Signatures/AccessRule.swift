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
        (1...maximumNameLength).contains(text.utf8.count) && text.utf8.allSatisfy(isNameByte)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

extension AccessRule: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "access rule \(name) (\(rights.words), keys not shown)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["name": name, "rights": rights.words]) }
}
