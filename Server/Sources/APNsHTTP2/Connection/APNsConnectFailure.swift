import APNsProtocol
import NIOCore
import NIOSSL

/// The name of the server has no address that could be reached in time, and why. Safe to show.
struct APNsUnreachable: Error, CustomStringConvertible {
    /// Whether the name has no address, as far as the name service says.
    var isUnresolved = false
    var description = "the server cannot be reached"
}

extension APNsFailure {
    /// The word for an error of the channel. Before the first SETTINGS a TLS error means: the server is not trusted, or it
    /// refused the client's certificate.
    init(connectionError error: any Error, wasReady: Bool) {
        if let fault = error as? APNsProxyFault {
            self = fault == .unauthorized ? .proxyUnauthorized : .proxyRefused
            return
        }
        if let unreachable = error as? APNsUnreachable {
            self = unreachable.isUnresolved ? .nameNotResolved : .unreachable
            return
        }
        let isTLS = error is NIOSSLError || error is NIOSSLExtraError || error is BoringSSLError
        switch (wasReady, isTLS) {
        case (false, true): self = .tlsFailed
        case (false, false): self = .unreachable
        case (true, _): self = .connectionClosed
        }
    }
}

/// Why a proxy gave no tunnel. Safe to show.
enum APNsProxyFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// 407: it wants credentials, or other ones.
    case unauthorized
    case refused(status: Int)
    /// What it answered is no HTTP/1 response, or has no end.
    case malformed
    /// It did not answer in time.
    case noAnswer
    /// It closed the connection before it answered.
    case closed
    /// The tunnel stands, and TLS cannot begin in it.
    case unusable

    var description: String {
        switch self {
        case .unauthorized: "the proxy wants other credentials (407)"
        case .refused(let status): "the proxy refused the tunnel (\(status))"
        case .malformed: "the proxy did not answer in HTTP/1"
        case .noAnswer: "the proxy did not answer in time"
        case .closed: "the proxy closed the connection"
        case .unusable: "TLS cannot begin in the proxy's tunnel; is the server's name valid?"
        }
    }
}

/// Describes a failed TLS handshake for the operator, without key material.
enum TLSErrorDescription {
    /// The end of the sentence "the TLS handshake failed: ".
    static func sentence(for error: any Error) -> String {
        if let extra = error as? NIOSSLExtraError, extra == .failedToValidateHostname { return otherName }
        if error is APNsProxyFault { return "the proxy does not let it through" }
        // The reason names in the TLS library's error stack are part of its interface.
        let stack = "\(error)"
        let known = reasons.first { stack.contains($0.name) }
        return known?.sentence ?? "the server and this machine did not agree"
    }

    static let otherName = "the certificate is for another name"
    static let otherProtocol = "the server does not offer HTTP/2"

    private static let reasons = [
        (
            name: "CERTIFICATE_VERIFY_FAILED",
            sentence: "no authority that is trusted here vouches for the certificate, or it has expired"
        ),
        (name: "WRONG_VERSION_NUMBER", sentence: "the server does not speak TLS on this port"),
        (name: "UNSUPPORTED_PROTOCOL", sentence: "the server offers no TLS of version 1.2 or later"),
        (name: "ALERT", sentence: "the server refused the handshake; it may want a client certificate"),
        (name: "EOF during handshake", sentence: "the server ended the connection"),
    ]
}

extension NIOSSLCertificate {
    /// Whether one of the DNS names of this certificate is `expected` (RFC 6125: whole labels, `*` only as the first one).
    ///
    /// NIOSSL's own check is satisfied as well by an *address* in the certificate that is the peer's, even when a name was
    /// asked for. Authorities do certify addresses, so an attacker who diverts the name's DNS answer to another machine could
    /// pass for APNs. Where a name is expected, only a name may prove it.
    func isIssued(toName expected: String) -> Bool {
        let expected = Self.labels(expected.utf8)
        guard !expected.isEmpty else { return false }
        for name in _subjectAlternativeNames() where name.nameType == .dnsName {
            if Self.matches(Self.labels(Array(name.contents)), expected) { return true }
        }
        return false
    }

    private static func matches(_ pattern: [[UInt8]], _ expected: [[UInt8]]) -> Bool {
        guard pattern.count == expected.count else { return false }
        if pattern == expected { return true }
        // A wildcard stands for one label, and not directly below a top-level domain.
        return pattern.count > 2 && pattern[0] == [UInt8(ascii: "*")] && pattern.dropFirst() == expected.dropFirst()
    }

    private static func labels(_ name: some Sequence<UInt8>) -> [[UInt8]] {
        var bytes = name.map { byte -> UInt8 in (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
        if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        return bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { Array($0) }
    }
}
