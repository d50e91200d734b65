/// Counts of outcomes of one push service in telemetry: names of the table in Reference/AzureNotificationHubs.md#2-9, in the
/// order to be shown.
public struct OutcomeCounts: Hashable, Sendable {
    /// One outcome and how many devices had it.
    public struct Outcome: Hashable, Sendable {
        public var name: String
        public var count: Int

        /// Creates a count.
        public init(name: String, count: Int) {
            self.name = name
            self.count = count
        }
    }

    /// The collections that telemetry knows, in the order in which .NET reads them; the last three only Java and JS know.
    public enum Service: String, Sendable, CaseIterable {
        case apns = "ApnsOutcomeCounts"
        case mpns = "MpnsOutcomeCounts"
        case wns = "WnsOutcomeCounts"
        case gcm = "GcmOutcomeCounts"
        case adm = "AdmOutcomeCounts"
        case fcm = "FcmOutcomeCounts"
        case fcmV1 = "FcmV1OutcomeCounts"
        case baidu = "BaiduOutcomeCounts"
        case browser = "BrowserOutcomeCounts"
        case xiaomi = "XiaomiOutcomeCounts"
    }

    public var service: Service
    public var outcomes: [Outcome]

    /// Creates the counts of a service.
    public init(_ service: Service, _ outcomes: [Outcome]) {
        self.service = service
        self.outcomes = outcomes
    }
}
