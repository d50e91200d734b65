#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A moment in Unix time, in whole milliseconds.
///
/// Milliseconds because APNs reports the death of a device token in them (Reference/APNs.md#4, status 410) and because an
/// integer compares the same in Swift, in SQLite and in PostgreSQL.
public struct Timestamp: Hashable, Comparable, Sendable, Codable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public let milliseconds: Int64

    /// Creates a moment from milliseconds since 1970.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Creates a moment from whole seconds since 1970; values beyond the range of milliseconds are clamped.
    public init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        milliseconds = overflow ? (seconds < 0 ? .min : .max) : product
    }

    /// Whole seconds since 1970, rounded down.
    public var seconds: Int64 { milliseconds / 1000 - (milliseconds % 1000 < 0 ? 1 : 0) }

    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }

    /// The moment `duration` later; clamped at the ends of the range.
    public static func + (moment: Timestamp, duration: Duration) -> Timestamp {
        let (sum, overflow) = moment.milliseconds.addingReportingOverflow(duration.wholeMilliseconds)
        return Timestamp(milliseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// The moment `duration` earlier; clamped at the ends of the range.
    public static func - (moment: Timestamp, duration: Duration) -> Timestamp { moment + (.zero - duration) }

    /// How long after `earlier` this moment is.
    public static func - (later: Timestamp, earlier: Timestamp) -> Duration {
        .milliseconds(later.milliseconds.subtractingReportingOverflow(earlier.milliseconds).partialValue)
    }

    public init(from decoder: any Decoder) throws {
        milliseconds = try decoder.singleValueContainer().decode(Int64.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(milliseconds)
    }
}

extension Duration {
    /// The duration in milliseconds, fractions cut off; clamped to 64 bits.
    public var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return overflow ? (seconds < 0 ? .min : .max) : product &+ attoseconds / 1_000_000_000_000_000
    }
}

/// The one source of time: for expiry, signing, leases and waiting alike.
///
/// Everything that asks for the time or waits takes one of these, so that a test can advance time by hand and no
/// test has to sleep.
public protocol ServiceClock: Sendable {
    /// The wall clock. It may jump; use it only for moments that leave the process.
    var now: Timestamp { get }

    /// Time since an arbitrary start. It never jumps; use it for deadlines and ages.
    var uptime: Duration { get }

    /// Waits until `uptime` has advanced by `duration`. Throws `CancellationError` when the task is cancelled.
    func sleep(for duration: Duration) async throws

    /// The latest steps of the wall clock, oldest first. Empty for a clock that does not watch for them.
    var steps: [ClockStep] { get }
}

/// The wall clock was set: it moved by more than the time that passed.
public struct ClockStep: Hashable, Sendable {
    /// When it was noticed, as `ServiceClock.uptime`.
    public var uptime: Duration
    /// How far the clock was set; negative is back, zero is not known.
    public var distance: Duration

    /// Creates a step.
    public init(uptime: Duration, distance: Duration) {
        self.uptime = uptime
        self.distance = distance
    }
}

extension ServiceClock {
    /// A clock that does not watch for steps.
    public var steps: [ClockStep] { [] }

    /// Whether the wall clock was set within the last `duration` of `uptime`.
    public func wasSet(within duration: Duration) -> Bool {
        // A clock that watches for steps notices one when it is read.
        _ = now
        let uptime = uptime
        return steps.contains { uptime - $0.uptime < duration }
    }

    /// How far the wall clock was set forward within the last `duration` of `uptime`, all steps together. By so much an age from
    /// before the steps is overstated.
    public func advance(within duration: Duration) -> Duration {
        let uptime = uptime
        return steps.reduce(.zero) { sum, step in
            uptime - step.uptime < duration ? sum + max(step.distance, .zero) : sum
        }
    }
}

extension ServiceClock where Self == SystemClock {
    /// The clock of the machine.
    public static var system: SystemClock { SystemClock() }
}

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
