import Logging
import Metrics
import NIOConcurrencyHelpers
import NIOCore
import RichPushModel

/// What one client may take of a listener: how slowly it may speak and listen, and how many may be there at once.
///
/// A deadline counts only while the server itself waits: time in which the server was not ready to read is not the client's. A phone
/// with 50 bytes a second keeps to these.
struct ConnectionLimits {
    /// How long a request head may take from its first byte to its last.
    var headTime: TimeAmount = .seconds(10)
    /// Within how long each `minimumBodyBytes` of a body must arrive: slower than this is no phone, however bad its network.
    var bodyTime: TimeAmount = .seconds(20)
    /// The least that a body must bring within `bodyTime`, unless it ends.
    var minimumBodyBytes = 1_024
    /// How long a client may take nothing of an answer. Found out after at most twice this time.
    var writeTime: TimeAmount = .seconds(30)
    /// How long a connection stays open between requests.
    var idleTime: TimeAmount = .seconds(60)
    /// How long a connection that is about to be closed stays open, so that its answer can be read first.
    var lingerTime: TimeAmount = .seconds(2)
}

/// How many connections the listeners that share it may have open together. More are answered 503 and closed at once.
public final class ConnectionAllowance: Sendable {
    private let count: NIOLockedValueBox<ConnectionCount>
    private let limit: Int
    private let clock: any ServiceClock
    private let logger: Logger
    let metrics: ConnectionMetrics

    /// Creates an allowance of `limit` connections.
    public init(
        limit: Int, clock: any ServiceClock, logger: Logger, metrics: any MetricsFactory = MetricsSystem.factory
    ) {
        self.limit = limit
        self.clock = clock
        self.logger = logger
        self.metrics = ConnectionMetrics(factory: metrics)
        count = NIOLockedValueBox(ConnectionCount(limit: limit))
    }

    /// Whether one connection more may be open; if so, `release` must follow.
    func admit() -> Bool {
        let uptime = clock.uptime
        let decision = count.withLockedValue { count in
            let decision = count.opened(at: uptime)
            metrics.open(count.open)
            return decision
        }
        switch decision {
        case .admit: return true
        case .refuse(let report):
            metrics.refused()
            if let report {
                logger.warning(
                    "Connections are refused: as many are open as connection-limit allows",
                    metadata: [LogKey.count.rawValue: "\(report)", LogKey.limit.rawValue: "\(limit)"])
            }
            return false
        }
    }

    /// A connection that was let in has ended.
    func release() {
        count.withLockedValue { count in
            count.closed()
            metrics.open(count.open)
        }
    }
}

/// How many connections are open, as a value: which are admitted, and when refusals are logged.
struct ConnectionCount {
    /// What happens to a new connection.
    enum Decision: Hashable {
        case admit
        /// `report` is how many were refused since the last report, when it is time for one.
        case refuse(report: Int?)
    }

    private(set) var open = 0
    private let limit: Int
    private let reportInterval: Duration
    private var refused = 0
    private var reported: Duration?

    init(limit: Int, reportInterval: Duration = .seconds(10)) {
        self.limit = limit
        self.reportInterval = reportInterval
    }

    mutating func opened(at uptime: Duration) -> Decision {
        guard open >= limit else {
            open += 1
            return .admit
        }
        refused += 1
        if let reported, uptime - reported < reportInterval { return .refuse(report: nil) }
        defer {
            reported = uptime
            refused = 0
        }
        return .refuse(report: refused)
    }

    mutating func closed() { open -= 1 }
}

/// Counts connections, and those that were ended for a broken limit or protocol.
struct ConnectionMetrics: Sendable {
    /// The part of a request that breaks the protocol.
    enum Fault: String, CaseIterable {
        case head
        case body
    }

    private let gauge: Gauge
    private let refusals: Counter
    private let closings: [ConnectionProgress.Stall: Counter]
    private let faults: [Fault: Counter]

    init(factory: any MetricsFactory) {
        gauge = Gauge(label: MetricName.httpConnections.rawValue, factory: factory)
        refusals = Counter(label: MetricName.httpConnectionsRefused.rawValue, factory: factory)
        closings = Dictionary(
            uniqueKeysWithValues: ConnectionProgress.Stall.allCases.map { stall in
                let reason = (MetricLabel.reason.rawValue, stall.rawValue)
                return (stall, Counter(label: MetricName.httpConnectionsStalled.rawValue, dimensions: [reason], factory: factory))
            })
        faults = Dictionary(
            uniqueKeysWithValues: Fault.allCases.map { fault in
                let reason = (MetricLabel.reason.rawValue, fault.rawValue)
                return (
                    fault, Counter(label: MetricName.httpConnectionsMalformed.rawValue, dimensions: [reason], factory: factory)
                )
            })
    }

    func open(_ count: Int) { gauge.record(count) }

    func refused() { refusals.increment() }

    func closed(_ stall: ConnectionProgress.Stall) { closings[stall]?.increment() }

    func refused(_ fault: Fault) { faults[fault]?.increment() }
}
