import RichPushModel
import Synchronization

/// The pace of the sends of a node, shared by its workers.
final class PushPacing: Sendable {
    private let pace = Mutex(PushPace())

    /// How long nothing of the send may leave, in whole milliseconds, which is what the queue counts in.
    func wait(of send: PushPace.Send, at uptime: Duration) -> Duration {
        let wait = pace.withLock { $0.wait(of: send, at: uptime) }
        let whole = wait.wholeMilliseconds
        return .milliseconds(.milliseconds(whole) < wait ? whole + 1 : whole)
    }

    /// How many targets are worth reading for the next page of the send; `nil` for no limit.
    func portion(of send: PushPace.Send) -> Int? { pace.withLock { $0.portion(of: send) } }

    /// Lets up to `wanted` pushes go and returns how many.
    func take(_ wanted: Int, of send: PushPace.Send, rate: Int, at uptime: Duration) -> Int {
        pace.withLock { $0.take(wanted, of: send, rate: rate, at: uptime) }
    }
}
