#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension SettingKind where Value == AddressRange {
    /// An address, or a range such as `10.0.0.0/8`.
    static var addressRange: SettingKind {
        .scalar("an IP address or a range such as 10.0.0.0/8", parse: { AddressRange($0) }, format: { $0.description })
    }
}

extension SettingKind where Value == String {
    /// The address of a site: scheme and host, perhaps a port, nothing after them. `https`, or `http` to this machine.
    static var siteURL: SettingKind {
        .scalar(
            "an address such as https://push.example.com (http only for this machine; no path)",
            parse: { text in
                guard let url = URL(string: text), let host = url.host(), !host.isEmpty, url.user() == nil, url.query() == nil,
                    url.fragment() == nil, url.path().isEmpty || url.path() == "/"
                else { return nil }
                guard url.scheme == "https" || (url.scheme == "http" && AddressRange.isLoopback(host: host)) else { return nil }
                return text.hasSuffix("/") ? String(text.dropLast()) : text
            }, format: { $0 })
    }
}
