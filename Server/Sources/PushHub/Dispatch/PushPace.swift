import RichPushModel

/// When how many pushes of paced sends may leave. A value; time is given to it.
///
/// Pushes that were let go are paid for in time: after n of them nothing of that send leaves for n / rate seconds. At most a
/// quarter of a second's worth is let go at once, so that in no second more than 1.25 times the rate (and one push) leaves.
struct PushPace: Hashable, Sendable {
    /// A send of a hub.
    struct Send: Hashable {
        let hub: HubID
        let notification: NotificationID

        init(_ slice: SliceID) {
            hub = slice.hub
            notification = slice.notification
        }
    }

    private struct Account: Hashable {
        var rate: Int
        /// From this uptime on the next pushes may leave.
        var freeAt: Duration
    }

    private var accounts: [Send: Account] = [:]

    /// How many sends are remembered: those of which something left lately.
    var count: Int { accounts.count }

    /// How long nothing of the send may leave; zero for one that is not paced, or not known yet.
    func wait(of send: Send, at uptime: Duration) -> Duration {
        accounts[send].map { max($0.freeAt - uptime, .zero) } ?? .zero
    }

    /// How many targets are worth reading for the next page of the send; `nil` for one that is not known yet.
    func portion(of send: Send) -> Int? { accounts[send].map { Self.portion(rate: $0.rate) } }

    /// Lets up to `wanted` pushes go and returns how many: none while the send has to wait.
    mutating func take(_ wanted: Int, of send: Send, rate: Int, at uptime: Duration) -> Int {
        guard wait(of: send, at: uptime) == .zero else { return 0 }
        forgetOld(at: uptime)
        let granted = min(wanted, Self.portion(rate: rate))
        accounts[send] = Account(rate: rate, freeAt: uptime + .seconds(granted) / rate)
        return granted
    }

    private static func portion(rate: Int) -> Int { max(rate / 4, 1) }

    /// A send of which nothing left for a while owes nothing: forgetting it changes no answer.
    private mutating func forgetOld(at uptime: Duration) {
        accounts = accounts.filter { $0.value.freeAt + .seconds(60) > uptime }
    }
}
