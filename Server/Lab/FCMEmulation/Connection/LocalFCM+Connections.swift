import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOSSL
import NIOTLS
import ServiceEmulation

extension LocalFCMSettings.Identity {
    func tls() throws(LocalFCMError) -> NIOSSLContext {
        do {
            let chain = try NIOSSLCertificate.fromPEMBytes(Array(certificatePEM.utf8))
            let key = try NIOSSLPrivateKey(bytes: Array(privateKeyPEM.utf8), format: .pem)
            var tls = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            tls.minimumTLSVersion = .tlsv12
            tls.applicationProtocols = ["h2", "http/1.1"]
            tls.shutdownTimeout = .milliseconds(500)
            return try NIOSSLContext(configuration: tls)
        } catch {
            throw .badIdentity(cause: "\(error)")
        }
    }
}

/// One port serves every one of Google's hosts, over HTTP/2 and HTTP/1.1.
extension LocalFCM {
    /// How long a client has until it has said which protocol it speaks.
    private static let handshakeTime: Duration = .seconds(20)
    /// Access tokens of Google have up to 2 KB.
    private static let headerListSize = 32_768

    func configure(_ channel: any Channel, _ tls: NIOSSLContext) throws {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(NIOSSLServerHandler(context: tls))
        // A client that names no protocol speaks HTTP/1.1, as at Google.
        try pipeline.addHandler(
            ApplicationProtocolNegotiationHandler { result, channel in
                channel.eventLoop.makeCompletedFuture {
                    try self.speak(result == .negotiated("h2"), on: channel.pipeline.syncOperations)
                }
            })
        let deadline = LoopTimer.start(Self.handshakeTime, on: channel.eventLoop, clock: clock) {
            let waiting = try? channel.pipeline.syncOperations.handler(type: ApplicationProtocolNegotiationHandler.self)
            if waiting != nil { channel.close(promise: nil) }
        }
        channel.closeFuture.whenComplete { _ in deadline.cancel() }
    }

    private func speak(_ isHTTP2: Bool, on pipeline: ChannelPipeline.SynchronousOperations) throws {
        guard isHTTP2 else {
            try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: true, withErrorHandling: true)
            return try pipeline.addHandler(FCMHTTP1Handler(service: self))
        }
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: settings.bounds.streams),
            HTTP2Setting(parameter: .initialWindowSize, value: FCMHTTP2Handler.streamWindow),
            HTTP2Setting(parameter: .maxHeaderListSize, value: Self.headerListSize),
        ]
        try pipeline.addHandler(
            NIOHTTP2Handler(mode: .server, connectionConfiguration: connection, streamConfiguration: .init()))
        try pipeline.addHandler(FCMHTTP2Handler(service: self))
    }
}
