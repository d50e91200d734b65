import Foundation

/// Requests of a hub's clients, with the least that makes them: a web client would cost more than what is measured.
struct HubCaller {
    private let port: UInt16
    private let token: String

    /// Signs with the key of the connection string.
    init(_ node: RunningNode) throws {
        port = node.port
        guard let range = node.connection.range(of: "SharedAccessKey=") else { throw CommandRun.Fault("there is no key") }
        let audience = "http%3a%2f%2f127.0.0.1%2f"
        let expiry = Int(Date().timeIntervalSince1970) + 3_600
        let digest = try CommandRun.client(
            ["openssl", "dgst", "-sha256", "-hmac", String(node.connection[range.upperBound...])], input: "\(audience)\n\(expiry)"
        ).output
        guard let hex = digest.split(whereSeparator: \.isWhitespace).last, hex.count == 64 else {
            throw CommandRun.Fault("openssl does not sign: \(digest)")
        }
        let characters = Array(hex)
        let bytes = stride(from: 0, to: 64, by: 2).compactMap { UInt8(String(characters[$0...($0 + 1)]), radix: 16) }
        let signature = Data(bytes).base64EncodedString().addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        token = "SharedAccessSignature sr=\(audience)&sig=\(signature)&se=\(expiry)&skn=DefaultFullSharedAccessSignature"
    }

    /// Registers a device that alone has the tag.
    func register(handle: String, tag: String) throws {
        let body = """
            <?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">\
            <AppleRegistrationDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">\
            <Tags>\(tag)</Tags><DeviceToken>\(handle)</DeviceToken></AppleRegistrationDescription></content></entry>
            """
        try post("registrations", ["Content-Type": "application/atom+xml"], body, status: 200)
    }

    /// Sends to one device.
    func send(_ body: String, to handle: String) throws {
        try post("messages/?direct&", message(["ServiceBusNotification-DeviceHandle": handle]), body, status: 201)
    }

    /// Sends to the devices of a tag at a second of the clock.
    func schedule(_ body: String, tag: String, at second: Int) throws {
        let time = Date(timeIntervalSince1970: Double(second)).formatted(.iso8601)
        let headers = ["ServiceBusNotification-Tags": tag, "ServiceBusNotification-ScheduleTime": time]
        try post("schedulednotifications", message(headers), body, status: 201)
    }

    private func message(_ headers: [String: String]) -> [String: String] {
        headers.merging(["ServiceBusNotification-Format": "apple", "Content-Type": "application/json;charset=utf-8"]) { $1 }
    }

    private func post(_ path: String, _ headers: [String: String], _ body: String, status: Int) throws {
        let query = path.contains("?") ? "api-version=2020-06" : "?api-version=2020-06"
        let head =
            ["POST /bench/\(path)\(query) HTTP/1.1", "Host: 127.0.0.1", "Connection: close", "Authorization: \(token)"]
            + headers.map { "\($0): \($1)" } + ["Content-Length: \(body.utf8.count)", "", ""]
        guard LoopbackSocket.answers(port: port, head.joined(separator: "\r\n") + body, with: "HTTP/1.1 \(status)") else {
            throw CommandRun.Fault("the hub does not answer \(path) with \(status)")
        }
    }
}
