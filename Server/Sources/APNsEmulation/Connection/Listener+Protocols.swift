import NIOCore
import NIOHTTP2
import NIOSSL

extension Listener {
    /// TLS 1.2 or later; ALPN `h2` for those who ask, and HTTP/2 all the same for those who do not. A client certificate
    /// is asked for, as Apple does of everybody, and not required (APNs reference 1.3).
    func tlsContext() throws -> NIOSSLContext {
        let leaf = try authority.issueLeaf(names: configuration.names, now: core.clock.now)
        let chain = try NIOSSLCertificate.fromPEMBytes(Array((leaf.certificatePEM + "\n" + authority.certificatePEM).utf8))
        let key = try NIOSSLPrivateKey(bytes: Array(leaf.privateKeyPEM.utf8), format: .pem)
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        tls.minimumTLSVersion = .tlsv12
        tls.applicationProtocols = ["h2"]
        tls.certificateVerification = .optionalVerification
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(authority.certificatePEM.utf8)))
        tls.shutdownTimeout = .milliseconds(500)
        return try NIOSSLContext(configuration: tls)
    }

    /// The library's own defences against floods are widened: its counters would strike an honest client that acknowledges
    /// many SETTINGS frames, which this server sends by design.
    func makeHTTP2Handler() -> NIOHTTP2Handler {
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = ServerSettings.initial(streams: core.rules.firstConcurrentStreams)
        connection.maximumSequentialEmptyDataFrames = 100
        connection.maximumRecentlyResetStreams = 2_048
        connection.maximumConnectionGlitches = 1_000_000
        connection.controlFrameRateLimit.maximumCount = 10_000
        connection.controlFrameRateLimit.windowLength = .seconds(1)
        var stream = NIOHTTP2Handler.StreamConfiguration()
        stream.streamResetFrameRateLimit.maximumCount = 10_000
        stream.streamResetFrameRateLimit.windowLength = .seconds(1)
        stream.streamErrorRateLimit.maximumCount = 10_000
        stream.streamErrorRateLimit.windowLength = .seconds(1)
        return NIOHTTP2Handler(mode: .server, connectionConfiguration: connection, streamConfiguration: stream)
    }
}
