import WireText

/// The headers of a request in their order. Names compare without regard to case.
public struct HeaderList: Hashable, Sendable, ExpressibleByArrayLiteral {
    public var fields: [HeaderField]

    public init(_ fields: [HeaderField] = []) { self.fields = fields }

    public init(arrayLiteral fields: HeaderField...) { self.fields = fields }

    /// The first value under the name, without blanks at its ends; `nil` when there is none.
    public subscript(name: String) -> String? {
        fields.first { Self.isSame($0.name, name) }.map { $0.value.trimmingBlanks }
    }

    /// Whether two names are the same header.
    static func isSame(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count && left.lowercased() == right.lowercased()
    }
}

/// A name with its value as they stand on the wire: of a header, of a parameter in a query, or of a property.
public struct HeaderField: Hashable, Sendable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// The condition of a conditional write, in any of the five shapes that clients send: `*`, `"*"`, `"3"`, `W/"3"`, `3`
/// (Reference/AzureNotificationHubs.md#0-16).
public enum IfMatch: Hashable, Sendable {
    /// It must exist, in any version.
    case any
    /// It must have this ETag, written without quotes.
    case etag(String)

    /// Reads the header; `nil` when there is none, which means: no condition. A value without meaning never matches.
    public init?(header: String?) {
        guard let header else { return nil }
        var text = header.trimmingBlanks[...]
        if text.hasPrefix("W/") || text.hasPrefix("w/") { text = text.dropFirst(2) }
        if text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") { text = text.dropFirst().dropLast() }
        self = text == "*" ? .any : .etag(String(text))
    }

    /// The version that is expected; `nil` for `any` and for a text that is no version, which never matches.
    public var version: Int64? {
        guard case .etag(let text) = self, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }

    /// Whether a stored version satisfies the condition.
    public func matches(_ stored: Int64) -> Bool { self == .any || version == stored }

    /// The header as this product's client sends it: `*` or the tag in quotes.
    public var header: String {
        switch self {
        case .any: "*"
        case .etag(let text): "\"\(text)\""
        }
    }

    /// The `ETag` header of an answer, `W/"3"`.
    public static func header(of version: Int64) -> String { "W/\"\(version)\"" }
}

/// The limits of the hub protocol (Reference/AzureNotificationHubs.md#6-1) and the bounds that this product adds, so that no
/// request grows without end. Sizes are bytes.
public struct HubLimits: Hashable, Sendable {
    /// The largest body of a send; above it 413.
    public var notificationBytes = 64 * 1024
    /// The largest number of handles in one direct batch.
    public var batchHandles = 1000
    /// The largest body of a direct batch: the notification, the handles, and room for the parts' headers.
    public var batchBytes: Int { notificationBytes + batchHandles * (handleBytes + 4) + 8 * 1024 }
    /// The longest device token or push channel; for web and Windows channels it is a URL.
    public var handleBytes = 4096
    /// The largest number of tags of a registration or an installation.
    public var tags = 60
    /// The largest number of templates of an installation or of one of its tiles.
    public var templates = 100
    /// The longest name of a template, in characters.
    public var templateNameLength = 200
    /// The longest body of a template.
    public var templateBytes = 16 * 1024
    /// The largest number of headers of a template.
    public var templateHeaders = 32
    /// The largest number of push variables of an installation.
    public var pushVariables = 100
    /// The longest name of a property in templates and of a push variable, in characters.
    public var propertyNameLength = 120
    /// The longest value of a header, a push variable or an expiry expression.
    public var valueBytes = 4096
    /// The largest number of secondary tiles of an installation.
    public var secondaryTiles = 50
    /// The longest installation id, registration id or user id.
    public var identifierBytes = 256
    /// The largest body of an installation or of a patch.
    public var installationBytes = 256 * 1024
    /// The largest number of operations in one patch.
    public var patchOperations = 200
    /// The largest page of a list.
    public var pageSize = 100

    /// The documented limits.
    public init() {}
}

/// Why a request of the hub protocol cannot be read: which part of it, and what is wrong there.
///
/// It quotes names that the caller gave (shortened), never a device token, a body or a value.
public struct HubRequestFault: Error, Hashable, Sendable, CustomStringConvertible {
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

    /// A sentence for the caller: the place and the reason.
    public var description: String { place.isEmpty ? reason : "\(place): \(reason)" }
}
