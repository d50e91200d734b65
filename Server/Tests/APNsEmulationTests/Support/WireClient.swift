import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL

@testable import APNsEmulation

/// A small HTTP/2 client for tests: every frame it sees can be inspected.
final class WireClient: Sendable {
    struct Request: Sendable {
        var headers: [(String, String)]
        var body: String?
    }

    struct Answer: Sendable, Equatable {
        var status: String
        var headers: [String: String]
        var body: String
    }

    /// What the connection saw beside answers.
    struct Observation: Sendable {
        /// Each SETTINGS frame as (parameter, value) pairs.
        var settings: [[String]] = []
        var goAways: [(last: Int, code: HTTP2ErrorCode, data: String)] = []
        /// Complete answers and GOAWAYs as they came.
        var order: [String] = []
        var resets: [(stream: Int, code: HTTP2ErrorCode)] = []
    }

    let channel: any Channel
    private let bound: NIOLoopBound<WireClientHandler>

    private init(channel: any Channel, bound: NIOLoopBound<WireClientHandler>) {
        self.channel = channel
        self.bound = bound
    }

    /// Connects and sends `early` before anything of the server can have arrived.
    static func connect(
        port: Int, trusting authorityPEM: String?, alpn: [String] = ["h2"], serverName: String? = "localhost",
        maximumTLS: TLSVersion? = nil, early: [Request] = [], certificate: IssuedCertificate? = nil
    ) async throws -> WireClient {
        let context = try authorityPEM.map {
            try tlsContext(trusting: $0, alpn: alpn, maximum: maximumTLS, certificate: certificate)
        }
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let handler = try await eventLoop.submit { NIOLoopBound(WireClientHandler(early: early), eventLoop: eventLoop) }.get()
        let channel = try await ClientBootstrap(group: eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let context {
                        try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: serverName))
                    }
                    try pipeline.addHandler(NIOHTTP2Handler(mode: .client, initialSettings: []))
                    try pipeline.addHandler(handler.value)
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        return WireClient(channel: channel, bound: handler)
    }

    private static func tlsContext(
        trusting pem: String, alpn: [String], maximum: TLSVersion?, certificate: IssuedCertificate?
    ) throws -> NIOSSLContext {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)))
        tls.applicationProtocols = alpn
        tls.maximumTLSVersion = maximum
        tls.shutdownTimeout = .milliseconds(50)
        if let certificate {
            let shown = try NIOSSLCertificate(bytes: Array(certificate.certificatePEM.utf8), format: .pem)
            let key = try NIOSSLPrivateKey(bytes: Array(certificate.privateKeyPEM.utf8), format: .pem)
            tls.certificateChain = [.certificate(shown)]
            tls.privateKey = .privateKey(key)
        }
        return try NIOSSLContext(configuration: tls)
    }

    /// Sends a request and waits for its answer; a reset or the end of the connection throws.
    func send(_ request: Request) async throws -> Answer {
        let bound = bound
        return try await channel.eventLoop.flatSubmit { bound.value.send(request) }.get()
    }

    /// Sends many requests at once and waits for all.
    func send(_ requests: [Request]) async throws -> [Result<Answer, any Error>] {
        let (bound, eventLoop) = (bound, channel.eventLoop)
        return try await eventLoop.flatSubmit {
            EventLoopFuture.whenAllComplete(requests.map { bound.value.send($0) }, on: eventLoop)
        }.get()
    }

    /// The outcomes of the early requests.
    func earlyAnswers() async throws -> [Result<Answer, any Error>] {
        let (bound, eventLoop) = (bound, channel.eventLoop)
        return try await eventLoop.flatSubmit {
            EventLoopFuture.whenAllComplete(bound.value.early, on: eventLoop)
        }.get()
    }

    func observation() async throws -> Observation {
        let bound = bound
        return try await channel.eventLoop.submit { bound.value.observation }.get()
    }

    func close() async throws { try await channel.close().get() }
}
