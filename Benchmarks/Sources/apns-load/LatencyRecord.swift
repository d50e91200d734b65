/// How long things took, in buckets that grow by an eighth: bounded memory, and no bucket is wider than 12.5 %.
struct LatencyRecord: Sendable {
    private var counts = [Int](repeating: 0, count: 64 * 8)
    private(set) var count = 0

    mutating func add(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        counts[Self.bucket(of: max(1, seconds * 1_000_000_000 + attoseconds / 1_000_000_000))] += 1
        count += 1
    }

    mutating func add(_ other: LatencyRecord) {
        for index in counts.indices { counts[index] += other.counts[index] }
        count += other.count
    }

    /// Milliseconds below which this share of all lies.
    func quantile(_ share: Double) -> Double {
        let rank = Int(Double(count) * share)
        var seen = 0
        for index in counts.indices {
            seen += counts[index]
            if seen > rank { return Self.upperEnd(of: index) / 1_000_000 }
        }
        return 0
    }

    private static func bucket(of nanoseconds: Int64) -> Int {
        let exponent = 63 - nanoseconds.leadingZeroBitCount
        let fraction = exponent >= 3 ? Int(nanoseconds >> Int64(exponent - 3)) & 7 : 0
        return exponent * 8 + fraction
    }

    private static func upperEnd(of bucket: Int) -> Double {
        let base = Double(UInt64(1) << UInt64(bucket / 8))
        return base + base * Double(bucket % 8 + 1) / 8
    }
}
