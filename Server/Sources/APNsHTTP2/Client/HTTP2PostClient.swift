import APNsProtocol
import Logging
import NIOCore
import NIOSSL
import RichPushModel

/// Posts to another push service than APNs: the same connections, queue and rules as for pushes to APNs, with the status and body of
/// each answer for the caller to judge.
///
/// Requests that were provably not processed are sent again by themselves, within their time: once where the service refused the stream.
/// Redirects are answers like any other.
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
    private let pathIndexing: HPACKEncoder.Indexing
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
        var configuration = Self.configuration(endpoint, connections)
        (configuration.service, configuration.transport) = (service, .tls(trust))
        client = try APNsClient(configuration: configuration, eventLoopGroup: eventLoopGroup, logger: logger)
        (self.answerBytes, pathIndexing, lateness) = (answerBytes, .indexed, configuration.timing.sweepInterval)
    }

    /// Creates a client of whatever server another party named. Nothing is connected yet, and a connection without requests is closed after
    /// a minute.
    ///
    /// Where the server does not choose HTTP/2, requests end at once as not sent (`otherProtocol`), then and later, and so do those that it
    /// wants by HTTP/1.1. They also end where no connection can be made. Paths are secrets. Nothing of a body is kept, so a status is the
    /// answer, whatever becomes of the body.
    ///
    /// - Parameters:
    ///   - endpoint: the address to connect to, and the name that TLS verifies.
    ///   - authority: the host of requests, with the port unless it is the usual one.
    ///   - connections: at most.
    /// - Throws: what is wrong with the endpoint.
    public init(
        toAny endpoint: APNsClientConfiguration.Endpoint, authority: String, security: HTTP2PostSecurity, connections: Int,
        eventLoopGroup: any EventLoopGroup, logger: Logger
    ) throws(APNsConfigurationFault) {
        var configuration = Self.configuration(endpoint, connections)
        (configuration.authority, configuration.isAnyServer) = (authority, true)
        configuration.timing.handshake = .seconds(5)
        configuration.timing.idle = .seconds(60)
        // A connection that is dead is found within the time of a request.
        (configuration.timing.stallBeforePing, configuration.timing.pingAnswer) = (.seconds(4), .seconds(4))
        client = try APNsClient(
            configuration: configuration, tls: security.context, eventLoopGroup: eventLoopGroup, logger: logger)
        (answerBytes, pathIndexing, lateness) = (0, .never, configuration.timing.sweepInterval)
    }

    private static func configuration(
        _ endpoint: APNsClientConfiguration.Endpoint, _ connections: Int
    ) -> APNsClientConfiguration {
        // The environment decides of hosts alone, and these are given.
        var configuration = APNsClientConfiguration(
            environment: .production, credential: .none, endpoint: endpoint, management: endpoint,
            limits: limits(connections: connections))
        configuration.countsStreams = true
        configuration.timing.connect = .seconds(5)
        return configuration
    }

    /// A service that refuses a request twice is left alone with it.
    static func limits(connections: Int) -> APNsClientLimits { APNsClientLimits(connections: connections, resends: 1) }

    /// What the client has and has done.
    public var metrics: APNsClientMetrics { client.metrics }

    /// Posts one request.
    ///
    /// - Parameters:
    ///   - path: remembered by the connection unless it is a secret, and so are the headers: they should recur.
    ///   - headers: in lower case.
    ///   - deadline: how long it may take.
    public func post(
        _ body: [UInt8], to path: String, headers: [(name: String, value: String)], within deadline: Duration
    ) async -> Reply {
        let (outcome, answer) = await client.perform(
            request(body, to: path, headers: headers),
            within: TimeAmount(clamping: max(deadline - lateness, deadline / 2)))
        switch outcome {
        case .accepted, .rejected: return .answered(Answer(answer))
        case .notSent(let failure): return .notSent(failure)
        // The status came before the body, and these need no more than that.
        case .unknown where speaksForItself(answer.status): return .answered(Answer(answer))
        case .unknown(let failure): return .unknown(failure)
        }
    }

    func request(_ body: [UInt8], to path: String, headers: [(name: String, value: String)]) -> sending HTTP2Request {
        HTTP2Request(
            method: .post, path: path, pathIndexing: pathIndexing,
            fields: headers.map {
                .init(name: $0.name, value: $0.value, indexing: Self.varying.contains($0.name) ? .nameOnly : .indexed)
            }, body: body,
            response: HTTP2Response(ofOtherService: answerBytes))
    }

    /// Headers whose values rarely recur. In the table they would take the place of those that do.
    private static let varying: Set = ["content-length", "topic"]

    /// Whether a status, 0 before there is one, says all that the caller takes.
    private func speaksForItself(_ status: Int) -> Bool {
        guard answerBytes > 0 else { return status > 0 }
        return (200..<300).contains(status) || status == 401 || status == 429 || status >= 500
    }

    /// Ends the client in order: what was handed over gets its answer until the limit.
    public func shutdown(within limit: Duration? = nil) async { await client.shutdown(within: limit) }

    /// Begins to end it, and does not wait.
    public func beginToShutDown() { client.beginToShutDown() }
}

extension HTTP2PostClient.Answer {
    fileprivate init(_ content: HTTP2Response.Content) {
        self.init(status: content.status, retryAfter: content.retryAfter, body: content.body)
    }
}

/// TLS for clients of whatever servers other parties name. Many clients share it, since reading the certificates of the system takes long.
public struct HTTP2PostSecurity: Sendable {
    let context: NIOSSLContext

    /// Throws what is wrong with the trust.
    public init(_ trust: APNsClientConfiguration.Trust) throws(APNsConfigurationFault) {
        var tls = try TLSConfiguration.apns(trust)
        // A server that is offered nothing else would end the handshake in some way of its own.
        tls.applicationProtocols = ["h2", "http/1.1"]
        do { context = try NIOSSLContext(configuration: tls) } catch { throw .tls }
    }
}
