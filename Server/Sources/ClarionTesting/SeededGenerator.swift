import Foundation

/// A random source that a seed makes repeatable (SplitMix64). A test that uses one prints its seed.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    public let seed: UInt64
    private var state: UInt64

    /// The number in TEST_SEED, which reproduces a failed test, else a new one each time.
    public static func newSeed() -> UInt64 {
        ProcessInfo.processInfo.environment["TEST_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
    }

    /// Creates a source.
    public init(seed: UInt64 = newSeed()) {
        self.seed = seed
        state = seed
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
