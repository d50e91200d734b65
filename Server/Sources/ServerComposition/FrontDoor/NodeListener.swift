/// The listeners of a node, for whoever is told which port one got.
public enum NodeListener: String, Sendable, CaseIterable {
    /// HTTP/1.1, for this machine or a proxy.
    case plain
    /// HTTP/2 and HTTP/1.1 over TLS.
    case tls
    /// HTTP/2 without TLS, by prior knowledge.
    case priorKnowledge
}
