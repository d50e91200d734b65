import NIOCore
import NIOHTTP2
import NIOSSL

extension Listener {
    /// TLS 1.2 or later; ALPN `h2` for those who ask, and HTTP/2 all the same for those who do not. A client certificate
    /// is asked for, as Apple does of everybody, and not required (Reference/APNs.md#1-3).
    func tlsContext() throws -> NIOSSLContext {
        let leaf = try authority.issueServerCertificate(
            names: ["localhost", "127.0.0.1", "::1"] + configuration.names, subject: "Clarion local APNs", now: core.clock.now)
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

    /// The TLS side of a connection. A client certificate that this authority did not sign, that names no app or that was
    /// revoked fails the handshake; one outside its dates or of the other environment is complained about later.
    func makeTLSHandler(_ context: NIOSSLContext) -> NIOSSLServerHandler {
        let (authority, core) = (authority, core)
        let verify: NIOSSLCustomVerificationCallback = { shown, promise in
            guard let bytes = try? shown.first?.toDERBytes(), let certificate = authority.read(bytes) else {
                promise.succeed(.failed)
                return
            }
            let isRevoked = core.state.withLockedValue { $0.isRevoked(certificate.serialNumber) }
            promise.succeed(isRevoked ? .failed : .certificateVerified)
        }
        return NIOSSLServerHandler(context: context, customVerificationCallback: verify)
    }

    /// The library's own defences against floods are widened: its counters would strike an honest client that acknowledges
    /// many SETTINGS frames, which this server sends by design.
    func makeHTTP2Handler() -> NIOHTTP2Handler {
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = ServerSettings.initial(core.rules)
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
