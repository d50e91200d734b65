import NIOConcurrencyHelpers
import NIOSSL

/// With what a listener proves who it is: a certificate chain and its key. Both can be replaced while it listens; connections that
/// stand keep what they began with.
public final class ServerIdentity: Sendable {
    /// What is wrong with a chain or key. Nothing of the key is in it.
    public enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        case chain
        case key
        /// The two do not belong together, or TLS cannot use them.
        case pair

        public var description: String {
            switch self {
            case .chain: "the certificate file holds no PEM certificates"
            case .key: "the key file holds no private key in PEM, or it is encrypted"
            case .pair: "certificate and key do not belong together"
            }
        }
    }

    private let current: NIOLockedValueBox<NIOSSLContext>

    /// Reads chain and key, both PEM, the server's own certificate first.
    public init(chainPEM: String, keyPEM: String) throws(Fault) {
        current = NIOLockedValueBox(try Self.context(chainPEM, keyPEM))
    }

    /// Takes another chain and key for connections from now on; throws and changes nothing when they are not fit for use.
    public func replace(chainPEM: String, keyPEM: String) throws(Fault) {
        let context = try Self.context(chainPEM, keyPEM)
        current.withLockedValue { $0 = context }
    }

    /// For TLS 1.2: forward secrecy, and ciphers that authenticate what they encrypt. CBC is not among them (RFC 9325, 4.2).
    private static let cipherSuites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    var context: NIOSSLContext { current.withLockedValue { $0 } }

    private static func context(_ chainPEM: String, _ keyPEM: String) throws(Fault) -> NIOSSLContext {
        guard let chain = try? NIOSSLCertificate.fromPEMBytes(Array(chainPEM.utf8)), !chain.isEmpty else { throw .chain }
        guard let key = try? NIOSSLPrivateKey(bytes: Array(keyPEM.utf8), format: .pem) else { throw .key }
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        tls.minimumTLSVersion = .tlsv12
        tls.cipherSuiteValues = Self.cipherSuites
        tls.applicationProtocols = ["h2", "http/1.1"]
        do { return try NIOSSLContext(configuration: tls) } catch { throw .pair }
    }
}
