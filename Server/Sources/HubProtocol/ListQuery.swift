import RichPushModel
import WireText

/// The query of a request: names without regard to case, values decoded once as form data (`+` is a blank).
///
/// Both names and values may be percent-encoded (`%24top`), and a name may stand without a value (`&direct`)
/// (Reference/AzureNotificationHubs.md#0-10, #0-11 and #2-5).
public struct HubQuery: Hashable, Sendable {
    private let pairs: [HeaderField]

    /// The version that is echoed when a request names none; the one that the official clients send
    /// (Reference/AzureNotificationHubs.md#2-0).
    public static let defaultVersion = "2020-06"

    /// Reads a query without its question mark. At most 32 parameters count, more are ignored.
    public init(_ query: String?) {
        pairs = (query ?? "").utf8.split(separator: UInt8(ascii: "&"), maxSplits: 32).prefix(32).map { part in
            let pieces = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return HeaderField(
                PercentEncoding.decodeLeniently(Substring(pieces[0]), plusIsBlank: true).lowercased(),
                pieces.count > 1 ? PercentEncoding.decodeLeniently(Substring(pieces[1]), plusIsBlank: true) : "")
        }
    }

    /// The first value under the name; empty when the name stands alone, `nil` when it is absent.
    public subscript(name: String) -> String? {
        let name = name.lowercased()
        return pairs.first { $0.name == name }?.value
    }

    /// Whether a flag is set: `&direct`, `&direct=`, `&direct=true`; only `false` and `0` unset it.
    public func flag(_ name: String) -> Bool {
        guard let value = self[name] else { return false }
        return value != "0" && value.lowercased() != "false"
    }

    /// Whether the send goes to the handle in its header.
    public var isDirect: Bool { flag("direct") }

    /// Whether the send is a test. On other operations clients add the flag without meaning
    /// (Reference/AzureNotificationHubs.md#2-10).
    public var isTest: Bool { flag("test") }

    /// The filter of a list; `nil` when there is none or nothing but blanks, which selects everything.
    public var filter: String? {
        guard let text = self["$filter"], !text.trimmingBlanks.isEmpty else { return nil }
        return text
    }

    /// The version to echo in `Location` and in entries: as the request gave it if it is 1 to 32 of `A-Z a-z 0-9 . -`, else
    /// the default. Nothing depends on it (Reference/AzureNotificationHubs.md#2-0).
    public var apiVersion: String {
        guard let given = self["api-version"], (1...32).contains(given.utf8.count),
            given.utf8.allSatisfy({ PercentEncoding.isUnreserved($0) && $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "~") })
        else { return Self.defaultVersion }
        return given
    }
}

/// What a list request asks for (Reference/AzureNotificationHubs.md#2-5): page size, where to go on, and which registrations.
public struct ListQuery: Hashable, Sendable {
    /// At most so many entries, 1 to the page limit.
    public var top: Int
    /// The token of the page before, as the client sent it back; check it with `ContinuationToken`.
    public var continuation: ContinuationToken?
    public var filter: RegistrationFilter?
    /// Entries to leave out at the front; one retired client sends it.
    public var skip: Int

    public init(
        top: Int = HubLimits().pageSize, continuation: ContinuationToken? = nil, filter: RegistrationFilter? = nil, skip: Int = 0
    ) {
        self.top = top
        self.continuation = continuation
        self.filter = filter
        self.skip = skip
    }

    /// Reads the query of a list. A `$top` above the limit is the limit.
    public init(_ parameters: HubQuery, limits: HubLimits = HubLimits()) throws(HubRequestFault) {
        top = min(try Self.number("$top", parameters) ?? limits.pageSize, limits.pageSize)
        if top < 1 { throw HubRequestFault(at: "$top", "a page has at least one entry") }
        skip = try Self.number("$skip", parameters) ?? 0
        // One spelling of the two that clients send: names compare without regard to case.
        if let text = parameters["continuationtoken"], !text.isEmpty {
            // One client escapes the token once more, which leaves it unchanged: it has no character that needs it.
            guard let token = ContinuationToken(text) else {
                throw HubRequestFault(at: "continuationtoken", "this server has not made the token")
            }
            continuation = token
        }
        if let text = parameters.filter {
            filter = try RegistrationFilter(text, limits: limits)
        }
    }

    /// The query as this product's client sends it, without the version.
    public var parameters: [HeaderField] {
        var result = [HeaderField("$top", String(top))]
        if let continuation { result.append(HeaderField("continuationtoken", continuation.text)) }
        if let filter { result.append(HeaderField("$filter", filter.text)) }
        return result
    }

    private static func number(_ name: String, _ parameters: HubQuery) throws(HubRequestFault) -> Int? {
        guard let text = parameters[name], !text.isEmpty else { return nil }
        guard text.utf8.count <= 10, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text) else {
            throw HubRequestFault(at: name, "a whole number is expected")
        }
        return number
    }
}

/// `$filter` of a list: the registrations of one device token (Reference/AzureNotificationHubs.md#2-5).
///
/// The grammar is `{Property} eq '{value}'`, joined by `and`. Property names compare without regard to case. One client omits
/// an opening quote.
public struct RegistrationFilter: Hashable, Sendable {
    /// The property that a condition names.
    public enum Property: String, Sendable, CaseIterable {
        /// The handle of any platform: two clients filter by it whatever the device is.
        case channelURI = "ChannelUri"
        case deviceToken = "DeviceToken"
        case gcmRegistrationID = "GcmRegistrationId"
        case fcmRegistrationID = "FcmRegistrationId"
        case fcmV1RegistrationID = "FcmV1RegistrationId"
        case admRegistrationID = "AdmRegistrationId"
        case xiaomiRegistrationID = "XiaomiRegistrationId"
        case baiduUserID = "BaiduUserId"
        case baiduChannelID = "BaiduChannelId"
        case endpoint = "Endpoint"
        case p256dh = "P256DH"
        case auth = "Auth"

        /// Whether the property is what a platform calls a device, rather than an addition to it.
        public var isHandle: Bool { self != .baiduChannelID && self != .p256dh && self != .auth }

        /// The platform whose devices have the property; `nil` means all.
        public var platform: Platform? {
            guard self != .channelURI else { return nil }
            return RegistrationPlatform.allCases
                .first { $0.handleElement == rawValue || $0.detailElements.contains(rawValue) }?.platform
        }
    }

    /// One `{Property} eq '{value}'`.
    public struct Condition: Hashable, Sendable {
        public var property: Property
        /// The value as given, and once more percent-decoded where that differs: some clients encode it twice.
        public var values: [String]

        public init(_ property: Property, _ value: String) {
            self.property = property
            let decoded = PercentEncoding.decodeLeniently(value)
            values = decoded == value ? [value] : [value, decoded]
        }
    }

    /// The condition on the device token.
    public let handle: Condition
    /// Further conditions, on additions to the handle.
    public let details: [Condition]

    public init(handle: Condition, details: [Condition] = []) {
        self.handle = handle
        self.details = details
    }

    /// Reads a filter after the query was decoded once.
    public init(_ text: String, limits: HubLimits = HubLimits()) throws(HubRequestFault) {
        guard text.utf8.count <= 3 * (limits.handleBytes * 3 + 64) else {
            throw HubRequestFault(at: "$filter", "the filter is too long")
        }
        var scanner = FilterScanner(text)
        var conditions: [Condition] = []
        repeat {
            guard conditions.count < 4 else { throw HubRequestFault(at: "$filter", "there are too many conditions") }
            conditions.append(try scanner.condition())
        } while try scanner.skipAnd()
        let handles = conditions.filter(\.property.isHandle)
        guard let handle = handles.first, handles.count == 1 else {
            throw HubRequestFault(at: "$filter", "exactly one condition names a device token, such as ChannelUri or DeviceToken")
        }
        self.init(handle: handle, details: conditions.filter { !$0.property.isHandle })
    }

    /// The filter as text, for a client.
    public var text: String {
        ([handle] + details).map { condition in
            let quoted = (condition.values.first ?? "").split(separator: "'", omittingEmptySubsequences: false).joined(
                separator: "''")
            return "\(condition.property.rawValue) eq '\(quoted)'"
        }.joined(separator: " and ")
    }
}

/// Reads the conditions of a `$filter`.
private struct FilterScanner {
    private var rest: Substring.UnicodeScalarView
    private let length: Int

    init(_ text: String) {
        rest = Substring(text).unicodeScalars
        length = rest.count
    }

    /// `{Property} eq '{value}'`.
    mutating func condition() throws(HubRequestFault) -> RegistrationFilter.Condition {
        skipBlanks()
        let name = word().lowercased()
        guard let property = RegistrationFilter.Property.allCases.first(where: { $0.rawValue.lowercased() == name }) else {
            throw fault("the name of a handle is expected, such as ChannelUri or DeviceToken")
        }
        skipBlanks()
        guard word().lowercased() == "eq" else { throw fault("only the operator eq is known") }
        skipBlanks()
        let value = try value()
        guard !value.isEmpty else { throw fault("the value is empty") }
        return RegistrationFilter.Condition(property, value)
    }

    /// Whether another condition follows. Throws when something else does.
    mutating func skipAnd() throws(HubRequestFault) -> Bool {
        skipBlanks()
        guard !rest.isEmpty else { return false }
        guard word().lowercased() == "and" else { throw fault("only and joins conditions") }
        return true
    }

    /// A text in quotes, where two quotes stand for one; the opening quote may be missing, as one client omits it.
    private mutating func value() throws(HubRequestFault) -> String {
        if rest.first == "'" { rest.removeFirst() }
        var value = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            guard scalar == "'" else {
                value.append(scalar)
                continue
            }
            guard rest.first == "'" else { return String(value) }
            value.append(scalar)
            rest.removeFirst()
        }
        throw fault("a quote is missing")
    }

    private mutating func word() -> String {
        let letters = rest.prefix { $0.properties.isAlphabetic || $0.properties.numericType != nil }
        rest = rest.dropFirst(letters.count)
        return String(String.UnicodeScalarView(letters))
    }

    private mutating func skipBlanks() { rest = rest.drop { $0 == " " || $0 == "\t" } }

    private func fault(_ reason: String) -> HubRequestFault {
        HubRequestFault(at: "$filter, character \(length - rest.count + 1)", reason)
    }
}

/// Where a list goes on: opaque for clients, made of `A-Z a-z 0-9 - _` only, because some send it back as it is and others
/// escape it once more (Reference/AzureNotificationHubs.md#0-11).
public struct ContinuationToken: Hashable, Sendable {
    /// The name of the header that carries it in an answer. It is present only if there is another page.
    public static let headerName = "X-MS-ContinuationToken"

    /// The largest token in bytes.
    public static let maximumLength = 512

    /// The token as it is sent.
    public let text: String
    /// What the server put into it.
    public let position: [UInt8]

    private static let form: UInt8 = 1

    /// Makes a token of a position of at most 300 bytes.
    public init(position: [UInt8]) {
        precondition(position.count <= 300, "a position has at most 300 bytes")
        self.position = position
        text = Base64URL.text(of: [Self.form] + position)
    }

    /// Makes a token of the key of the last row of a page.
    public init(key: Int64) { self.init(position: (0..<8).map { UInt8(truncatingIfNeeded: key >> (56 - 8 * $0)) }) }

    /// The key that the token was made of; `nil` when it was made of something else.
    public var key: Int64? {
        position.count == 8 ? position.reduce(Int64(0)) { $0 << 8 | Int64($1) } : nil
    }

    /// Reads a token that came back; `nil` when this product has not made it.
    public init?(_ text: String) {
        guard (2...Self.maximumLength).contains(text.utf8.count), let bytes = Base64URL.bytes(of: text), bytes.first == Self.form
        else {
            return nil
        }
        self.text = text
        position = Array(bytes.dropFirst())
    }
}
