/// An address that keys may be fetched from: `https`, and plain `http` for this machine alone
/// ([RFC 8725 section 3.10](https://www.rfc-editor.org/rfc/rfc8725#section-3.10)).
public struct WebAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address as it was given.
    public let text: String
    /// In lower case, an IPv6 address in brackets.
    public let host: String
    /// Whether the host is this machine.
    public let isLoopback: Bool
    /// Whether anything follows `?`.
    let hasQuery: Bool

    private static let maximumLength = 2_048

    /// Reads an address; `nil` for another scheme, user information, a fragment, a malformed host or port, a character that must be
    /// escaped, and for plain `http` to another machine.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.maximumLength, text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        let isSecure = text.hasPrefix("https://")
        guard isSecure || text.hasPrefix("http://") else { return nil }
        let rest = text.dropFirst(isSecure ? 8 : 7)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard let host = Self.host(of: authority) else { return nil }
        isLoopback = Self.isLoopback(host)
        guard isSecure || isLoopback else { return nil }
        self.text = text
        self.host = host
        hasQuery = text.contains("?")
    }

    public var description: String { text }

    /// Where an issuer with this address has its discovery document
    /// ([OpenID Connect Discovery section 4](https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig)).
    var discoveryAddress: String {
        (text.hasSuffix("/") ? String(text.dropLast()) : text) + "/.well-known/openid-configuration"
    }

    private static func host(of authority: Substring) -> String? {
        let end: Substring.Index
        if authority.first == "[" {
            guard let bracket = authority.firstIndex(of: "]") else { return nil }
            end = authority.index(after: bracket)
        } else {
            end = authority.firstIndex(of: ":") ?? authority.endIndex
        }
        let port = authority[end...]
        guard port.isEmpty || isPort(port.dropFirst()), port.first.map({ $0 == ":" }) ?? true else { return nil }
        let host = authority[..<end].lowercased()
        let isName = host.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
        return !host.isEmpty && (isName || isBracketed(host)) ? host : nil
    }

    private static func isBracketed(_ host: String) -> Bool {
        let inner = host.dropFirst().dropLast()
        return host.first == "[" && inner.contains(":") && inner.utf8.allSatisfy { isLetterOrDigit($0) || ":.".utf8.contains($0) }
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } && UInt16(text).map { $0 > 0 } == true
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    /// The characters of [RFC 3986 section 2](https://www.rfc-editor.org/rfc/rfc3986#section-2) without `#`: a fragment never reaches a
    /// server. `@` stands in the path of Firebase's key set; before the host it would make a port or a host that is none.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || "-._~:/?[]!$&'()*+,;=%@".utf8.contains(byte)
    }
}
