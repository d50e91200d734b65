import SharedAccess

/// Scheme and authority of the links to files, such that whoever asked for one can reach it.
///
/// A request tells the name and port that its sender used, and this process knows whether it ended the TLS. What stands in front of
/// it, only the settings tell.
public struct LinkOrigin: Sendable, Hashable {
    /// How clients reach the server, `https://push.example.com`, where that was set.
    public var publicURL: String?
    /// Whether a proxy in front ends TLS, so that what arrives without may have come with it.
    public var isBehindTLSProxy: Bool

    /// Creates the rule.
    public init(publicURL: String? = nil, isBehindTLSProxy: Bool) {
        self.publicURL = publicURL
        self.isBehindTLSProxy = isBehindTLSProxy
    }

    /// The scheme with which the sender of a request came, as far as this process and the settings know.
    func scheme(isSecure: Bool) -> String {
        isSecure || isBehindTLSProxy || publicURL?.lowercased().hasPrefix("https:") == true ? "https" : "http"
    }

    /// The beginning of links in the answer to a request for that authority.
    func base(for authority: String, isSecure: Bool) -> String {
        if isSecure { return "https://\(authority)" }
        // Only from this machine can anybody ask for it by such a name, or a proxy that does not pass the name on.
        if SharedAccessEndpoint("http://\(authority)/") != nil { return publicURL ?? "http://\(authority)" }
        if let publicURL, publicURL.lowercased().hasSuffix("://\(authority.lowercased())") { return publicURL }
        return "\(isBehindTLSProxy ? "https" : "http")://\(authority)"
    }
}
