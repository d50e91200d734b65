/// How many slices a node works on and how many more it may take.
struct DispatchSlots: Hashable, Sendable {
    private let limit: Int
    private let largeLimit: Int
    private var small = 0
    private var large = 0

    init(limit: Int, largeLimit: Int) {
        self.limit = limit
        self.largeLimit = min(largeLimit, limit)
    }

    var free: Int { max(limit - small - large, 0) }
    var freeForLarge: Int { max(min(largeLimit - large, free), 0) }

    /// One large slice is taken first when none is being worked on.
    var largeFirst: Int { large == 0 ? min(1, freeForLarge) : 0 }

    /// Whether nothing is being worked on.
    var isEmpty: Bool { small + large == 0 }

    mutating func take(_ weight: SliceWeight) {
        switch weight {
        case .small: small += 1
        case .large: large += 1
        }
    }

    mutating func give(_ weight: SliceWeight) {
        switch weight {
        case .small: small -= 1
        case .large: large -= 1
        }
    }
}
