import ClarionTesting
import NIOPosix
import PushHub
import RichPushModel
import Synchronization

/// What goes wrong at a push service.
enum TransportTrouble: Hashable, Sendable {
    /// 429, with `TransportPromises.pause` in `Retry-After`.
    case tooMany
    /// 503, likewise.
    case overload
    /// 500.
    case serverError
    /// The service takes the push, and the connection ends before the answer.
    case lostAnswer
    /// The stream or the connection ends before the service takes the push.
    case cutOff
    /// The connection ends in order, and says that the push was not processed.
    case orderlyEnd
}

/// How a rig is set up.
struct RigTerms: Sendable {
    /// How long a batch may take.
    var deadline: Duration = .seconds(30)
    /// Whether the service knows the credential of the transport.
    var isCredentialGood = true
    /// Whether the service speaks HTTP/2, where it may be without.
    var speaksHTTP2 = true
    /// By which host the service is reached, and the names in its certificate, where a rig has a choice.
    var host = "127.0.0.1"
    var names = ["127.0.0.1"]
}

/// A transport on its real client, and the local service that it sends to, over real connections.
protocol TransportRig: Sendable {
    /// Runs `body` with a service and a transport, and ends both, whatever happens.
    static func run(_ terms: RigTerms, _ body: (Self) async throws -> Void) async throws

    var platform: Platform { get }
    var transport: any PushTransport { get }
    /// The most pushes that the transport may have under way at once.
    var width: Int { get }
    /// A token that the service never gave out.
    var strangeToken: DeviceToken { get }
    /// How many pushes have come to the service, or may have; since the silence where there was one.
    var heard: Int { get }

    /// Makes devices known to the service.
    func devices(_ count: Int) async throws -> [DeviceToken]
    /// The app leaves a device.
    func remove(_ device: DeviceToken) throws
    /// A body that shows a text.
    func body(_ text: String) -> [UInt8]
    /// How many pushes to each device the service has taken.
    func taken(by devices: [DeviceToken]) -> [Int]

    /// Plans a trouble for so many pushes, after others where the service can wait. Returns `false` where the protocol has no such thing.
    func plan(_ trouble: TransportTrouble, times: Int, after: Int) -> Bool
    /// From now on the service answers nothing, on connections that were of use before where the client shares them.
    func silence() async throws
    /// From now on each answer takes a while.
    func slowDown()
    /// Time passes at once, for the pauses of the transport.
    func skip(_ duration: Duration)
    /// Nothing listens any more.
    func endService() async throws
    /// Ends the client of the transport.
    func close() async
}

extension ManualClock {
    /// Runs `body` with a clock that goes as fast as the real one, and that a test may move on.
    static func whileRunning(_ body: (ManualClock) async throws -> Void) async throws {
        let clock = ManualClock(start: SystemClock().now)
        let last = Mutex(ContinuousClock.now)
        // Not a task: on a busy machine the threads of tasks may all be taken for seconds.
        let ticker = MultiThreadedEventLoopGroup.singleton.next().scheduleRepeatedTask(
            initialDelay: .zero, delay: .milliseconds(10)
        ) { _ in
            let now = ContinuousClock.now
            let passed = last.withLock { last in
                defer { last = now }
                return now - last
            }
            clock.advance(by: passed)
        }
        defer { ticker.cancel() }
        try await body(clock)
    }
}

extension PushOutcome {
    var isGone: Bool { if case .gone = self { true } else { false } }

    var isUnknown: Bool { if case .unknown = self { true } else { false } }

    var isMisconfigured: Bool { if case .misconfigured = self { true } else { false } }

    /// How long the next try has to wait, where the service refused for now.
    var pause: Duration? {
        switch self {
        case .retry(let after, _), .delayed(let after, _): after
        case .unavailable(_, let after): after
        default: nil
        }
    }

    /// Whether the push did not leave or was not taken, and is tried again without an operator.
    var isPutOff: Bool {
        switch self {
        case .retry, .delayed, .unavailable, .notSent: true
        case .accepted, .gone, .badToken, .rejected, .tooLarge, .unknown, .misconfigured, .unsupported: false
        }
    }

    /// Whether it agrees with how often the service took the push.
    func agrees(taken: Int) -> Bool {
        switch self {
        case .accepted: taken == 1
        case .unknown: taken <= 1
        default: taken == 0
        }
    }
}
