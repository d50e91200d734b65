import RichPushModel
import Synchronization

/// The pace of the slices in hand of a node, shared by its workers.
final class PushPacing: Sendable {
    private let pace = Mutex(PushPace())

    /// How long nothing of the slice may leave, in whole milliseconds, which is what the queue counts in.
    func wait(of slice: SliceID, at uptime: Duration) -> Duration {
        let wait = pace.withLock { $0.wait(of: slice, at: uptime) }
        let whole = wait.wholeMilliseconds
        return .milliseconds(.milliseconds(whole) < wait ? whole + 1 : whole)
    }

    /// Lets up to `wanted` pushes go and returns how many.
    func take(_ wanted: Int, of slice: SliceID, rate: Int, at uptime: Duration) -> Int {
        pace.withLock { $0.take(wanted, of: slice, rate: rate, at: uptime) }
    }
}
