import Foundation

@testable import SharedAccess

/// Signatures as each client makes them, by the table of Reference/AzureNotificationHubs.md#1-3: written apart from the product's
/// own signer.
extension HubClient {
    /// How a client escapes its audience.
    private enum Escaping {
        /// As a form does: a blank becomes `+`.
        case form, rfc3986, component

        var unescaped: String {
            switch self {
            case .form: "-_.!*()"
            case .rfc3986: "-_.~"
            case .component: "-_.!~*'()"
            }
        }
    }

    /// The header of a request. `url` is the whole URL as the client sends it, `https://…`.
    func authorization(url: String, key: String, rule: String, now: Int64) throws -> String {
        let expiry = String(now + lifetime)
        let encoded = encodedAudience(url)
        guard let key = SharedAccessKey(key) else { throw ClientAnswer.Unreadable("no key") }
        let code = Data(key.signature(audience: encoded, expiry: expiry)).base64EncodedString()
        let signature = escaped(code, self == .python ? .component : .form, keeping: self == .python ? "/" : "")
        let fields = ["sr": encoded, "sig": signature, "se": expiry, "skn": rule]
        return "SharedAccessSignature " + order.map { "\($0)=\(fields[$0] ?? "")" }.joined(separator: "&")
    }

    private var order: [String] {
        switch self {
        case .go: ["se", "sig", "skn", "sr"]
        case .python, .nodeLegacy: ["sig", "se", "skn", "sr"]
        default: ["sr", "sig", "se", "skn"]
        }
    }

    private var lifetime: Int64 {
        switch self {
        case .dotNet, .appleLegacy, .apple: 20 * 60
        case .android, .androidLegacy, .nodeLegacy, .python: 5 * 60
        case .java, .javaScript, .go, .php, .ruby: 60 * 60
        }
    }

    private func encodedAudience(_ url: String) -> String {
        let authority = String(url.dropFirst(8).prefix { $0 != "/" })
        let host = String(authority.prefix { $0 != ":" })
        let path = String(url.dropFirst(8 + authority.count).prefix { $0 != "?" })
        let hub = path.split(separator: "/").first.map(String.init) ?? ""
        switch self {
        case .dotNet:
            return escaped("http://\(host)\(path)\(path.hasSuffix("/") ? "" : "/")".lowercased(), .form).lowercased()
        case .java: return escaped(url.lowercased(), .form).lowercased()
        case .javaScript: return escaped("https://\(authority)/".lowercased(), .component)
        case .nodeLegacy: return escaped(url.lowercased(), .component).lowercased()
        case .appleLegacy, .apple:
            return escaped("http://" + url.lowercased().dropFirst(8), .rfc3986).lowercased()
        case .android, .androidLegacy: return escaped(url, .form).lowercased()
        case .go: return escaped("https://\(authority)".lowercased(), .form)
        case .php:
            let isID = path.lowercased().contains("/registrationids")
            return escaped((isID ? String(url.prefix { $0 != "?" }) : url).lowercased(), .rfc3986).lowercased()
        case .ruby: return escaped("sb://\(authority)/".lowercased(), .form).lowercased()
        case .python: return escaped("https://\(authority)/\(hub)", .rfc3986).lowercased()
        }
    }

    private func escaped(_ text: String, _ escaping: Escaping, keeping more: String = "") -> String {
        text.utf8.map { byte in
            let scalar = Unicode.Scalar(byte)
            if byte < 0x80, Character(scalar).isLetter || Character(scalar).isNumber { return String(scalar) }
            if (escaping.unescaped + more).utf8.contains(byte) { return String(scalar) }
            if byte == 0x20, escaping == .form { return "+" }
            return String(format: "%%%02X", Int(byte))
        }.joined()
    }
}
