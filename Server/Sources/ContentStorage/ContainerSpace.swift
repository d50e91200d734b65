import NIOConcurrencyHelpers
import ServiceErrors

/// How many bytes the files of containers have, and may have.
final class ContainerSpace: Sendable {
    private let limit: Int64
    private let count: NIOLockedValueBox<Int64>

    init(limit: Int64, used: Int64) {
        self.limit = limit
        count = NIOLockedValueBox(used)
    }

    var used: Int64 { count.withLockedValue { $0 } }

    /// Takes room for bytes that are going to be written. Throws `quota-exceeded` when there is none.
    func take(_ bytes: Int64) throws(ServiceError) {
        let fits = count.withLockedValue { count in
            guard count + bytes <= limit else { return false }
            count += bytes
            return true
        }
        guard fits else {
            throw ServiceError(.quotaExceeded, "the containers of this node hold \(limit) bytes and are full", retryAfter: 60)
        }
    }

    /// Counts what went, or came without being asked for.
    func change(by bytes: Int64) { count.withLockedValue { $0 = max(0, $0 + bytes) } }
}
