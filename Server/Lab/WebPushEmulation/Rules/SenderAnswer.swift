import WireText

/// An answer to a sender.
struct SenderAnswer: Sendable {
    var status: Int
    var headers: [(name: String, value: String)]
    /// JSON; empty for most successes.
    var body: String

    init(status: Int, headers: [(name: String, value: String)] = [], body: String = "") {
        (self.status, self.headers, self.body) = (status, headers, body)
    }

    /// An error in the form that Mozilla's service gives it (Reference/WebPush.md#6-6).
    init(error status: Int, errno: Int?, message: String, headers: [(name: String, value: String)] = []) {
        self.init(status: status, headers: [("content-type", "application/json")] + headers)
        // Mozilla's service adds this so that a proxy can answer for it (Reference/WebPush.md#2-2).
        if status == 410 { self.headers.append(("cache-control", "max-age=86400")) }
        body = JSONText.object([
            ("code", "\(status)"), ("errno", errno.map { "\($0)" } ?? "null"),
            ("error", JSONText.string(Self.phrases[status] ?? "Error")), ("message", JSONText.string(message)),
            ("more_info", JSONText.string("Documentation/Reference/WebPush.md, section 6.6")),
        ])
    }

    /// A request broke a rule.
    init(_ rule: SenderRule) { self.init(error: rule.status, errno: rule.errno, message: rule.description) }

    private static let phrases = [
        400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 405: "Method Not Allowed", 410: "Gone",
        413: "Payload Too Large", 429: "Too Many Requests", 500: "Internal Server Error", 503: "Service Unavailable",
    ]
}
