/// Telemetry as the clients read it (Reference/AzureNotificationHubs.md#2-9).
struct TelemetryReading {
    let state: String
    let fields: [String: String]
    /// By list, such as `ApnsOutcomeCounts`, and outcome.
    let counts: [String: [String: Int]]

    private static let order = [
        "NotificationId", "Location", "State", "EnqueueTime", "StartTime", "EndTime", "NotificationBody", "Tags",
        "TargetPlatforms",
        "ApnsOutcomeCounts", "MpnsOutcomeCounts", "WnsOutcomeCounts", "GcmOutcomeCounts", "AdmOutcomeCounts",
        "PnsErrorDetailsUri",
        "FcmOutcomeCounts", "FcmV1OutcomeCounts", "BaiduOutcomeCounts", "BrowserOutcomeCounts", "XiaomiOutcomeCounts",
    ]
    /// Java throws on any other.
    private static let states = [
        "Enqueued", "Scheduled", "Processing", "Completed", "Abandoned", "NoTargetFound", "Canceled", "Unknown",
    ]

    init(_ answer: ClientAnswer) throws {
        let root = try XMLTree.read(answer.body)
        guard root.name == "NotificationDetails", !root.hasMixedText, root.names.allSatisfy({ !$0.contains(":") }) else {
            throw ClientAnswer.Unreadable("no NotificationDetails without prefix on one line")
        }
        let places = root.children.map { Self.order.firstIndex(of: $0.name) ?? -1 }
        guard places == places.sorted(), !places.contains(-1) else { throw ClientAnswer.Unreadable("elements out of order") }
        fields = Dictionary(root.children.map { ($0.name, $0.text) }, uniquingKeysWith: { $1 })
        state = fields["State"] ?? ""
        guard Self.states.contains(state) else { throw ClientAnswer.Unreadable("state '\(state)'") }
        counts = Dictionary(
            root.children.filter { $0.name.hasSuffix("Counts") }.map { list in
                (
                    list.name,
                    Dictionary(
                        list.children.map { ($0["Name"]?.text ?? "", Int($0["Count"]?.text ?? "") ?? -1) }, uniquingKeysWith: +)
                )
            }, uniquingKeysWith: { $1 })
    }
}
