/// An HTTP proxy that lets connections out by CONNECT (RFC 9110, 9.3.6).
///
/// The proxy resolves the name of APNs; TLS runs through it from end to end, so it sees neither tokens nor content.
public struct APNsProxy: Sendable, Hashable {
    /// A name or an address.
    public var host: String
    public var port: Int
    /// For `Proxy-Authorization: Basic`; absent for an open proxy. The words travel to the proxy unprotected.
    public var credentials: Credentials?

    /// Name and password at the proxy.
    public struct Credentials: Sendable, Hashable {
        /// Without a colon (RFC 7617).
        public var user: String
        public var password: String

        /// Creates credentials.
        public init(user: String, password: String) {
            self.user = user
            self.password = password
        }
    }

    /// Creates a proxy.
    public init(host: String, port: Int, credentials: Credentials? = nil) {
        self.host = host
        self.port = port
        self.credentials = credentials
    }

    var isValid: Bool {
        guard !host.isEmpty, host.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), (1...65_535).contains(port) else {
            return false
        }
        guard let credentials else { return true }
        return !credentials.user.contains(":")
            && (credentials.user + credentials.password).utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}

extension APNsProxy: CustomStringConvertible {
    /// Never the credentials.
    public var description: String { "\(host):\(port)" }
}
