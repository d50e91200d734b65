import HubProtocol
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import RichPushModel
import SharedAccess

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A notification hub elsewhere, reached by its protocol: another Clarion, or Azure's.
///
/// ```swift
/// let hub = try RemoteHub("Endpoint=sb://push.example.com/;SharedAccessKeyName=…;SharedAccessKey=…", hub: "demo")
/// let receipt = try await hub.send(.apple(#"{"aps":{"alert":"Hello"}}"#, tags: "vip && !city:Oslo"))
/// print(try await hub.details(of: receipt.id)?.state ?? .unknown)
/// try await hub.shutDown()
/// ```
///
/// Every call ends within `RemoteHubOptions.deadline` and throws `RemoteHubError`, or `CancellationError` when its task is
/// cancelled. Close it with `shutDown()`.
public final class RemoteHub: Sendable {
    /// The hub's name, as it stands in the paths.
    public let name: String
    /// The address of the server, without the key.
    public let endpoint: SharedAccessEndpoint

    let options: RemoteHubOptions
    let clock: any ServiceClock
    let logger: Logger
    let recent = RecentSends()
    private let transport: any HubTransport
    private let tokens: NIOLockedValueBox<SharedAccessTokenCache>
    private let audience: String

    /// Opens a hub by the text of its connection string and its name. No connection is made yet.
    public convenience init(
        _ connectionString: String, hub name: String, options: RemoteHubOptions = RemoteHubOptions(trustRootsPath: nil),
        logger: Logger = Logger(label: "clarion.remote-hub")
    ) throws(RemoteHubError) {
        let connection: ConnectionString
        do { connection = try ConnectionString(connectionString) } catch { throw .invalidRequest(error.description) }
        try self.init(connection, hub: name, options: options, logger: logger)
    }

    /// Opens a hub. Plain HTTP is possible only to this machine, which the connection string checks.
    public convenience init(
        _ connection: ConnectionString, hub name: String, options: RemoteHubOptions = RemoteHubOptions(trustRootsPath: nil),
        clock: any ServiceClock = .system, group: any EventLoopGroup = .singletonMultiThreadedEventLoopGroup,
        logger: Logger = Logger(label: "clarion.remote-hub")
    ) throws(RemoteHubError) {
        try Self.check(name: name)
        let transport = try HTTPClientTransport(options, group: group)
        try self.init(connection, hub: name, options: options, clock: clock, transport: transport, logger: logger)
    }

    init(
        _ connection: ConnectionString, hub name: String, options: RemoteHubOptions, clock: any ServiceClock,
        transport: any HubTransport, logger: Logger
    ) throws(RemoteHubError) {
        try Self.check(name: name)
        self.name = name
        self.options = options
        self.clock = clock
        self.logger = logger
        self.transport = transport
        endpoint = connection.endpoint
        audience = HubURL.text(base: connection.endpoint.baseURL, path: [name])
        tokens = NIOLockedValueBox(SharedAccessTokenCache(SharedAccessSigner(connection)))
    }

    private static func check(name: String) throws(RemoteHubError) {
        guard (1...260).contains(name.utf8.count), !name.contains(where: { "/?# $".contains($0) }) else {
            throw .invalidRequest("a hub's name has 1 to 260 characters, none of them / ? # $ or a blank")
        }
    }

    /// Closes the connections. Calls under way end with an error.
    public func shutDown() async throws { try await transport.shutDown() }

    /// Makes a call, with its repetitions, and returns an answer of an expected status.
    func answer(to call: RemoteCall) async throws -> HubResponse {
        let requestID = call.requestID ?? UUID().uuidString.lowercased()
        let end = clock.uptime + options.deadline
        var plan = RetryPlan(options)
        var mayBeDone = false
        while true {
            let attempt: RetryPlan.Attempt
            let failure: RemoteHubError
            do {
                let answer = try await transport.exchange(
                    request(call, requestID), within: min(options.attemptDeadline, end - clock.uptime))
                if call.expected.contains(answer.status) { return answer }
                failure = AnswerReading.error(of: answer, mayBeDone: mayBeDone)
                attempt = .answered(status: answer.status, retryAfter: failure.retryAfter)
            } catch let fault as TransportFault {
                if case .unreachable = fault {} else { mayBeDone = true }
                failure = AnswerReading.error(of: fault, mayBeDone: mayBeDone)
                attempt = .noAnswer
            }
            if case .refused(let status) = failure.reason, status >= 500 { mayBeDone = true }
            switch plan.decide(attempt, left: end - clock.uptime, jitter: .random(in: 0...1)) {
            case .finish: throw failure.with(requestID: requestID)
            case .retry(let pause):
                logger.debug(
                    "A hub elsewhere is asked again",
                    metadata: ["status": "\(failure.status ?? 0)", "request_id": "\(requestID)"])
                try await clock.sleep(for: pause)
            }
        }
    }

    /// The request of one attempt. A token that was good for the first may be over at the last.
    private func request(_ call: RemoteCall, _ requestID: String) -> HubRequest {
        let token = tokens.withLockedValue { $0.token(for: audience, now: clock.now) }
        let common = [
            HeaderField("Authorization", token), HeaderField("x-ms-version", options.apiVersion),
            HeaderField(SendHeaders.clientRequestIDName, requestID), HeaderField("User-Agent", "clarion-remote-hub"),
        ]
        return HubRequest(
            method: call.method,
            url: HubURL.text(
                base: audience, path: call.path, query: [HeaderField("api-version", options.apiVersion)] + call.query),
            headers: HeaderList(common + call.headers), body: call.body)
    }
}

/// How a hub elsewhere is spoken to. The defaults are those of the JavaScript client where it has any
/// (Reference/AzureNotificationHubs.md#6-3).
public struct RemoteHubOptions: Hashable, Sendable {
    /// How long one call may take with all its repetitions.
    public var deadline: Duration = .seconds(60)
    /// How long one attempt may take.
    public var attemptDeadline: Duration = .seconds(20)
    /// How often a call is retried after 408, 429, 500, 503, 504 or a broken connection.
    public var retries: Int = 3
    /// The wait before the first retry; it doubles each time.
    public var firstPause: Duration = .seconds(1)
    /// The longest wait between two attempts, a hub's `Retry-After` included; what asks for more ends the call.
    public var longestPause: Duration = .seconds(30)
    /// Certificates (PEM) that vouch for the hub besides the system's; for a hub with a certificate of its own authority.
    public var trustRootsPath: String?
    /// The `api-version` of every request.
    public var apiVersion = HubQuery.defaultVersion
    /// The largest answer that is read, in bytes.
    public var answerBytes = 32 * 1024 * 1024
    /// Connections at most.
    public var connections = 8
}

extension RemoteHubOptions {
    /// Creates options with the defaults.
    public init(trustRootsPath: String? = nil) { self.trustRootsPath = trustRootsPath }
}

/// One operation as the client asks for it, before signature, version and id are added.
struct RemoteCall: Sendable {
    var method: String
    /// Behind the hub's name.
    var path: [String]
    var query: [HeaderField] = []
    var headers: [HeaderField] = []
    var body: [UInt8] = []
    /// The statuses of success; others are errors. 404 stands here where it is an answer.
    var expected: Set<Int>
    /// The name under which repetitions are known; absent means a new one for this call.
    var requestID: String?
}

/// Decides after each attempt of a call whether there is another one, and when. A value without I/O.
///
/// As the JavaScript client does (Reference/AzureNotificationHubs.md#6-3): up to three repetitions after 408, 500, 503 and 504,
/// after 429 only with `Retry-After`, and after a connection that broke or did not come about.
struct RetryPlan {
    /// What an attempt came to.
    enum Attempt: Hashable {
        case answered(status: Int, retryAfter: Int?)
        case noAnswer
    }

    /// What to do now.
    enum Decision: Hashable {
        case finish
        case retry(after: Duration)
    }

    private let options: RemoteHubOptions
    private var repetitions = 0

    init(_ options: RemoteHubOptions) { self.options = options }

    /// The decision, given the time that is left for the call. `jitter` is from 0 to 1.
    mutating func decide(_ attempt: Attempt, left: Duration, jitter: Double) -> Decision {
        guard repetitions < options.retries, let asked = Self.asked(by: attempt) else { return .finish }
        let doubled = options.firstPause * (1 << repetitions)
        // Up to a quarter more, so that many callers do not come back in step; never less than the hub asks for.
        let pause = max(asked, min(doubled * (1 + jitter / 4), options.longestPause))
        guard pause <= options.longestPause, pause < left else { return .finish }
        repetitions += 1
        return .retry(after: pause)
    }

    /// The least wait; `nil` if the attempt is not retried.
    private static func asked(by attempt: Attempt) -> Duration? {
        switch attempt {
        case .noAnswer: .zero
        case .answered(408, let seconds), .answered(500, let seconds), .answered(503, let seconds), .answered(504, let seconds):
            .seconds(seconds ?? 0)
        case .answered(429, let seconds): seconds.map { .seconds($0) }
        case .answered: nil
        }
    }
}
