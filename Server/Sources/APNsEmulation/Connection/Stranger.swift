import NIOHTTP2
import NIOSSL

/// A client that never came to speak HTTP/2, and the likely cause: what its own error message seldom says.
enum Stranger: Equatable {
    case speaksNoTLS
    case distrustsAuthority
    case hasBadCertificate
    case failsHandshake
    case speaksNoHTTP2

    /// `nil` for other errors, and for a connection that ended without a word, as port scans do.
    init?(_ error: any Error) {
        switch error {
        case is NIOHTTP2Errors.BadClientMagic: self = .speaksNoHTTP2
        case NIOSSLError.handshakeFailed(.sslError([.eofDuringHandshake])): return nil
        case NIOSSLError.handshakeFailed(let cause): self.init(handshake: "\(cause)")
        default: return nil
        }
    }

    /// By the names of BoringSSL: an alert is the client's word.
    init(handshake cause: String) {
        let cause = cause.uppercased()
        if ["ALERT_UNKNOWN_CA", "ALERT_BAD_CERTIFICATE", "ALERT_CERTIFICATE_UNKNOWN"].contains(where: cause.contains) {
            self = .distrustsAuthority
        } else if cause.contains("CERTIFICATE_VERIFY_FAILED") {
            self = .hasBadCertificate
        } else if ["HTTP_REQUEST", "HTTPS_PROXY_REQUEST", "WRONG_VERSION_NUMBER"].contains(where: cause.contains) {
            self = .speaksNoTLS
        } else {
            self = .failsHandshake
        }
    }

    var complaint: ClientComplaint.Kind { self == .speaksNoHTTP2 ? .spokeNoHTTP2 : .failedHandshake }

    var cause: String {
        switch self {
        case .speaksNoTLS: "it spoke no TLS"
        case .distrustsAuthority: "it does not trust the authority of the local APNs, authority.pem"
        case .hasBadCertificate: "its client certificate is refused: of another authority, without an app, or revoked"
        case .failsHandshake: "the TLS handshake failed"
        case .speaksNoHTTP2: "it spoke something else than HTTP/2, such as HTTP/1.1"
        }
    }
}

extension EmulatorConnectionHandler {
    /// Counts it, and says so in the log at most every ten seconds for each kind.
    func notice(_ stranger: Stranger, _ error: any Error) {
        let uptime = core.clock.uptime
        let isNews = core.state.withLockedValue { state in
            state.misdeeds[stranger.complaint, default: 0] += 1
            let isNews = state.strangers[stranger.complaint, default: RateWindow()].recent(seconds: 10, uptime: uptime) == 0
            if isNews { state.strangers[stranger.complaint, default: RateWindow()].add(seconds: 10, uptime: uptime) }
            return isNews
        }
        guard isNews else { return }
        logger.info(
            "A client of the local APNs did not come to speak HTTP/2",
            metadata: ["connection": "\(number)", "reason": "\(stranger.cause)", "error": "\(error)"])
    }
}
