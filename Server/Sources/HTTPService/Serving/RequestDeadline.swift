import NIOConcurrencyHelpers
import RichPushModel

/// The moment by which a handler must have answered, on the clock's uptime. A route with a large body moves it.
public final class RequestDeadline: Sendable {
    private let state: NIOLockedValueBox<Duration?>

    /// Creates a deadline at an uptime; `nil` means never.
    init(at moment: Duration?) { state = NIOLockedValueBox(moment) }

    /// When it is; `nil` means never.
    var moment: Duration? { state.withLockedValue { $0 } }

    /// Moves the deadline to at least `moment`; it never comes nearer.
    public func extend(to moment: Duration) {
        state.withLockedValue { current in
            if let old = current, old < moment { current = moment }
        }
    }
}
