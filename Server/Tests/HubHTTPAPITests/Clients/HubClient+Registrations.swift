/// How each client spells what it asks of registrations (Reference/AzureNotificationHubs.md#2-1 to #2-5).
extension HubClient {
    static let connect = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
    private static let instance = "http://www.w3.org/2001/XMLSchema-instance"
    private static let atom = "http://www.w3.org/2005/Atom"

    /// Those that work with registrations.
    static let registering: [HubClient] = [.dotNet, .java, .javaScript, .nodeLegacy, .appleLegacy, .androidLegacy, .go, .php]

    /// Where it asks for a new id; `nil` for those that never do.
    var registrationIDs: String? {
        switch self {
        case .dotNet, .java, .nodeLegacy: "/demo/registrationids?api-version=\(version)"
        case .javaScript: "/demo/registrationIDs?api-version=\(version)"
        case .appleLegacy, .androidLegacy: "/demo/registrationids/?api-version=\(version)"
        case .php: "/demo/registrationIDs/?api-version=\(version)"
        case .go, .apple, .android, .ruby, .python: nil
        }
    }

    /// Where it creates and lists, with more of a query.
    func registrations(_ query: String = "") -> String {
        switch self {
        case .appleLegacy, .androidLegacy:
            query.isEmpty ? "/demo/Registrations/?api-version=\(version)" : "/demo/Registrations/?\(query)&api-version=\(version)"
        case .php: "/demo/registrations/?api-version=\(version)" + (query.isEmpty ? "" : "&" + query)
        default: "/demo/registrations?api-version=\(version)" + (query.isEmpty ? "" : "&" + query)
        }
    }

    func registration(_ id: String) -> String {
        let word = self == .appleLegacy || self == .androidLegacy ? "Registrations" : "registrations"
        return "/demo/\(word)/\(id)?api-version=\(version)"
    }

    var entryType: (name: String, value: String) {
        switch self {
        case .dotNet: ("Content-Type", "application/atom+xml; type=entry; charset=utf-8")
        case .java: ("Content-Type", "application/atom+xml; charset=UTF-8")
        case .javaScript, .go, .php: ("Content-Type", "application/atom+xml;type=entry;charset=utf-8")
        case .nodeLegacy: ("Content-Type", "text/xml;charset=\"utf-8\"")
        default: ("Content-Type", "application/xml")
        }
    }

    /// An entry in this client's spelling. `elements` are those of the description behind the tags.
    func entry(_ type: String, tags: String?, _ elements: [(name: String, value: String)], id: String? = nil, etag: String? = nil)
        -> String
    {
        let own = elements.map { "<\($0.name)>\($0.value)</\($0.name)>" }
        switch self {
        case .dotNet:
            let head =
                (etag.map { "<ETag>\($0)</ETag>" } ?? "")
                + (id.map { "<RegistrationId>\($0)</RegistrationId>" } ?? "<RegistrationId i:nil=\"true\" />")
            let list = tags.map { "<Tags>\($0)</Tags>" } ?? ""
            let empty = type.hasPrefix("AppleTemplate") && !own.contains { $0.hasPrefix("<ApnsHeaders") } ? "<ApnsHeaders />" : ""
            return
                "<entry xmlns=\"\(Self.atom)\"><content type=\"application/xml\"><RegistrationDescription i:type=\"\(type)\" xmlns:i=\"\(Self.instance)\" "
                + "xmlns=\"\(Self.connect)\">\(head)\(list)\(own.joined())\(empty)</RegistrationDescription></content></entry>"
        case .javaScript:
            return "<entry xmlns=\"\(Self.atom)\"><updated>2026-11-21T00:00:00.000Z</updated><content type=\"application/xml\">"
                + description(type, tags, own) + "</content></entry>"
        case .appleLegacy, .androidLegacy:
            return "<entry xmlns=\"\(Self.atom)\"><content type=\"text/xml\">" + description(type, tags, own)
                + "</content></entry>"
        case .go, .php:
            let lines = ["<Tags>\(tags ?? "")</Tags>"] + own
            return """
                <?xml version="1.0" encoding="utf-8"?>
                <entry xmlns="\(Self.atom)">
                  <content type="application/xml">
                    <\(type) xmlns:i="\(Self.instance)" xmlns="\(Self.connect)">
                      \(lines.joined(separator: "\n      "))
                    </\(type)>
                  </content>
                </entry>

                """
        default:
            return "<?xml version=\"1.0\" encoding=\"utf-8\"?><entry xmlns=\"\(Self.atom)\"><content type=\"application/xml\">"
                + description(type, tags, own) + "</content></entry>"
        }
    }

    private func description(_ type: String, _ tags: String?, _ own: [String]) -> String {
        let list = tags.map { "<Tags>\($0)</Tags>" } ?? ""
        return "<\(type) xmlns:i=\"\(Self.instance)\" xmlns=\"\(Self.connect)\">\(list)\(own.joined())</\(type)>"
    }

    /// The body of a template: some write it as it is, some escape it.
    func templateBody(_ text: String) -> String {
        switch self {
        case .dotNet, .nodeLegacy: text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
        default: "<![CDATA[\(text)]]>"
        }
    }

    /// The condition of an update; `nil` for those that never send one.
    func updateCondition(_ etag: String) -> String? {
        switch self {
        case .dotNet, .javaScript: "\"\(etag)\""
        case .java: "W/\"\(etag)\""
        case .nodeLegacy: etag
        default: nil
        }
    }

    /// The conditions with which it deletes.
    func deleteConditions(_ etag: String) -> [String] {
        switch self {
        case .dotNet: ["\"*\"", "\"\(etag)\""]
        case .javaScript: ["*", "\"\(etag)\""]
        case .java, .appleLegacy, .androidLegacy: ["*"]
        case .nodeLegacy: ["*", etag]
        default: [etag]
        }
    }

    /// The query with which it finds the registrations of an Apple token.
    func filter(token: String) -> String? {
        switch self {
        case .dotNet: "$filter=ChannelUri%20eq%20%27\(token)%27&$top=100"
        case .java: "$filter=ChannelUri+eq+%27\(token)%27"
        case .javaScript: "%24filter=DeviceToken%20eq%20'\(token.uppercased())'"
        case .appleLegacy: "$filter=deviceToken+eq+'\(token)'"
        case .php: "$filter=DeviceToken+eq+%27\(token)%27"
        default: nil
        }
    }
}
