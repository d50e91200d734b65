import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The hub's name of a send, the tracking id of its telemetry: a random UUID in lower case.
///
/// It is another type than `RichID`: one rich notification is one send, but a hub also carries sends that have no rich content.
public struct NotificationID: Hashable, Sendable, CustomStringConvertible {
    public let text: String

    /// A new random id.
    public init() { text = UUID().uuidString.lowercased() }

    /// Reads an id; `nil` when it is not a UUID.
    public init?(_ text: String) {
        guard let uuid = UUID(uuidString: text) else { return nil }
        self.text = uuid.uuidString.lowercased()
    }

    public var description: String { text }
}
