#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The clock of the machine: wall time from the system, waiting on the continuous clock.
public struct SystemClock: ServiceClock {
    private static let start = ContinuousClock.now

    /// Creates a clock; all of them are the same clock.
    public init() {}

    public var now: Timestamp { Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down))) }

    public var uptime: Duration { ContinuousClock.now - Self.start }

    public func sleep(for duration: Duration) async throws {
        try await Task.sleep(for: duration, clock: .continuous)
    }
}
