import APNsProtocol
import Synchronization

/// The device tokens that APNs refused not long ago. A push to one of them, which means that its device registered again,
/// travels apart from the others until it is accepted (Reference/APNs.md#1-4).
///
/// Bounded: the oldest is forgotten first. Only hashes are kept, so that no token stays in memory.
final class RefusedTokens: Sendable {
    private struct State {
        var hashes: Set<Int> = []
        var order: [Int] = []
        var oldest = 0
    }

    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int = 10_000) { self.capacity = max(1, capacity) }

    /// Whether none is remembered.
    var isEmpty: Bool { state.withLock { $0.hashes.isEmpty } }

    /// Whether each of these tokens was refused; `nil` when none is remembered, which is nearly always so.
    func contains(_ tokens: some Sequence<APNsDeviceToken>) -> [Bool]? {
        state.withLock { state in
            state.hashes.isEmpty ? nil : tokens.map { state.hashes.contains($0.hashValue) }
        }
    }

    /// Remembers a refused token.
    func insert(_ token: APNsDeviceToken) {
        state.withLock { state in
            guard state.hashes.insert(token.hashValue).inserted else { return }
            if state.order.count < capacity {
                state.order.append(token.hashValue)
            } else {
                state.hashes.remove(state.order[state.oldest])
                state.order[state.oldest] = token.hashValue
                state.oldest = (state.oldest + 1) % capacity
            }
        }
    }

    /// Forgets a token that was accepted.
    func remove(_ token: APNsDeviceToken) {
        state.withLock { state in
            guard !state.hashes.isEmpty, state.hashes.remove(token.hashValue) != nil else { return }
            guard let place = state.order.firstIndex(of: token.hashValue) else { return }
            state.order.remove(at: place)
            if place < state.oldest { state.oldest -= 1 }
            if state.oldest >= state.order.count { state.oldest = 0 }
        }
    }
}
