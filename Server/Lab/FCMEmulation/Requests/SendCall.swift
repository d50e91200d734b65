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
        if request.contentType != "application/json" { violations.append(FCMViolation(.contentType)) }
        let tree: ProtoTree
        do throws(JSONFault) {
            tree = try ProtoTree(request.body)
        } catch {
            // Of a body that is too long nothing was kept.
            let text = "\(FCMRule.json.facts.text) \(error)"
            if request.bodySize == request.body.count { violations.append(FCMViolation(.json, text)) }
            return
        }
        if case .object(let members) = tree { read(members) } else { violations.append(FCMViolation(.rootObject)) }
    }

    private mutating func read(_ members: [(name: String, value: ProtoTree)]) {
        var reader = ProtoReader()
        let body = reader.read(members, as: .sendRequest)
        violations += reader.violations
        isValidation = body["validate_only"] == .flag(true)
        message = body["message"]?.members
        // One that is there with a wrong type was named before.
        if message == nil, !reader.violations.contains(where: { $0.field == "message" }) {
            violations.append(FCMViolation(.messagePresent))
        }
        if let message { judge(message, mayLackTarget: reader.violations.contains { $0.rule == .fieldType }) }
    }

    private mutating func judge(_ message: [String: JSONValue], mayLackTarget: Bool) {
        switch SentMessage.target(of: message) {
        case nil: if !mayLackTarget { violations.append(FCMViolation(.targetPresent)) }
        case .topic(let name):
            if let rule = Self.brokenTopic(name) { violations.append(FCMViolation(rule)) }
        case .condition(let text): judgeCondition(text)
        case .token, .fid: break
        }
        judgeSize(message)
    }

    static func brokenTopic(_ name: String) -> FCMRule? {
        if name.hasPrefix("/topics/") { return .topicPrefix }
        return ValueForm.isTopic(name) ? nil : .topicName
    }

    private mutating func judgeCondition(_ text: String) {
        guard let condition = TopicCondition(text) else { return violations.append(FCMViolation(.conditionSyntax)) }
        if condition.topicCount > TopicCondition.topicLimit { violations.append(FCMViolation(.conditionTopics)) }
    }

    private mutating func judgeSize(_ message: [String: JSONValue]) {
        if let payload = message["apns"]?["payload"] {
            switch payload["aps"] {
            case nil: violations.append(FCMViolation(.apsPresent))
            case .object: break
            default: violations.append(FCMViolation(.apsObject))
            }
            if payload.byteCount > 4_096 { violations.append(FCMViolation(.apnsPayloadSize)) }
        }
        let size = SentMessage(message).size
        switch SentMessage.target(of: message) {
        case .topic, .condition: if size > 2_048 { violations.append(FCMViolation(.topicMessageSize)) }
        case .token, .fid, nil: if size > 4_096 { violations.append(FCMViolation(.messageSize)) }
        }
    }
}

/// The body of the older service for topics (Reference/FCM.md#5).
struct TopicBatchCall: Sendable {
    static let tokenLimit = 1_000

    private(set) var violations: [FCMViolation] = []
    private(set) var topic = ""
    private(set) var tokens: [String] = []

    init(_ request: GoogleRequest) {
        if let members = (try? ProtoTree(request.body))?.members {
            read(members)
        } else {
            violations.append(FCMViolation(.json))
        }
    }

    private mutating func read(_ members: [String: ProtoTree]) {
        if case .text(let target)? = members["to"], target.hasPrefix("/topics/") { topic = String(target.dropFirst(8)) }
        if !ValueForm.isTopic(topic) { violations.append(FCMViolation(.topicTarget)) }
        guard case .list(let list)? = members["registration_tokens"], !list.isEmpty else {
            return violations.append(FCMViolation(.topicTokens))
        }
        tokens = list.compactMap { if case .text(let token) = $0 { token } else { nil } }
        if tokens.count != list.count { violations.append(FCMViolation(.topicTokens)) }
        if tokens.count > Self.tokenLimit { violations.append(FCMViolation(.topicTokenCount)) }
    }
}
