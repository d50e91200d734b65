import AppBackend
import HTTPTypes
import ServiceErrors
import SharedAccess

/// Reads `Authorization`: Basic (RFC 7617) or the Bearer credential of an installation (RFC 6750).
enum AuthorizationHeader {
    /// Throws `unauthenticated` when there is none, more than one, or one that cannot be read. The detail never quotes it.
    static func credential(in headers: HTTPFields) throws(ServiceError) -> PresentedCredential {
        let values = headers[values: .authorization]
        guard let value = values.first else { throw ServiceError(.unauthenticated, "there is no Authorization header") }
        guard values.count == 1 else { throw ServiceError(.unauthenticated, "there is more than one Authorization header") }
        if let basic = BasicCredential(header: value) { return .basic(user: basic.user, password: basic.password) }
        guard let bearer = bearer(value) else {
            throw ServiceError(.unauthenticated, "the Authorization header cannot be read as Basic or Bearer")
        }
        return .bearer(bearer)
    }

    /// The most bytes of a header with a bearer credential: a token of an issuer has at most 8 KiB.
    private static let maximumBearerLength = 8_192 + 64

    private static func bearer(_ value: String) -> String? {
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer", value.utf8.count <= maximumBearerLength else { return nil }
        let text = parts[1].drop { $0 == " " }
        return !text.isEmpty && text.utf8.allSatisfy { (0x21..<0x7F).contains($0) } ? String(text) : nil
    }
}

/// Where a request came from, for counting failed sign-ins.
enum CallerAddress {
    /// The peer, or behind trusted proxies the last hop that is none of them. Entries left of that hop can be forged, so
    /// they are ignored.
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
