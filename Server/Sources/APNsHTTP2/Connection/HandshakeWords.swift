import NIOSSL

/// What went wrong in a TLS handshake, in words for the operator. Nothing of a key is in them.
enum HandshakeWords {
    /// The end of the sentence "the TLS handshake failed: ".
    static func sentence(for error: any Error) -> String {
        if let extra = error as? NIOSSLExtraError, extra == .failedToValidateHostname { return otherName }
        if error is APNsProxyFault { return "the proxy does not let it through" }
        // The stack of the TLS library is told apart by the names of its reasons; they are part of its interface.
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
