/// A registration as the clients read it out of an answer: what any one of them cannot read throws
/// (Reference/AzureNotificationHubs.md#0, #2-1 and #8-2).
struct RegistrationReading {
    let element: String
    private let fields: [(name: String, value: String)]
    /// The headers of a template. A list of exactly one makes the JavaScript client throw.
    let headers: [String: String]

    subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    var id: String { self["RegistrationId"] ?? "" }
    var etag: String { self["ETag"] ?? "" }
    var tags: [String] { self["Tags"].map { $0.split(separator: ",").map(String.init) } ?? [] }

    private static let connect = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"

    /// The order in which .NET's reader takes elements; those out of order are lost.
    private static let order = [
        "ETag", "ExpirationTime", "RegistrationId", "Tags", "PushVariables", "DeviceToken", "GcmRegistrationId",
        "FcmV1RegistrationId",
        "AdmRegistrationId", "XiaomiRegistrationId", "ChannelUri", "SecondaryTileName", "BaiduUserId", "BaiduChannelId",
        "Endpoint", "P256DH",
        "Auth", "BodyTemplate", "WnsHeaders", "MpnsHeaders", "Expiry", "TemplateName", "MessageType", "Priority", "ApnsHeaders",
    ]

    /// Reads the entry of an answer about one registration.
    static func entry(_ answer: ClientAnswer) throws -> RegistrationReading {
        let root = try XMLTree.read(answer.body)
        guard root.name == "entry" else { throw ClientAnswer.Unreadable("the root is \(root.name)") }
        return try RegistrationReading(entry: root, text: answer.body)
    }

    /// Reads the feed of an answer about several.
    static func feed(_ answer: ClientAnswer) throws -> [RegistrationReading] {
        let root = try XMLTree.read(answer.body)
        guard root.name == "feed", !root.hasMixedText else { throw ClientAnswer.Unreadable("no feed on one line") }
        return try root.children.filter { $0.name == "entry" }.map { try RegistrationReading(entry: $0, text: answer.body) }
    }

    private init(entry: XMLTree.Element, text: String) throws {
        guard !entry.hasMixedText else { throw ClientAnswer.Unreadable("text between elements") }
        guard let content = entry["content"], content.children.count == 1 else { throw ClientAnswer.Unreadable("no content") }
        let description = content.children[0]
        guard description.name.hasSuffix("RegistrationDescription"), description.name != "RegistrationDescription",
            description.attributes["xmlns"] == Self.connect, description.names.allSatisfy({ !$0.contains(":") })
        else { throw ClientAnswer.Unreadable("the description is not named by its type, without prefix") }
        element = description.name
        let places = description.children.map { Self.order.firstIndex(of: $0.name) ?? -1 }
        guard places == places.sorted(), Set(places).count == places.count, !places.contains(-1) else {
            throw ClientAnswer.Unreadable("elements out of order: \(description.children.map(\.name))")
        }
        let lists = description.children.filter { $0.name.hasSuffix("Headers") }
        headers = Dictionary(
            lists.flatMap(\.children).map { ($0["Header"]?.text ?? "", $0["Value"]?.text ?? "") }, uniquingKeysWith: { $1 })
        fields = description.children.filter { !$0.name.hasSuffix("Headers") }.map { ($0.name, $0.text) }
        try check()
    }

    private func check() throws {
        guard let expiry = self["ExpirationTime"], expiry.wholeMatch(of: #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/#) != nil else {
            throw ClientAnswer.Unreadable("ExpirationTime as Go and iOS need it")
        }
        guard Int(etag) != nil, !id.isEmpty else { throw ClientAnswer.Unreadable("no ETag or RegistrationId") }
        guard self["Tags"]?.contains(" ") != true else { throw ClientAnswer.Unreadable("a blank in Tags") }
        if let token = self["DeviceToken"], token != token.uppercased() {
            throw ClientAnswer.Unreadable("DeviceToken in lower case")
        }
    }
}
