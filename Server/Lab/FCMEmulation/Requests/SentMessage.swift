import RichPushModel

/// A message as the service passes it on: what a body says, by the names of the API.
struct SentMessage: Sendable, Hashable, Codable {
    /// Whom it is for (Reference/FCM.md#2-1).
    enum Target: Sendable, Hashable {
        case token(String), fid(String), topic(String), condition(String)
    }

    /// Without its target.
    let members: [String: JSONValue]

    init(_ message: [String: JSONValue]) {
        members = message.filter { !["token", "fid", "topic", "condition", "name"].contains($0.key) }
    }

    static func target(of message: [String: JSONValue]) -> Target? {
        if let token = message["token"]?.asText { return .token(token) }
        if let fid = message["fid"]?.asText { return .fid(fid) }
        if let topic = message["topic"]?.asText { return .topic(topic) }
        return message["condition"]?.asText.map { .condition($0) }
    }

    private var android: JSONValue? { members["android"] ?? members["android_v2"] }

    /// What the app gets: the data for Android, or else those of the message.
    var data: [String: String] { ((android?["data"] ?? members["data"])?.members ?? [:]).compactMapValues(\.asText) }

    /// What the system shows: the part for Android over that of the message.
    var notification: [String: JSONValue]? {
        let own = members["android"]?["notification"]?.members
        guard let shared = members["notification"]?.members else { return own }
        return shared.merging(own ?? [:]) { $1 }
    }

    /// High where nothing is said and something is shown (Reference/FCM.md#2-2).
    var isHighPriority: Bool {
        if members["android"] == nil, let newForm = members["android_v2"] { return newForm["remote_notification"] != nil }
        return members["android"]?["priority"]?.asText.map { $0 == "HIGH" } ?? (notification != nil)
    }

    /// In milliseconds; at the longest 28 days.
    var life: Int64 { android?["ttl"]?.asText.flatMap(ValueForm.milliseconds(ofDuration:)) ?? 2_419_200_000 }
    var collapseKey: String? { android?["collapse_key"]?.asText }
    var restrictedPackage: String? { android?["restricted_package_name"]?.asText }
    var isForDirectBoot: Bool { android?["direct_boot_ok"] == .flag(true) }

    /// Keys and values of the data, and names and values of the notification (Reference/FCM.md#2-3).
    var size: Int {
        let dataSize = data.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        return (notification ?? [:]).reduce(dataSize) { sum, member in
            sum + member.key.utf8.count + (member.value.asText?.utf8.count ?? member.value.byteCount)
        }
    }
}
