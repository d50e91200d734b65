/// How each client spells its sends (Reference/AzureNotificationHubs.md#2-7 to #2-10).
extension HubClient {
    /// Those that send.
    static let sending: [HubClient] = [.dotNet, .java, .javaScript, .nodeLegacy, .go, .php, .ruby, .python]
    static let batching: [HubClient] = [.dotNet, .java, .javaScript, .go]
    static let scheduling: [HubClient] = [.dotNet, .java, .javaScript, .nodeLegacy, .go, .php, .python]
    static let cancelling: [HubClient] = [.dotNet, .java, .javaScript, .nodeLegacy]
    static let observing: [HubClient] = [.dotNet, .java, .javaScript, .go]
    static let testing: [HubClient] = [.dotNet, .javaScript, .python]

    /// Where it sends to, with a flag such as `direct`.
    func messages(flag: String? = nil) -> String {
        let word = flag.map { flag in
            switch self {
            case .javaScript: "&\(flag)=true"
            case .go: "&\(flag)="
            default: "&\(flag)"
            }
        }
        switch self {
        case .ruby: return "/demo/messages/"
        case .python where flag == "direct": return "/demo/messages/?direct&api-version=\(version)"
        case .python, .php: return "/demo/messages/?api-version=\(version)" + (word ?? "")
        default: return "/demo/messages?api-version=\(version)" + (word ?? "")
        }
    }

    var batch: String {
        "/demo/messages/$batch?api-version=\(version)"
            + (self == .javaScript ? "&direct=true" : self == .go ? "&direct=" : "&direct")
    }

    var schedules: String {
        let slash = self == .javaScript || self == .php || self == .python ? "/" : ""
        return "/demo/schedulednotifications\(slash)?api-version=\(version)"
    }

    var jsonType: (name: String, value: String) {
        switch self {
        case .javaScript, .php, .ruby: ("Content-Type", "application/json;charset=utf-8")
        case .nodeLegacy: ("Content-Type", "application/json;charset=\"utf-8\"")
        case .java: ("Content-Type", "application/json; charset=UTF-8")
        default: ("Content-Type", "application/json")
        }
    }

    /// How it joins a list of tags.
    func joined(_ tags: [String]) -> String {
        switch self {
        case .dotNet, .javaScript, .ruby: tags.joined(separator: "||")
        default: tags.joined(separator: " || ")
        }
    }

    /// The headers of a send to Apple devices.
    func sendHeaders(format: String, tags: String? = nil, handle: String? = nil) -> [(name: String, value: String)] {
        var headers = [jsonType, ("ServiceBusNotification-Format", format)]
        if let tags { headers.append(("ServiceBusNotification-Tags", tags)) }
        if let handle { headers.append(("ServiceBusNotification-DeviceHandle", handle)) }
        guard format == "apple" else { return headers }
        switch self {
        case .dotNet: headers += [("ServiceBusNotification-Apns-Expiry", "11/21/2026 06:00:00"), ("X-Apns-Priority", "10")]
        case .java: headers += [("ServiceBusNotification-Apns-Expiry", "11/22/2026 02:45:00")]
        case .nodeLegacy: headers += [("ServiceBusNotification-Apns-Expiry", "2026-11-21T06:00:00.000Z")]
        case .javaScript: headers += [("apns-priority", "10"), ("apns-push-type", "alert"), ("apns-expiration", "1795240000")]
        case .go:
            headers += [
                ("X-Apns-Expiration", handle == nil ? "1795240000" : "\u{FFFD}"), ("X-Apns-Priority", "10"),
                ("X-Apns-Push-Type", "alert"),
            ]
        case .ruby: headers += [("apns-priority", "10"), ("apns-push-type", "alert")]
        default: break
        }
        return headers
    }

    /// A quarter past one in the morning of 22 November 2026, UTC.
    var scheduleTime: String {
        switch self {
        case .javaScript: "2026-11-22T01:15:00.000Z"
        case .python: "2026-11-22'T'01:15:00"
        case .nodeLegacy: "2026-11-22T01:15:00+00:00"
        default: "2026-11-22T01:15:00"
        }
    }

    /// A batch in its own multipart form: type of the request, and body (Reference/AzureNotificationHubs.md#0-12).
    func batchBody(_ payload: String, _ handles: [String]) -> (type: String, body: String) {
        let list = "[" + handles.map { "\"\($0)\"" }.joined(separator: ",") + "]"
        switch self {
        case .go:
            let boundary = "34feb64e6b1ea405f7369a606679e1692fa88c3763bd7aa3e6a7830394d8"
            let parts = [("notification", payload), ("devices", list)].map {
                "--\(boundary)\r\nContent-Disposition: inline; name=\($0.0)\r\nContent-Type: application/json\r\n\r\n\($0.1)"
            }
            return ("multipart/form-data; boundary=\(boundary)", parts.joined(separator: "\r\n"))
        case .java:
            return (
                "multipart/mixed; boundary = \"nh-batch-multipart-boundary\"",
                multipart(payload, list, typeName: "Content-type", end: "--\r\n")
            )
        case .javaScript:
            return (
                "multipart/mixed; boundary = \"nh-batch-multipart-boundary\"",
                multipart(payload, list, typeName: "Content-type", end: "--")
            )
        default:
            return (
                "multipart/mixed; boundary=\"nh-batch-multipart-boundary\"",
                multipart(payload, list, typeName: "Content-Type", end: "--\r\n")
            )
        }
    }

    private func multipart(_ payload: String, _ list: String, typeName: String, end: String) -> String {
        let parts = [("notification", payload), ("devices", list)].map {
            "--nh-batch-multipart-boundary\r\n\(typeName): application/json; charset=utf-8\r\nContent-Disposition: inline; name=\($0.0)\r\n\r\n\($0.1)\r\n"
        }
        return parts.joined() + "--nh-batch-multipart-boundary" + end
    }
}
