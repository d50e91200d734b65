import APNsHTTP2
import Synchronization

/// The numbers of every client of APNs that the node has, its own and those of hubs with a credential of their own, as one. What
/// closed clients have counted stays, so that totals never fall.
package final class APNsClientLedger: Sendable {
    /// The numbers of all clients together.
    package struct Numbers: Sendable {
        /// How many are open.
        package var clients: Int
        package var sum: APNsClientMetrics
    }

    private struct State {
        var open: [Int: @Sendable () -> APNsClientMetrics] = [:]
        var opened = 0
        var closed = APNsClientMetrics()
    }

    private let state = Mutex(State())

    /// A client was made. What it is told by is given back to `close`.
    func open(_ metrics: @escaping @Sendable () -> APNsClientMetrics) -> Int {
        state.withLock { state in
            state.opened += 1
            state.open[state.opened] = metrics
            return state.opened
        }
    }

    /// The client was closed; its last numbers are read once more.
    func close(_ client: Int) {
        state.withLock { state in
            guard let metrics = state.open.removeValue(forKey: client) else { return }
            state.closed = state.closed.adding(metrics().history)
        }
    }

    /// `nil` while there never was a client.
    package var numbers: Numbers? {
        state.withLock { state in
            guard state.opened > 0 else { return nil }
            return Numbers(clients: state.open.count, sum: state.open.values.reduce(state.closed) { $0.adding($1()) })
        }
    }
}
