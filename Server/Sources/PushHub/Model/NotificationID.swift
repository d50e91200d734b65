import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The hub's name of a send, the tracking id of its telemetry: a random UUID in lower case. A hub elsewhere may have names of
/// another form.
///
/// It is another type than `RichID`: one rich notification is one send, but a hub also carries sends that have no rich content.
public struct NotificationID: Hashable, Sendable, CustomStringConvertible {
    public let text: String

    /// A new random id.
    public init() { text = UUID().uuidString.lowercased() }

    /// Reads an id: a UUID in any case, or as it is another name of 1 to 128 of `A-Z a-z 0-9 - _ . ~`; `nil` for anything else.
    public init?(_ text: String) {
        if let uuid = UUID(uuidString: text) {
            self.text = uuid.uuidString.lowercased()
            return
        }
        guard (1...128).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        self.text = text
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    public var description: String { text }
}
