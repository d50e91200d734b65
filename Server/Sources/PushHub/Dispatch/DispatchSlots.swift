/// How many slices a node works on and how many more it may take.
///
/// Of the slots for small and large slices one is never taken by large ones and one never by small ones, so that neither can
/// keep the other waiting. Single slices have slots of their own.
struct DispatchSlots: Hashable, Sendable {
    private let limit: Int
    private let largeLimit: Int
    private let smallLimit: Int
    private let singleLimit: Int
    private var taken: [SliceWeight: Int] = [:]

    init(limit: Int, largeLimit: Int, singleLimit: Int) {
        self.limit = limit
        self.largeLimit = min(largeLimit, limit)
        smallLimit = max(limit - 1, 1)
        self.singleLimit = singleLimit
    }

    /// For small and large slices together.
    var free: Int { max(limit - count(.small) - count(.large), 0) }
    var freeForSmall: Int { max(min(smallLimit - count(.small), free), 0) }
    var freeForLarge: Int { max(min(largeLimit - count(.large), free), 0) }
    var freeForSingle: Int { max(singleLimit - count(.single), 0) }

    mutating func take(_ weight: SliceWeight) { taken[weight, default: 0] += 1 }

    mutating func give(_ weight: SliceWeight) { taken[weight, default: 0] -= 1 }

    private func count(_ weight: SliceWeight) -> Int { taken[weight] ?? 0 }
}
