import WireText

/// A URL that another party gave, to which this server connects: a webhook, or the endpoint of a browser. It may point at what only this
/// server can reach.
public struct OutboundAddress: Hashable, Sendable {
    /// The most characters.
    public static let limit = 2_000

    /// As it came, with scheme and host in lower case and without a dot at the end of the host.
    public let url: String
    public let isSecure: Bool
    /// A name or an address, without brackets, in lower case and without a dot at its end.
    public let host: String
    public let port: Int

    /// Reads an absolute URL with the scheme `https` or `http`; `nil` for anything else, and with a user or a fragment.
    public init?(_ text: String) {
        do { try self.init(reading: text) } catch { return nil }
    }

    /// The same, and throws what is wrong.
    ///
    /// A host has letters, digits, hyphens and dots, or is an address. Every reader of the URL then finds the same host: no part of it is
    /// decoded, and an international name comes in its form for the name service.
    public init(reading text: String) throws(OutboundAddressFault) {
        // Byte by byte: each push to a browser reads one.
        let bytes = text.utf8
        guard bytes.count <= Self.limit else { throw .length }
        guard bytes.allSatisfy(Self.isOfURL) else { throw .character }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else { throw .scheme }
        let scheme = text[..<colon].lowercased()
        guard scheme == "https" || scheme == "http" else { throw .scheme }
        guard !bytes.contains(UInt8(ascii: "#")) else { throw .fragment }
        let rest = bytes[bytes.index(colon, offsetBy: 3)...]
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? bytes.endIndex
        let place = try Place(text[rest.startIndex..<end].lowercased())
        url = "\(scheme)://\(place.authority)\(text[end...])"
        isSecure = scheme == "https"
        host = place.host
        port = place.port ?? (isSecure ? 443 : 80)
    }

    /// Host and port as a URL has them, without the port that is usual.
    public var authority: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// Path and query, as a request names them. They may be a secret.
    public var target: String {
        let rest = url.utf8.dropFirst(isSecure ? "https://".utf8.count : "http://".utf8.count)
        guard let start = rest.firstIndex(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }) else { return "/" }
        return (rest[start] == UInt8(ascii: "?") ? "/" : "") + url[start...]
    }

    /// No character that a URL has only in encoded form.
    private static func isOfURL(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"), UInt8(ascii: "`"),
            UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            false
        default: (33...126).contains(byte)
        }
    }

    /// Where a URL leads.
    private struct Place {
        let host: String
        let port: Int?
        /// Host and port as they came, without a dot at the end of the host.
        let authority: String

        init(_ text: String) throws(OutboundAddressFault) {
            guard !text.contains("@") else { throw .user }
            let rest: Substring
            if text.hasPrefix("[") {
                guard let end = text.firstIndex(of: "]") else { throw .host }
                host = String(text[..<end].dropFirst())
                guard AddressRange.bytes(ofAddress: host)?.count == 16 else { throw .host }
                rest = text[text.index(after: end)...]
                authority = text
            } else {
                let written = text.prefix { $0 != ":" }
                // A name with a dot at its end is the same name, and certificates have it without.
                host = String(written.hasSuffix(".") ? written.dropLast() : written)
                guard (1...253).contains(host.utf8.count), host.utf8.allSatisfy(Self.isOfName), !".\(host).".contains("..") else {
                    throw .host
                }
                rest = text[written.endIndex...]
                authority = host + rest
            }
            if rest.isEmpty {
                port = nil
            } else {
                guard rest.first == ":", rest.dropFirst().utf8.allSatisfy({ (48...57).contains($0) }),
                    let number = Int(rest.dropFirst()), (1...65_535).contains(number)
                else { throw .port }
                port = number
            }
        }

        private static func isOfName(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "."), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }
}

/// Why a text is no URL to which this server connects. The words follow the name of the text, and have none of its characters.
public enum OutboundAddressFault: Error, Hashable, Sendable {
    case length, character, scheme, user, fragment, host, port
}

extension OutboundAddressFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .length: "has more than \(OutboundAddress.limit) characters"
        case .character: "has a blank, or a character that a URL has only in encoded form"
        case .scheme: "is not an absolute URL with https"
        case .user: "has a user before the host"
        case .fragment: "has a fragment"
        case .host: "has no host of letters, digits, hyphens and dots"
        case .port: "has a port that is not one of 1 to 65535"
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
        if address.host == "localhost" || address.host.hasSuffix(".localhost") { return refusal(of: "127.0.0.1", for: address) }
        if Self.isNumber(address.host) { return "the host is no name, and no IP address of four decimal numbers" }
        return address.isSecure || !networks.isEmpty ? nil : refusal(of: "", for: address)
    }

    /// Whether some readers take a host for an address in another form, such as `10.1` or `0x7f000001`: no name ends in a number.
    private static func isNumber(_ host: String) -> Bool {
        guard let last = host.split(separator: ".").last else { return false }
        if last.hasPrefix("0x") { return last.dropFirst(2).utf8.allSatisfy(\.isASCIIHexadecimalDigit) }
        return last.utf8.allSatisfy { (48...57).contains($0) }
    }
}
