#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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

    /// 32 random bytes in lower-case hex.
    mutating func deviceToken() -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(64)
        for _ in 0..<4 {
            var word = next()
            for _ in 0..<16 {
                text.append(digits[Int(word & 15)])
                word >>= 4
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// 16 random bytes in base64, as channel ids are.
    mutating func channelID() -> String {
        let bytes = withUnsafeBytes(of: (next(), next())) { Data($0) }
        return bytes.base64EncodedString()
    }

    /// 128 random bits without version bits, as the ids that APNs makes.
    mutating func identifier() -> UUID {
        var bytes: UUID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        let (high, low) = (next(), next())
        withUnsafeMutableBytes(of: &bytes) { buffer in
            buffer.storeBytes(of: high, as: UInt64.self)
            buffer.storeBytes(of: low, toByteOffset: 8, as: UInt64.self)
        }
        return bytes
    }
}
