/// The waits of a client. All of them end.
public struct APNsClientTiming: Sendable, Hashable {
    /// From `send` to an outcome, at most; a hundredth of it, and no more than 250 milliseconds, less at least.
    public var pushDeadline: Duration = .seconds(30)
    /// For name resolution and TCP.
    public var connect: Duration = .seconds(10)
    /// When the connection to one address takes longer, another address is tried beside it (Reference/APNs.md#1-2).
    public var slowConnect: Duration = .milliseconds(300)
    /// From TCP to the server's first SETTINGS.
    public var handshake: Duration = .seconds(10)
    /// A connection silent for longer is probed with a PING in the same write as its next request.
    public var silenceBeforePing: Duration = .seconds(30)
    /// With requests outstanding and nothing read for this long, the connection is probed.
    public var stallBeforePing: Duration = .seconds(10)
    /// For the answer to a PING; after that the connection counts as dead.
    public var pingAnswer: Duration = .seconds(8)
    /// A connection on which requests wait and none is answered for this long takes no more of them, though it may answer PING:
    /// so it ends with APNs after some refusals of a provider token (Reference/APNs.md#2-1).
    public var noAnswer: Duration = .seconds(20)
    /// Written bytes that the other machine does not acknowledge for this long end the connection, where the system can do that
    /// (Linux: TCP_USER_TIMEOUT); elsewhere the PING does it later. At least a millisecond.
    public var unacknowledged: Duration = .seconds(20)
    /// A connection without a push for this long is closed.
    public var idle: Duration = .seconds(15 * 60)
    /// For the answers still owed on a connection after a GOAWAY or at shutdown.
    public var drain: Duration = .seconds(30)
    /// The same on a connection whose provider token was refused, which often never answers again (Reference/APNs.md#2-1).
    public var drainAfterTokenFault: Duration = .seconds(5)
    /// The queue must have waited this long before a further connection is opened beside working ones.
    public var queueBeforeScaling: Duration = .milliseconds(100)
    /// Between two attempts to connect, at least.
    public var connectPace: Duration = .milliseconds(100)
    /// The first pause after a failed attempt; it doubles up to `maximumBackOff`.
    public var initialBackOff: Duration = .seconds(1)
    public var maximumBackOff: Duration = .seconds(60)
    /// The longest pause while APNs or the way to it is away and nothing that APNs says asks for more. Only while pushes wait is a
    /// connection tried, one in each pause, so that sending goes on within seconds of APNs' return.
    public var longestProbePause: Duration = .seconds(3)
    /// After APNs refused the credential, pushes end at once for this long before one more connection is tried.
    public var credentialPause: Duration = .seconds(60)

    /// The defaults (Reference/APNs.md#1-8).
    public init() {}
}

extension APNsClientTiming {
    /// Deadlines are looked at no more often than this, so that many close together cost one pass.
    var sweepInterval: Duration { min(max(pushDeadline / 100, .milliseconds(1)), .milliseconds(250)) }

    /// What a push gets on the event loop, so that the look that finds it late still keeps the promise.
    var timeLimit: Duration { max(pushDeadline - sweepInterval, pushDeadline / 2) }
}
