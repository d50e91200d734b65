import NIOConcurrencyHelpers
import PushHub

/// What became of the last sends by their idempotency keys. The protocol has no way to ask a hub by key, so this process
/// remembers; after a restart it knows of none.
final class RecentSends: Sendable {
    /// What is known of a key.
    enum Fate: Hashable {
        /// It is, or was, on its way; whether it arrived is not known.
        case pending
        case taken(NotificationID)
        /// The hub certainly did not take it.
        case refused
        /// Nothing may leave under it any more.
        case closed
    }

    /// The most keys that are remembered; the oldest go first.
    static let capacity = 10_000

    private struct State {
        var fates: [String: Fate] = [:]
        var order: [String] = []
        var oldest = 0

        mutating func set(_ key: String, _ fate: Fate) {
            if fates.updateValue(fate, forKey: key) == nil { order.append(key) }
            while fates.count > RecentSends.capacity {
                fates[order[oldest]] = nil
                oldest += 1
            }
            guard oldest > RecentSends.capacity else { return }
            order.removeFirst(oldest)
            oldest = 0
        }
    }

    private let state = NIOLockedValueBox(State())

    /// What is known of the key; `nil` when it is nothing.
    func fate(_ key: String) -> Fate? { state.withLockedValue { $0.fates[key] } }

    /// Notes that a send under the key leaves; `false` when the key is closed.
    func begin(_ key: String) -> Bool {
        state.withLockedValue { state in
            switch state.fates[key] {
            case .closed: return false
            case .taken: return true
            case .pending, .refused, nil:
                state.set(key, .pending)
                return true
            }
        }
    }

    /// Notes that the hub took it; `false` when the key was closed meanwhile.
    func take(_ key: String, _ id: NotificationID) -> Bool {
        state.withLockedValue { state in
            if state.fates[key] == .closed { return false }
            state.set(key, .taken(id))
            return true
        }
    }

    /// Notes that the hub certainly did not take it.
    func refuse(_ key: String) {
        state.withLockedValue { state in
            if state.fates[key] == .pending { state.set(key, .refused) }
        }
    }

    /// Closes the key; what was known of it.
    func close(_ key: String) -> Fate? {
        state.withLockedValue { state in
            let before = state.fates[key]
            state.set(key, .closed)
            return before
        }
    }
}
