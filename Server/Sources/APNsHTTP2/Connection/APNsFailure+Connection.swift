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
