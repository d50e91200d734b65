import NIOConcurrencyHelpers
import ServiceErrors

/// How many bytes the files of containers have, and may have.
///
/// A hub may have as much as it leaves free: one alone gets half of all, the next that fills its share half of the rest. So a hub that
/// fills its own containers leaves room for the feedback and the jobs of others.
final class ContainerSpace: Sendable {
    private struct State {
        var total: Int64
        var byHub: [Int64: Int64]
    }

    private let limit: Int64
    private let state: NIOLockedValueBox<State>
    private let turn = NIOLock()

    /// - Parameter used: what the files of each hub have, by its number.
    init(limit: Int64, used: [Int64: Int64]) {
        self.limit = limit
        state = NIOLockedValueBox(State(total: used.values.reduce(0, +), byHub: used))
    }

    var used: Int64 { state.withLockedValue { $0.total } }

    /// Takes room for bytes that are going to be written for a hub. Throws `quota-exceeded` when there is none.
    func take(_ bytes: Int64, for hub: Int64) throws(ServiceError) {
        let fits = state.withLockedValue { state in
            let own = state.byHub[hub, default: 0] + bytes
            guard Self.fits(own, of: state.total + bytes, limit: limit) else { return false }
            state.total += bytes
            state.byHub[hub] = own
            return true
        }
        guard fits else { throw Self.full(limit) }
    }

    /// Whether a hub may have so many bytes where all have a total, these included.
    static func fits(_ own: Int64, of total: Int64, limit: Int64) -> Bool { own <= limit - total }

    /// The error for a file that does not fit.
    static func full(_ limit: Int64) -> ServiceError {
        ServiceError(
            .quotaExceeded, "the files of this hub would take more of the \(limit) bytes of hub-file-space than they leave free",
            retryAfter: 60)
    }

    /// Runs one at a time what looks at a file and then replaces it.
    func alone<Result>(_ body: () throws -> Result) rethrows -> Result { try turn.withLock(body) }

    /// Counts what went, or came without being asked for.
    func change(by bytes: Int64, of hub: Int64) {
        state.withLockedValue { state in
            let own = max(0, state.byHub[hub, default: 0] + bytes)
            state.total += own - state.byHub[hub, default: 0]
            state.byHub[hub] = own > 0 ? own : nil
        }
    }
}

/// How many of something may be under way at once. A slot is free again when its last reference is released.
final class Slots: Sendable {
    /// The right to one of them.
    final class Slot: Sendable {
        private let slots: Slots

        fileprivate init(_ slots: Slots) { self.slots = slots }

        deinit { slots.used.withLockedValue { $0 -= 1 } }
    }

    private let capacity: Int
    private let used = NIOLockedValueBox(0)

    init(capacity: Int) { self.capacity = max(1, capacity) }

    /// A slot, or `nil` when all are taken.
    func take() -> Slot? {
        let isFree = used.withLockedValue { used in
            guard used < capacity else { return false }
            used += 1
            return true
        }
        return isFree ? Slot(self) : nil
    }
}

/// Names of files and objects under way. A counter would do, but a name by chance needs no memory.
enum RandomName {
    static func next() -> String {
        "\(String(UInt64.random(in: .min ... .max), radix: 16))-\(String(UInt64.random(in: .min ... .max), radix: 16))"
    }
}
