import HTTPTypes

/// Where a request came from, for counting failed sign-ins.
enum CallerAddress {
    /// The peer, or behind trusted proxies the last hop that is none of them. What stands left of that hop anybody may have
    /// written, so it is not read.
    ///
    /// - Parameter forwarded: the values of `X-Forwarded-For` in their order.
    static func of(peer: String, forwarded: [String], isTrustedProxy: (String) -> Bool) -> String {
        guard isTrustedProxy(peer) else { return peer }
        let hops = forwarded.flatMap { $0.split(separator: ",") }.map { String($0.filter { !$0.isWhitespace }) }
        return hops.last { !isTrustedProxy($0) } ?? peer
    }

    /// Whether a proxy says that it forwards the request, in `X-Forwarded-For` or in `Forwarded` (RFC 7239). Addresses are read from
    /// the former only.
    static func isForwarded(_ headers: HTTPFields) -> Bool {
        headers[.forwardedFor] != nil || headers[.forwarded] != nil
    }
}

extension HTTPField.Name {
    /// `X-Forwarded-For`, as proxies write it.
    static let forwardedFor = HTTPField.Name("X-Forwarded-For") ?? .via
    /// `Forwarded`, the standard's.
    fileprivate static let forwarded = HTTPField.Name("Forwarded") ?? .via
}
