/// How each client spells what it asks of installations (Reference/AzureNotificationHubs.md#2-6 and #5).
extension HubClient {
    /// Those that work with installations.
    static let installing: [HubClient] = [.dotNet, .java, .javaScript, .apple, .android, .go, .ruby]
    /// Those of them that read and patch.
    static let patching: [HubClient] = [.dotNet, .java, .javaScript, .go, .ruby]

    /// Ruby writes its query in the first request only.
    func installation(_ id: String, writing: Bool = false) -> String {
        self == .ruby && !writing ? "/demo/installations/\(id)" : "/demo/installations/\(id)?api-version=\(version)"
    }

    var installationHeaders: [(name: String, value: String)] {
        [("Content-Type", self == .dotNet || self == .apple ? "application/json; charset=utf-8" : "application/json")]
    }

    var patchHeaders: [(name: String, value: String)] {
        switch self {
        case .dotNet: [("Content-Type", "application/json-patch+json; charset=utf-8")]
        case .go: [("Content-Type", "application/json-patch+json")]
        default: [("Content-Type", "application/json")]
        }
    }

    /// The document of a put: the same installation in each client's spelling.
    func installationDocument(_ id: String, token: String) -> String {
        let templates = #""templates":{"t1":{"body":"{\"aps\":{\"alert\":\"$(message)\"}}","tags":["tt"]}}"#
        switch self {
        case .dotNet:
            return """
                {"installationId":"\(id)","pushChannel":"\(token)","pushChannelExpired":null,"platform":"apns","expirationTime":null,\
                "tags":["red","go"],"pushVariables":null,\
                "templates":{"t1":{"body":"{\\"aps\\":{\\"alert\\":\\"$(message)\\"}}","headers":null,"expiry":null,"tags":["tt"]}},\
                "secondaryTiles":null,"userId":null}
                """
        case .apple:
            return """
                {"installationId":"\(id)","pushChannel":"\(token.lowercased())","platform":"apns","tags":["red","go"],\
                "expirationTime":"2027-02-18T10:00+0000",\(templates)}
                """
        case .android:
            return """
                {"installationId":"\(id)","platform":"GCM","pushChannel":"\(token)","tags":["red","go"],\
                "expirationTime":"2027-02-18T10:00+0000","templates":{"t1":{"body":"{\\"data\\":{\\"m\\":\\"$(message)\\"}}","headers":{},"tags":["tt"]}}}
                """
        case .java:
            return
                #"{"installationId":"\#(id)","pushChannelExpired":false,"platform":"apns","pushChannel":"\#(token)","tags":["red","go"],\#(templates)}"#
        default:
            return #"{"installationId":"\#(id)","platform":"apns","pushChannel":"\#(token)","tags":["red","go"],\#(templates)}"#
        }
    }

    /// A list of changes: .NET names a value even where there is none.
    var patchDocument: String {
        let none = self == .dotNet ? #","value":null"# : ""
        return #"[{"op":"add","path":"/tags","value":"blue"},{"op":"remove","path":"/tags/red"\#(none)},"#
            + #"{"op":"add","path":"/templates/t2","value":"{\"body\":\"{\\\"aps\\\":{\\\"alert\\\":\\\"$(m)\\\"}}\"}"},"#
            + ##"{"op":"replace","path":"/templates/t1/body","value":"{\"aps\":{\"badge\":\"#(n)\"}}"}]"##
    }
}
