/// How a set of numbers is distributed.
struct Distribution: Equatable, Sendable {
    let count: Int
    let median: Int
    /// Nine of ten numbers are at most this one.
    let percentile90: Int
    let maximum: Int

    /// Returns `nil` without numbers.
    init?(_ numbers: [Int]) {
        let sorted = numbers.sorted()
        guard let last = sorted.last else { return nil }
        count = sorted.count
        median = sorted[sorted.count / 2]
        percentile90 = sorted[sorted.count * 9 / 10]
        maximum = last
    }
}
