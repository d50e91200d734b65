import APNsProtocol
import Logging
import NIOCore
import RichPushModel

/// Posts to another push service than APNs: the same connections, queue and rules as for pushes to APNs, with the status and body of
/// each answer for the caller to judge.
///
/// Requests that were provably not processed are sent again by themselves, within their time. Redirects are answers like any other.
public final class HTTP2PostClient: Sendable {
    /// What the service answered.
    public struct Answer: Sendable {
        public let status: Int
        /// Seconds or a date, as the header said; at most 64 bytes of it.
        public let retryAfter: String?
        /// The beginning of the body, as much as the client takes.
        public let body: [UInt8]
    }

    /// What became of one request.
    public enum Reply: Sendable {
        case answered(Answer)
        /// It was provably not processed.
        case notSent(APNsFailure)
        /// It may have been processed.
        case unknown(APNsFailure)
    }

    private let client: APNsClient
    private let answerBytes: Int
    /// A look at the deadlines may come so much later.
    private let lateness: Duration

    /// Creates a client. Nothing is connected yet.
    ///
    /// - Parameters:
    ///   - service: whom it speaks to, for the log.
    ///   - connections: at most; each carries as many requests at once as the service allows.
    ///   - answerBytes: how much of a body is kept.
    /// - Throws: what is wrong with the endpoint or the trust.
    public init(
        to endpoint: APNsClientConfiguration.Endpoint, of service: String, trust: APNsClientConfiguration.Trust,
        connections: Int, answerBytes: Int, eventLoopGroup: any EventLoopGroup, logger: Logger
    ) throws(APNsConfigurationFault) {
        // The environment decides of hosts alone, and these are given.
        var configuration = APNsClientConfiguration(
            environment: .production, credential: .none, endpoint: endpoint, management: endpoint, transport: .tls(trust),
            limits: APNsClientLimits(connections: connections))
        (configuration.service, configuration.countsStreams) = (service, true)
        configuration.timing.connect = .seconds(5)
        client = try APNsClient(configuration: configuration, eventLoopGroup: eventLoopGroup, logger: logger)
        (self.answerBytes, lateness) = (answerBytes, configuration.timing.sweepInterval)
    }

    /// What the client has and has done.
    public var metrics: APNsClientMetrics { client.metrics }

    /// Posts one request.
    ///
    /// - Parameters:
    ///   - path: remembered by the connection, and so are the headers: they should recur.
    ///   - headers: in lower case.
    ///   - deadline: how long it may take.
    public func post(
        _ body: [UInt8], to path: String, headers: [(name: String, value: String)], within deadline: Duration
    ) async -> Reply {
        let fields = headers.map { HTTP2Request.Field(name: $0.name, value: $0.value, indexing: .indexed) }
        let (outcome, answer) = await client.perform(
            HTTP2Request(
                method: .post, path: path, pathIndexing: .indexed, fields: fields, body: body,
                response: HTTP2Response(ofOtherService: answerBytes)),
            within: TimeAmount(clamping: max(deadline - lateness, deadline / 2)))
        switch outcome {
        case .accepted, .rejected: return .answered(Answer(answer))
        case .notSent(let failure): return .notSent(failure)
        // The status came before the body, and these need no more than that.
        case .unknown where Self.speaksForItself(answer.status): return .answered(Answer(answer))
        case .unknown(let failure): return .unknown(failure)
        }
    }

    private static func speaksForItself(_ status: Int) -> Bool {
        (200..<300).contains(status) || status == 401 || status == 429 || status >= 500
    }

    /// Ends the client in order: what was handed over gets its answer until the limit.
    public func shutdown(within limit: Duration? = nil) async { await client.shutdown(within: limit) }
}

extension HTTP2PostClient.Answer {
    fileprivate init(_ content: HTTP2Response.Content) {
        self.init(status: content.status, retryAfter: content.retryAfter, body: content.body)
    }
}
