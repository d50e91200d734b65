import NIOConcurrencyHelpers
import RichPushModel

/// The moment by which a handler must have answered, on the clock's uptime. A route with a large body moves it.
public final class RequestDeadline: Sendable {
    private let moment: NIOLockedValueBox<Duration?>

    /// Creates a deadline at an uptime; `nil` means never.
    init(at moment: Duration?) { self.moment = NIOLockedValueBox(moment) }

    /// Moves the deadline to at least `moment`; it never comes nearer.
    public func extend(to moment: Duration) {
        self.moment.withLockedValue { current in
            if let old = current, old < moment { current = moment }
        }
    }

    /// Waits until the deadline, however often it is moved meanwhile.
    func wait(clock: any ServiceClock) async throws {
        while true {
            guard let moment = moment.withLockedValue({ $0 }) else {
                try await clock.sleep(for: .seconds(86_400))
                continue
            }
            let left = moment - clock.uptime
            guard left > .zero else { return }
            try await clock.sleep(for: left)
        }
    }
}
