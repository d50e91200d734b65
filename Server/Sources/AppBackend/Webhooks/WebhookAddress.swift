import SharedAccess

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Where a webhook is: a URL that an administrator gave, so one that may point at what only this server can reach.
public struct WebhookAddress: Hashable, Sendable {
    /// The most characters.
    static let limit = 2_000

    public let url: String
    public let isSecure: Bool
    /// A name or an address, without brackets.
    public let host: String
    public let port: Int

    /// Reads an absolute URL with the scheme `https` or `http`; `nil` for anything else, and with a user or a fragment.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.limit, text.utf8.allSatisfy({ (33...126).contains($0) }),
            let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(), ["https", "http"].contains(scheme),
            var host = parts.host, !host.isEmpty, parts.user == nil, parts.password == nil, parts.fragment == nil,
            parts.port.map({ (1...65_535).contains($0) }) ?? true
        else { return nil }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        url = text
        isSecure = scheme == "https"
        self.host = host
        port = parts.port ?? (isSecure ? 443 : 80)
    }

    /// Why the server does not connect to an address that the host has now; `nil` when it does. `networks` are those that the operator
    /// allows besides the public Internet, the only ones to which it speaks without TLS.
    public func refusal(of address: String, allowing networks: [AddressRange]) -> String? {
        if networks.contains(where: { $0.contains(address) }) { return nil }
        guard isSecure else { return "http is for networks that the setting webhook-networks allows; use https" }
        guard AddressRange.isPublic(address) else {
            return "the host has an address that is not public, in no network of the setting webhook-networks"
        }
        return nil
    }

    /// Why no webhook can be there, as far as the URL alone shows.
    func refusal(allowing networks: [AddressRange]) -> String? {
        if AddressRange.bytes(ofAddress: host) != nil { return refusal(of: host, allowing: networks) }
        if host.lowercased() == "localhost" { return refusal(of: "127.0.0.1", allowing: networks) }
        // What the name stands for is looked up at each attempt.
        return isSecure || !networks.isEmpty ? nil : refusal(of: "", allowing: [])
    }
}
