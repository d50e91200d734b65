import NIOConcurrencyHelpers

/// How many of something may be under way at once. A slot is given back when the last one who holds it lets go.
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
