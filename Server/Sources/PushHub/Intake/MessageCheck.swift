import FCMProtocol
import NotificationTemplates
import RichPushModel
import ServiceErrors
import WireText

/// The checks of intake on a message: what can be known to fail is the caller's mistake now, not an outcome later.
struct MessageCheck {
    let now: Timestamp
    let dueAt: Timestamp
    /// Whether an alert without a collapse id gets one from its notification.
    let fillsCollapseID: Bool
    var limits = HubRequestLimits()

    /// Push types that APNs knows (Reference/APNs.md#3-3).
    static let pushTypes: Set<String> = [
        "alert", "background", "voip", "complication", "fileprovider", "mdm", "liveactivity", "location", "pushtotalk", "widgets",
        "controls",
    ]

    /// The message with nothing left open. Throws `ServiceError`.
    func accepted(
        _ message: PushMessage, as format: SendFormat = .native(.apns), id: NotificationID
    ) throws -> AcceptedMessage {
        switch format {
        case .native(let platform) where platform.isAPNs: try accepted(message, as: format, id)
        case .native(.browser): try acceptedForBrowsers(message, format)
        case .native(.fcmv1), .native(.gcm): try acceptedForAndroid(message, format)
        case .native: try acceptedElsewhere(message, format)
        case .template: try acceptedProperties(message, id)
        }
    }

    /// The same with translations of the body, which have to show what it shows. Throws `ServiceError`.
    func accepted(_ command: SendCommand, id: NotificationID) throws -> AcceptedMessage {
        let translations = command.translations
        guard !command.reachesEveryPlatform || command.format == .native(.apns) && command.recipients.handles == nil else {
            throw ServiceError(.invalidField, "a send to every platform is a native send for Apple's devices to an audience")
        }
        let isPossible =
            command.format == .native(.apns) && command.recipients.handles == nil && translations.count <= PushTranslation.limit
            && Set(translations.map(\.key)).count == translations.count
        guard isPossible || translations.isEmpty && command.split == nil else {
            throw ServiceError(
                .invalidField,
                "translations and groups are for a native send to an audience, at most \(PushTranslation.limit), each for others")
        }
        let groups = 0...(command.split?.percents.count ?? 0)
        guard translations.allSatisfy({ groups.contains($0.key.group ?? 0) && ($0.key.language != nil || $0.key.group != nil) })
        else {
            throw ServiceError(.invalidField, "a translation is for a language, or for a group that the send has")
        }
        var accepted = try accepted(command.message, as: command.format, id: id)
        for translation in translations {
            var message = command.message
            (message.body, message.pushType) = (translation.body, accepted.pushType)
            _ = try self.accepted(message, as: command.format, id)
        }
        accepted.translations = translations
        return accepted
    }

    private func accepted(_ message: PushMessage, as format: SendFormat, _ id: NotificationID) throws -> AcceptedMessage {
        try checkSize(message)
        let pushType = try pushType(of: message)
        try checkExpiry(message)
        try Self.check(topic: message.topic, ofType: pushType)
        if let collapseID = message.collapseID { try HeaderText.checkCollapseID(collapseID) }
        return AcceptedMessage(
            body: message.body, pushType: pushType, priority: try priority(of: message, pushType), format: format,
            collapseID: message.collapseID ?? (fillsCollapseID && pushType == "alert" ? id.text : nil),
            expiresAt: message.expiresAt, topic: message.topic)
    }

    /// For browsers: a body goes out as it came, and none is too large for what is known here (Reference/WebPush.md#2-1).
    private func acceptedForBrowsers(_ message: PushMessage, _ format: SendFormat) throws -> AcceptedMessage {
        var accepted = try acceptedElsewhere(message, format)
        if let priority = message.priority { try Self.check(priority: priority) }
        accepted.priority = message.priority ?? 10
        accepted.collapseID = message.collapseID
        return accepted
    }

    /// For Firebase: what its rules certainly refuse is the caller's mistake. A message that is too large is an outcome, as for APNs.
    private func acceptedForAndroid(_ message: PushMessage, _ format: SendFormat) throws -> AcceptedMessage {
        var accepted = try acceptedElsewhere(message, format)
        accepted.priority = 10
        do throws(FCMMessageFault) {
            _ = try format == .native(.gcm) ? FCMMessage(legacy: message.body) : FCMMessage(message.body)
        } catch {
            guard error.isTooLarge else {
                throw ServiceError(error.path.isEmpty ? .malformedJSON : .invalidField, "\(error)")
            }
        }
        return accepted
    }

    /// For a push service that this version has no way to: kept as it came.
    private func acceptedElsewhere(_ message: PushMessage, _ format: SendFormat) throws -> AcceptedMessage {
        guard !message.body.isEmpty else { throw ServiceError(.invalidField, "the body of the push is empty") }
        try checkSize(message)
        try checkExpiry(message)
        return AcceptedMessage(
            body: message.body, pushType: "", priority: 0, format: format, expiresAt: message.expiresAt)
    }

    /// The properties of a template send. What its templates make of them is judged one by one when they are filled.
    private func acceptedProperties(_ message: PushMessage, _ id: NotificationID) throws -> AcceptedMessage {
        try checkSize(message)
        guard let text = String(validating: message.body, as: UTF8.self) else {
            throw ServiceError(.malformedJSON, "the template properties are not UTF-8")
        }
        do throws(TemplateError) {
            _ = try TemplateProperties(json: text)
        } catch {
            throw ServiceError(.malformedJSON, error.description)
        }
        try checkExpiry(message)
        if let topic = message.topic { try HeaderText.checkTopic(topic) }
        if let collapseID = message.collapseID { try HeaderText.checkCollapseID(collapseID) }
        if let pushType = message.pushType {
            try Self.check(pushType: pushType)
            try Self.check(topic: message.topic, ofType: pushType)
        }
        if let priority = message.priority { try Self.check(priority: priority) }
        return AcceptedMessage(
            body: message.body, pushType: message.pushType ?? "", priority: message.priority ?? 0, format: .template,
            collapseID: message.collapseID ?? (fillsCollapseID ? id.text : nil), expiresAt: message.expiresAt,
            topic: message.topic)
    }

    private func pushType(of message: PushMessage) throws -> String {
        let body = try PushBody(message.body)
        guard let given = message.pushType else { return body.isSilent ? "background" : "alert" }
        try Self.check(pushType: given)
        // Reference/APNs.md#3-3 names more that such a push should not have; Azure's service passes a badge or a sound on, and
        // back ends that send them run today. With an alert it is a mistake in any case: nothing would be shown.
        guard given != "background" || !body.alerts else {
            throw ServiceError(.invalidField, "a background push shows nothing: its aps has no alert")
        }
        return given
    }

    /// What a push service does not carry is an outcome, as at Azure's service (Reference/AzureNotificationHubs.md#6-1); here it
    /// is what a hub takes.
    private func checkSize(_ message: PushMessage) throws {
        guard message.body.count <= limits.bodyBytes else {
            throw ServiceError(
                .payloadTooLarge, "the body has \(message.body.count) bytes; a hub takes at most \(limits.bodyBytes)")
        }
    }

    private func priority(of message: PushMessage, _ pushType: String) throws -> Int {
        let priority = message.priority ?? (pushType == "background" ? 5 : 10)
        try Self.check(priority: priority)
        if pushType == "background", priority == 10 {
            // Without a push type this is a silent push of the time before push types, whose priority was lowered.
            guard message.pushType != nil else { return 5 }
            throw ServiceError(.invalidField, "a background push cannot have priority 10 (use 5 or 1)")
        }
        return priority
    }

    private static func check(pushType: String) throws(ServiceError) {
        guard pushTypes.contains(pushType) else {
            throw ServiceError(.invalidField, "the push type is not one that APNs knows")
        }
    }

    /// Ends of topics that mean one push type alone (Reference/APNs.md#3-3). Not among them are `.voip` and `.complication`, with
    /// which the bundle id of an app may end as well.
    static let distinctSuffixes = [
        "location": ".location-query", "fileprovider": ".pushkit.fileprovider", "liveactivity": ".push-type.liveactivity",
        "pushtotalk": ".voip-ptt", "widgets": ".push-type.widgets", "controls": ".push-type.controls",
    ]

    /// Refuses what no app can receive. A topic without the suffix of its type gets it on the way to APNs.
    private static func check(topic: String?, ofType pushType: String) throws {
        guard let topic else {
            guard pushType != "mdm" else {
                throw ServiceError(
                    .invalidField, "a push of type mdm needs a topic: the UID in the subject of the MDM certificate")
            }
            return
        }
        try HeaderText.checkTopic(topic)
        if let other = distinctSuffixes.first(where: { topic.hasSuffix($0.value) })?.key, other != pushType {
            throw ServiceError(.invalidField, "a topic with this ending is for pushes of type \(other), not of type \(pushType)")
        }
    }

    private static func check(priority: Int) throws(ServiceError) {
        guard [1, 5, 10].contains(priority) else { throw ServiceError(.invalidField, "the priority is 10, 5 or 1") }
    }

    private func checkExpiry(_ message: PushMessage) throws {
        guard let expiresAt = message.expiresAt, expiresAt != PushMessage.oneTry else { return }
        if expiresAt <= now { throw ServiceError(.invalidField, "the expiry lies in the past") }
        if expiresAt <= dueAt { throw ServiceError(.invalidField, "the expiry lies before the time at which the send is due") }
    }
}

/// What the hub has to know of a body for APNs; the bytes themselves go out untouched.
struct PushBody: Hashable {
    /// Whether the body asks for a wake-up: `content-available` 1.
    let wakes: Bool
    /// Whether it shows, plays or counts something: an alert, a sound or a badge that is not empty. (The rich push tutorial's own
    /// body carries `"sound":""`.)
    let isPerceptible: Bool

    /// Whether it has an alert that is not empty.
    let alerts: Bool

    /// Whether it is a background push.
    var isSilent: Bool { wakes && !isPerceptible }

    /// Reads a body. Throws `malformed-json` with the place unless it is one JSON object in UTF-8 with at most one `aps`, which is
    /// an object.
    init(_ bytes: [UInt8]) throws(ServiceError) {
        let aps = try PushBodyReader.aps(in: bytes) ?? [:]
        wakes = aps["content-available"] == .one
        alerts = Self.isFilled(aps["alert"])
        isPerceptible = alerts || Self.isFilled(aps["sound"]) || Self.isFilled(aps["badge"])
    }

    private static func isFilled(_ value: PushBodyReader.Value?) -> Bool {
        switch value {
        case nil, .null, .text(isEmpty: true), .object(isEmpty: true): false
        case .text, .object, .one, .other: true
        }
    }
}

/// Reads the body of a push for APNs once and says where it breaks a rule. The bytes themselves go out as they came, so what is read
/// here is what a phone will read: nothing is corrected and nothing foreign let through. A name may occur twice outside `aps`, where
/// the hub reads nothing.
struct PushBodyReader {
    /// The kinds of values that callers distinguish.
    enum Value: Hashable {
        case text(isEmpty: Bool)
        case object(isEmpty: Bool)
        case null
        case one
        /// Any other number, a list, `true` or `false`.
        case other
    }

    /// Objects and lists within each other.
    private static let maximumDepth = 128

    private var cursor: JSONCursor

    /// The members of `aps`, `nil` where there is none. Throws `malformed-json`.
    static func aps(in bytes: [UInt8]) throws(ServiceError) -> [String: Value]? {
        do throws(JSONFault) {
            var reader = PushBodyReader(cursor: try JSONCursor(validating: bytes, depthLimit: maximumDepth))
            return try reader.body()
        } catch {
            throw ServiceError(.malformedJSON, "the body of a push \(words(for: error.problem)) (at byte \(error.start + 1))")
        }
    }

    private mutating func body() throws(JSONFault) -> [String: Value]? {
        cursor.skipBlanks()
        guard cursor.kind == .object else { throw cursor.fault(.rule("must be one JSON object")) }
        var aps: [String: Value]?
        var isFirst = true
        while let name = try cursor.nextName(&isFirst) {
            if name == "aps" {
                guard aps == nil else { throw cursor.fault(.rule("names aps twice")) }
                guard cursor.kind == .object else { throw cursor.fault(.rule("has an aps that is no object")) }
                aps = try members()
            } else {
                try cursor.skipValue()
            }
        }
        try cursor.end()
        return aps
    }

    private mutating func members() throws(JSONFault) -> [String: Value] {
        var members: [String: Value] = [:]
        var isFirst = true
        while let name = try cursor.nextName(&isFirst) {
            let value = try value()
            guard members.updateValue(value, forKey: name) == nil else {
                throw cursor.fault(.rule("names a member of aps twice"))
            }
        }
        return members
    }

    private mutating func value() throws(JSONFault) -> Value {
        let (start, kind) = (cursor.position, cursor.kind)
        try cursor.skipValue()
        let text = start..<cursor.position
        switch kind {
        case .string: return .text(isEmpty: text.count == 2)
        case .object:
            let content = cursor.bytes[text].dropFirst().dropLast()
            return .object(isEmpty: content.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D })
        case .null: return .null
        case .number: return Double(cursor.text(text)) == 1 ? .one : .other
        case .list, .boolean, nil: return .other
        }
    }

    private static func words(for problem: JSONFault.Problem) -> String {
        switch problem {
        case .notUTF8: "is not UTF-8"
        case .tooDeep(let limit): "is nested deeper than \(limit)"
        case .value: "lacks a value"
        case .name: "lacks a name in quotes"
        case .colon: "lacks a colon"
        case .commaOrBrace: "lacks a comma or a closing brace"
        case .commaOrBracket: "lacks a comma or a closing bracket"
        case .digit: "has a malformed number"
        case .duplicateName: "names a member twice"
        case .unterminatedString: "has a text without an end"
        case .controlCharacter: "has a control character in a text"
        case .unterminatedEscape, .unknownEscape: "has an unknown escape"
        case .malformedUnicodeEscape: "has a malformed escape"
        case .loneSurrogate: "has half a character"
        case .end: "must be one JSON object and nothing behind it"
        case .rule(let words): words
        }
    }
}
