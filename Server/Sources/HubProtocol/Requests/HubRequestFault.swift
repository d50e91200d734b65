import WireText

/// Why a request of the hub protocol cannot be read: which part of it, and what is wrong there.
///
/// It repeats names that the caller gave (shortened), never a device handle, a body or a value.
public struct HubRequestFault: Error, Hashable, Sendable {
    /// What kind of mistake it is, for the choice of a status.
    public enum Kind: Hashable, Sendable {
        /// Not the syntax it should have, or a value that the protocol does not allow: 400.
        case malformed
        /// Larger than a limit of bytes: 413 (Reference/AzureNotificationHubs.md#6-1).
        case tooLarge
    }

    public let kind: Kind
    /// The part of the request, such as `templates.short.body`, a header's name, or `operation 3, /templates/x`.
    public let place: String
    /// What is wrong, as the end of a sentence.
    public let reason: String

    /// Creates a fault.
    public init(_ kind: Kind = .malformed, at place: String, _ reason: String) {
        self.kind = kind
        self.place = place
        self.reason = reason
    }

    /// The same fault, seen from further outside.
    func within(_ outer: String, separator: String = ".") -> HubRequestFault {
        HubRequestFault(kind, at: place.isEmpty ? outer : outer + separator + place, reason)
    }

    /// A name that a caller gave, fit for a sentence: at most 40 visible characters.
    static func shown(_ name: String) -> String {
        let visible = name.unicodeScalars.prefix(40).map { scalar -> Character in
            scalar.isASCII ? ((0x20...0x7E).contains(scalar.value) ? Character(scalar) : "?") : Character(scalar)
        }
        return String(visible) + (name.unicodeScalars.count > 40 ? "…" : "")
    }
}

extension HubRequestFault: CustomStringConvertible {
    /// A sentence for the caller: the place and the reason.
    public var description: String { place.isEmpty ? reason : "\(place): \(reason)" }
}
