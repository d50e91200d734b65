/// Where an S3-compatible store answers: scheme, host and perhaps a port.
public struct S3Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// Whether the way there is protected by TLS.
    public let isSecure: Bool
    /// A host name, an IPv4 address, or an IPv6 address in brackets.
    public let host: String
    /// The port; absent means that of the scheme.
    public let port: Int?

    /// Reads `https://host`, `http://host:port` and the like; `nil` for anything else, a path, a query or a user included.
    public init?(_ text: String) {
        let lowered = text.lowercased()
        guard let scheme = ["https://", "http://"].first(where: lowered.hasPrefix) else { return nil }
        isSecure = scheme == "https://"
        var rest = lowered.dropFirst(scheme.count)
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        let hostEnd: Substring.Index
        if rest.hasPrefix("[") {
            guard let bracket = rest.firstIndex(of: "]") else { return nil }
            hostEnd = rest.index(after: bracket)
            let inside = rest[rest.index(after: rest.startIndex)..<bracket]
            guard inside.contains(":"), inside.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else { return nil }
        } else {
            hostEnd = rest.firstIndex(of: ":") ?? rest.endIndex
            guard Self.isName(rest[..<hostEnd]) else { return nil }
        }
        host = String(rest[..<hostEnd])
        let tail = rest[hostEnd...]
        guard !tail.isEmpty else {
            port = nil
            return
        }
        guard tail.first == ":", let number = Int(tail.dropFirst()), (1...65_535).contains(number) else { return nil }
        port = number
    }

    /// As it stands in the `Host` header, for a name below it if one is given: without the port of the scheme.
    func authority(below name: String? = nil) -> String {
        let whole = name.map { "\($0).\(host)" } ?? host
        guard let port, port != (isSecure ? 443 : 80) else { return whole }
        return "\(whole):\(port)"
    }

    var scheme: String { isSecure ? "https" : "http" }

    public var description: String { "\(scheme)://\(authority())" }

    private static func isName(_ text: Substring) -> Bool {
        let letters = Set("abcdefghijklmnopqrstuvwxyz0123456789.-_")
        return (1...253).contains(text.count) && text.allSatisfy(letters.contains) && text.first != "." && text.first != "-"
    }
}
