import RichPushModel
import Synchronization

/// When how many pushes of paced slices may leave. A value; time is given to it.
///
/// Pushes that were let go are paid for in time: after n of them nothing of that slice leaves for n / rate seconds. At most a
/// quarter of a second's worth is let go at once, so that in no second more than 1.25 times the rate (and one push) leaves.
///
/// A slice is one node's at a time, and a node that gives it back says in the queue when it may go on: so what each keeps by itself
/// holds over all nodes.
struct PushPace: Hashable, Sendable {
    /// All that was let go is paid for after so long.
    static let longestWait: Duration = .seconds(1)

    private struct Account: Hashable {
        var rate: Int
        /// From this uptime on the next pushes may leave.
        var freeAt: Duration
    }

    private var accounts: [SliceID: Account] = [:]

    /// How many slices are remembered: those of which something left lately.
    var count: Int { accounts.count }

    /// How long nothing of the slice may leave; zero for one that is not paced, or not known yet.
    func wait(of slice: SliceID, at uptime: Duration) -> Duration {
        accounts[slice].map { max($0.freeAt - uptime, .zero) } ?? .zero
    }

    /// How many pushes leave at once.
    static func portion(rate: Int) -> Int { max(rate / 4, 1) }

    /// Lets up to `wanted` pushes go and returns how many: none while the slice has to wait.
    mutating func take(_ wanted: Int, of slice: SliceID, rate: Int, at uptime: Duration) -> Int {
        guard wait(of: slice, at: uptime) == .zero else { return 0 }
        forgetOld(at: uptime)
        let granted = min(wanted, Self.portion(rate: rate))
        accounts[slice] = Account(rate: rate, freeAt: uptime + .seconds(granted) / rate)
        return granted
    }

    /// A slice of which nothing left for a while owes nothing: forgetting it changes no answer.
    private mutating func forgetOld(at uptime: Duration) {
        accounts = accounts.filter { $0.value.freeAt + .seconds(60) > uptime }
    }
}

/// The pace of the slices that a node has leased, shared by its workers.
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
