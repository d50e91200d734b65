/// Where device tokens and ids come from: the system, or a seed when a run must repeat.
enum RandomSource: RandomNumberGenerator, Sendable {
    case system
    /// SplitMix64: small, and good enough for names that need only differ.
    case seeded(UInt64)

    init(seed: UInt64?) { self = seed.map { .seeded($0) } ?? .system }

    mutating func next() -> UInt64 {
        guard case .seeded(let state) = self else {
            var system = SystemRandomNumberGenerator()
            return system.next()
        }
        let advanced = state &+ 0x9E37_79B9_7F4A_7C15
        self = .seeded(advanced)
        var word = (advanced ^ (advanced >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
