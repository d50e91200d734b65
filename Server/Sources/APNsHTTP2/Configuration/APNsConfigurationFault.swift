import APNsProtocol

/// Why a client cannot be made from a configuration. Safe to show: nothing of a key is in it.
public enum APNsConfigurationFault: Error, Hashable, Sendable {
    /// The host is empty or the port is not 1 to 65535.
    case endpoint
    /// The proxy's host, port or credentials cannot be used.
    case proxy
    /// The additional trust roots are no PEM certificates.
    case trustRoots
    /// The client certificate chain is no PEM certificates.
    case certificateChain
    /// The key of the client certificate is no PEM key.
    case certificateKey
    /// TLS cannot be set up for another reason.
    case tls
}

extension APNsConfigurationFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .endpoint: "the APNs endpoint needs a host and a port of 1 to 65535"
        case .proxy: "the proxy needs a host, a port of 1 to 65535, a user name without a colon and no control characters"
        case .trustRoots: "the additional trust roots for APNs are no PEM certificates"
        case .certificateChain: "the APNs client certificate is no PEM certificate chain"
        case .certificateKey: "the key of the APNs client certificate is no PEM private key"
        case .tls: "TLS to APNs cannot be set up with this configuration"
        }
    }
}
