/// A URL that another party gave, to which this server connects: a webhook, or the endpoint of a browser. It may point at what only this
/// server can reach.
public struct OutboundAddress: Hashable, Sendable {
    /// The most characters.
    public static let limit = 2_000

    /// As it came, with scheme and host in lower case.
    public let url: String
    public let isSecure: Bool
    /// A name or an address, without brackets and in lower case.
    public let host: String
    public let port: Int

    /// Reads an absolute URL with the scheme `https` or `http`; `nil` for anything else, and with a user or a fragment.
    ///
    /// A host has letters, digits, hyphens and dots, or is an address. Every reader of the URL then finds the same host: no part of it is
    /// decoded, and an international name comes in its form for the name service.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.limit, text.utf8.allSatisfy({ (33...126).contains($0) && !Self.misread.contains($0) }),
            let end = text.firstRange(of: "://")
        else { return nil }
        let scheme = text[..<end.lowerBound].lowercased()
        let authority = text[end.upperBound...].prefix { $0 != "/" && $0 != "?" }.lowercased()
        guard scheme == "https" || scheme == "http", let (host, port) = Self.place(authority) else { return nil }
        url = "\(scheme)://\(authority)" + text[end.upperBound...].dropFirst(authority.utf8.count)
        isSecure = scheme == "https"
        self.host = host
        self.port = port ?? (isSecure ? 443 : 80)
    }

    /// Host and port as a URL has them, without the port that is usual.
    public var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// Path and query, as a request names them. They may be a secret.
    public var target: String {
        let rest = url.utf8.dropFirst(isSecure ? "https://".utf8.count : "http://".utf8.count)
        guard let start = rest.firstIndex(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }) else { return "/" }
        return (rest[start] == UInt8(ascii: "?") ? "/" : "") + url[start...]
    }

    /// Characters that a URL has only in encoded form, and the one that begins a fragment.
    private static let misread = Set("\"#<>\\^`{|}".utf8)

    private static func place(_ authority: String) -> (host: String, port: Int?)? {
        var rest = authority[...]
        let host: Substring
        if rest.hasPrefix("[") {
            guard let end = rest.firstIndex(of: "]") else { return nil }
            host = rest[rest.index(after: rest.startIndex)..<end]
            guard AddressRange.bytes(ofAddress: String(host))?.count == 16 else { return nil }
            rest = rest[rest.index(after: end)...]
        } else {
            host = rest.prefix { $0 != ":" }
            rest = rest.dropFirst(host.count)
            guard (1...253).contains(host.utf8.count), host.utf8.allSatisfy(isOfName) else { return nil }
        }
        guard !rest.isEmpty else { return (String(host), nil) }
        guard rest.first == ":", rest.dropFirst().utf8.allSatisfy({ (48...57).contains($0) }), let port = Int(rest.dropFirst()),
            (1...65_535).contains(port)
        else { return nil }
        return (String(host), port)
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

/// Where this server connects to when another party names the place: the public Internet with TLS, and what an operator allows.
public struct OutboundRule: Hashable, Sendable {
    /// The networks that are allowed besides, the only ones to which it speaks without TLS.
    public let networks: [AddressRange]
    /// The setting that lists them, for the reason of a refusal.
    public let setting: String

    /// Creates a rule.
    public init(networks: [AddressRange], setting: String) { (self.networks, self.setting) = (networks, setting) }

    /// Why the server does not connect to an IP address that the host of a URL has now; `nil` when it does.
    public func refusal(of ipAddress: String, for address: OutboundAddress) -> String? {
        if networks.contains(where: { $0.contains(ipAddress) }) { return nil }
        guard address.isSecure else { return "http is for networks that the setting \(setting) allows; use https" }
        guard AddressRange.isPublic(ipAddress) else {
            return "the host has an address that is not public, in no network of the setting \(setting)"
        }
        return nil
    }

    /// The same as far as the URL alone shows. What a name stands for has to be looked up each time.
    public func refusal(of address: OutboundAddress) -> String? {
        if AddressRange.bytes(ofAddress: address.host) != nil { return refusal(of: address.host, for: address) }
        if address.host.lowercased() == "localhost" { return refusal(of: "127.0.0.1", for: address) }
        return address.isSecure || !networks.isEmpty ? nil : refusal(of: "", for: address)
    }
}
