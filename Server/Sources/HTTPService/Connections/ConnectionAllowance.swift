import Logging
import Metrics
import NIOConcurrencyHelpers
import RichPushModel

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
