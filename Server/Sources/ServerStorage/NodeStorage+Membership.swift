import Logging
import Metrics
import PushHub
import SQLStorage

extension NodeStorage {
    /// What the node does because there may be others; `nil` when there can be none.
    package func membership(signal: DispatchSignal, metrics: any MetricsFactory, logger: Logger) -> NodeMembership? {
        guard let place = settings.database, let identity, let sharedClock else { return nil }
        if !identity.isLasting {
            logger.warning(
                "Another process uses the data directory: this node has a name for its own life, and after a crash its work waits for a minute",
                metadata: ["path": "\(settings.dataDirectory)"])
        }
        return NodeMembership(
            store: SQLNodeStore(database), fence: SchemaFence(database), clock: sharedClock, identity: identity,
            role: settings.role, database: place, signal: signal, metrics: metrics, logger: logger)
    }
}
