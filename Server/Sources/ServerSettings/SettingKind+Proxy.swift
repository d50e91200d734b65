import APNsHTTP2

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension SettingKind where Value == APNsProxy {
    /// An HTTP proxy, perhaps with a name and a password. Never shown whole.
    static var proxy: SettingKind {
        .scalar("an address such as http://proxy.example:3128 or http://name:password@proxy.example:3128", parse: parse) {
            _ in "(secret)"
        }
    }

    private static func parse(_ text: String) -> APNsProxy? {
        guard let url = URL(string: text), url.scheme == "http", let host = url.host(), !host.isEmpty, let port = url.port,
            (1...65_535).contains(port), url.path().isEmpty || url.path() == "/", url.query() == nil, url.fragment() == nil
        else { return nil }
        guard let user = url.user(percentEncoded: false), !user.isEmpty else {
            return url.password() == nil ? APNsProxy(host: host, port: port) : nil
        }
        guard !user.contains(":") else { return nil }
        let password = url.password(percentEncoded: false) ?? ""
        return APNsProxy(host: host, port: port, credentials: .init(user: user, password: password))
    }
}
