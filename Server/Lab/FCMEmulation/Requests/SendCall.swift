import RichPushModel
import WireText

/// The body of a send, read and judged as far as it goes without knowing devices.
struct SendCall: Sendable {
    /// In the order in which they are answered.
    private(set) var violations: [FCMViolation] = []
    /// The message as it came, by the names of the API; `nil` for a body without one.
    private(set) var message: [String: JSONValue]?
    private(set) var isValidation = false

    init(_ request: GoogleRequest) {
        violations.note(.contentType, if: request.contentType != "application/json")
        do throws(JSONFault) {
            var reader = try ProtoReader(request.body)
            let body = try reader.body(.sendRequest)
            violations += reader.violations
            if let body { judge(body, reader.violations) } else { violations.note(.rootObject) }
        } catch {
            // Of a body that is too long nothing was kept.
            guard request.bodySize == request.body.count else { return }
            violations.append(FCMViolation(.json, "\(FCMRule.json.text) \(error)"))
        }
    }

    private mutating func judge(_ body: [String: JSONValue], _ found: [FCMViolation]) {
        isValidation = body["validate_only"] == .flag(true)
        message = body["message"]?.members
        guard let message else {
            // One that is there with a wrong type was named before.
            return violations.note(.messagePresent, if: !found.contains { $0.field == "message" })
        }
        let target = SentMessage.target(of: message)
        switch target {
        case nil: violations.note(.targetPresent, if: !found.contains { $0.rule == .fieldType })
        case .topic(let name): if let rule = Self.brokenTopic(name) { violations.note(rule) }
        case .condition(let text):
            let condition = TopicCondition(text)
            violations.note(.conditionSyntax, if: condition == nil)
            violations.note(.conditionTopics, if: condition?.topicCount ?? 0 > TopicCondition.topicLimit)
        case .token, .fid: break
        }
        if let payload = message["apns"]?["payload"] {
            violations.note(.apsPresent, if: payload["aps"] == nil)
            violations.note(.apsObject, if: payload["aps"].map { $0.members == nil } ?? false)
            violations.note(.apnsPayloadSize, if: payload.byteCount > 4_096)
        }
        let size = SentMessage(message).size
        switch target {
        case .topic, .condition: violations.note(.topicMessageSize, if: size > 2_048)
        case .token, .fid, nil: violations.note(.messageSize, if: size > 4_096)
        }
    }

    static func brokenTopic(_ name: String) -> FCMRule? {
        if name.hasPrefix("/topics/") { return .topicPrefix }
        return ValueForm.isTopic(name) ? nil : .topicName
    }
}

/// The body of the older service for topics (Reference/FCM.md#5).
struct TopicBatchCall: Sendable {
    static let tokenLimit = 1_000

    private(set) var violations: [FCMViolation] = []
    private(set) var topic = ""
    private(set) var tokens: [String] = []

    init(_ request: GoogleRequest) {
        guard let members = JSONValue(json: request.body)?.members else {
            violations.note(.json)
            return
        }
        if let target = members["to"]?.asText, target.hasPrefix("/topics/") { topic = String(target.dropFirst(8)) }
        let list = members["registration_tokens"]?.elements ?? []
        tokens = list.compactMap(\.asText)
        violations.note(.topicTarget, if: !ValueForm.isTopic(topic))
        violations.note(.topicTokens, if: list.isEmpty || tokens.count != list.count)
        violations.note(.topicTokenCount, if: tokens.count > Self.tokenLimit)
    }
}
