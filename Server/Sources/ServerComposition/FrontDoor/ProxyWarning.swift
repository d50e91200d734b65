import Logging
import Synchronization

/// Says once in the life of a node that a proxy which is not trusted forwards requests: all callers behind it count as one network.
final class ProxyWarning: Sendable {
    private let logger: Logger
    private let isSaid = Mutex(false)

    init(logger: Logger) { self.logger = logger }

    /// A peer that is not trusted said for whom it forwards.
    func forwarded(by peer: String) {
        let isFirst = isSaid.withLock { isSaid in
            defer { isSaid = true }
            return !isSaid
        }
        guard isFirst else { return }
        logger.warning(
            "Requests come through a proxy that is not in trusted-proxies: its callers count as one network when sign-ins fail",
            metadata: ["remote": "\(peer)"])
    }
}
