import FCMEmulation
import RichPushModel

/// Where a sender finds a local FCM, and with what it signs.
public struct FCMSenderPlace: Sendable, Hashable, Codable {
    /// Scheme, host and port that senders call.
    public var origin: String
    /// The file of the service account.
    public var keyPath: String
    /// The certificate that senders have to trust.
    public var authorityPath: String
    /// Whether clients lead Google's names here.
    public var standsInForGoogle: Bool

    /// Creates a place.
    public init(origin: String, keyPath: String, authorityPath: String, standsInForGoogle: Bool) {
        (self.origin, self.keyPath, self.authorityPath) = (origin, keyPath, authorityPath)
        self.standsInForGoogle = standsInForGoogle
    }
}

/// What the page asks for again and again, `GET /fcm/state`: everything that changes, in bounds. Of the requests it has those from
/// number `after` on, so that an answer is small when little happened.
struct FCMOverviewDocument: Encodable {
    static let quotas: Set<String> = [
        "projectPerMinute", "devicePerMinute", "devicePerHour", "collapsibleBurst", "collapsibleRefillSeconds",
        "waitingMessages", "collapseKeys", "topicsPerDevice", "inactiveDays", "silentHighPriority",
    ]
    static let deviceLimit = 50
    static let requestLimit = 200
    static let eventLimit = 10

    private struct NumberedRequest: Encodable {
        private enum Member: String, CodingKey { case number }

        let number: Int
        let exchange: FCMExchange

        func encode(to encoder: any Encoder) throws {
            try exchange.encode(to: encoder)
            var members = encoder.container(keyedBy: Member.self)
            try members.encode(number, forKey: .number)
        }
    }

    private let run: String
    private let now: Timestamp
    private let place: FCMSenderPlace
    private let projects: [LocalFCMProjectStatus]
    private let devices: [FCMDeviceDocument]
    /// How many devices have the name that was asked for, also beyond the limit.
    private let deviceCount: Int
    private let faults: [FCMPlannedFault]
    /// The oldest request that is kept, and the one that comes next.
    private let oldest: Int
    private let next: Int
    private let requests: [NumberedRequest]

    init(_ fcm: LocalFCM, _ place: FCMSenderPlace, run: String, after: Int, name: String) {
        (self.run, self.place, now) = (run, place, fcm.now)
        (projects, faults) = (fcm.projects, fcm.plannedFaults)
        let (first, count) = fcm.devices(named: name, limit: Self.deviceLimit)
        let recorder = fcm.recorder
        let events = Dictionary(grouping: recorder.phones, by: \.device)
        devices = first.map { FCMDeviceDocument($0, events[$0.name, default: []].suffix(Self.eventLimit)) }
        deviceCount = count
        let exchanges = recorder.exchanges
        (next, oldest) = (recorder.nextExchange, recorder.nextExchange - exchanges.count)
        let numbered = zip(oldest..., exchanges).drop { number, _ in number < after }
        requests = numbered.suffix(Self.requestLimit).map { NumberedRequest(number: $0, exchange: $1) }
    }
}
