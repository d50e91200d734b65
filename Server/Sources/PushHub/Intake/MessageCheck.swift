import NotificationTemplates
import RichPushModel
import ServiceErrors

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
        case .native(.apns): try accepted(message, id)
        case .native: try acceptedElsewhere(message, format)
        case .template: try acceptedProperties(message, id)
        }
    }

    private func accepted(_ message: PushMessage, _ id: NotificationID) throws -> AcceptedMessage {
        try checkSize(message)
        let pushType = try pushType(of: message)
        try checkExpiry(message)
        try Self.check(topic: message.topic, ofType: pushType)
        if let collapseID = message.collapseID { try HeaderText.checkCollapseID(collapseID) }
        return AcceptedMessage(
            body: message.body, pushType: pushType, priority: try priority(of: message, pushType),
            collapseID: message.collapseID ?? (fillsCollapseID && pushType == "alert" ? id.text : nil),
            expiresAt: message.expiresAt, topic: message.topic)
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

    /// Bytes that APNs carries at most (Reference/APNs.md#3-2).
    static func largestBody(ofType pushType: String) -> Int { pushType == "voip" ? 5120 : 4096 }

    private func priority(of message: PushMessage, _ pushType: String) throws -> Int {
        let priority = message.priority ?? (pushType == "background" ? 5 : 10)
        try Self.check(priority: priority)
        if pushType == "background", priority == 10 {
            // Who names no type means a silent push as it was before there were types: the priority was lowered then.
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
