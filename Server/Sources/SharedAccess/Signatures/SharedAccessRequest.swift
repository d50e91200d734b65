import RichPushModel

/// What is known of the request that a token came with.
public struct SharedAccessRequest: Sendable, Hashable {
    /// The names this server is known by, with or without port: the request's own authority, and public names in front of a proxy.
    public var hosts: [String]
    /// The path as sent, escapes and all; a query is ignored.
    public var path: String
    public var now: Timestamp

    /// Creates a description of a request.
    public init(hosts: [String], path: String, now: Timestamp) {
        self.hosts = hosts
        self.path = path
        self.now = now
    }
}
