import RichPushModel
import SQLStorage
import ServiceErrors

/// How a start bears a shared database that is away for a moment: it may be starting at the same time, or changing hands. What is wrong in
/// the settings, or refused, is told at once.
struct StartPatience {
    /// How long one step of a start is tried.
    static let total: Duration = .seconds(20)
    private static let firstPause: Duration = .milliseconds(250)
    private static let longestPause: Duration = .seconds(2)

    let clock: any ServiceClock
    /// How the database is called towards the operator.
    let place: String

    /// Does one step of a start, which may be done again. Throws a sentence for the operator when the database stays away.
    func callAsFunction<Value>(_ step: () async throws -> Value) async throws -> Value {
        let end = clock.uptime + Self.total
        var pause = Self.firstPause
        while true {
            do { return try await step() } catch {
                guard let reason = Self.passingReason(error) else { throw error }
                guard clock.uptime < end else { throw failure(reason) }
            }
            // Half of it by chance, so that nodes that were started together do not come back together.
            try await clock.sleep(for: pause / 2 + pause * Double.random(in: 0...0.5))
            pause = min(pause * 2, Self.longestPause)
        }
    }

    /// Why nothing came of it, for what may be otherwise the next time.
    private static func passingReason(_ error: any Error) -> String? {
        switch error {
        case SQLFault.unavailable(let reason): reason
        case SQLFault.outcomeUnknown: "it broke while writing"
        case let error as ServiceError where [.storageUnavailable, .outcomeUnknown].contains(error.code):
            error.detail ?? error.code.rawValue
        default: nil
        }
    }

    private func failure(_ reason: String) -> ServiceError {
        let seconds = Self.total.components.seconds
        return ServiceError(
            .storageUnavailable, "the database \(place) could not be used for \(seconds) seconds at the start: \(reason)")
    }
}
