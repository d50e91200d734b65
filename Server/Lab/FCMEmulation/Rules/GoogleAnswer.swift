import WireText

/// An answer of one of Google's services.
struct GoogleAnswer: Sendable {
    var status: Int
    var headers: [(name: String, value: String)]
    var body: String

    init(status: Int = 200, headers: [(name: String, value: String)] = [], body: String, type: String = "application/json") {
        (self.status, self.body) = (status, body)
        self.headers = [("content-type", type + "; charset=UTF-8")] + headers
    }

    /// A request broke a rule. All violations of the reader of JSON are named together, as Google does.
    init(_ violations: [FCMViolation], retryAfter: String? = nil) {
        guard let first = violations.first else {
            self.init(body: "{}")
            return
        }
        let (http, text) = (first.rule.facts.http, first.text)
        switch first.rule.facts.form {
        case .page: self = .page(http, text)
        case .oauth(let error):
            let members = [("error", JSONText.string(error)), ("error_description", JSONText.string(text))]
            self.init(status: http, body: JSONText.object(members))
        case .word(let error): self.init(status: http, body: JSONText.object([("error", JSONText.string(error))]))
        case .info(let status, let reason):
            self.init(error: http, status, text, details: [Self.errorInfo(reason)])
            if http == 401 { headers.append(Self.challenge(reason)) }
        case .bare(let status): self.init(error: http, status, text)
        case .reader:
            let alike = violations.filter { $0.rule.facts.form == .reader }
            let texts = alike.map(\.text).joined(separator: "\n")
            self.init(error: http, "INVALID_ARGUMENT", texts, details: [Self.badRequest(alike)])
        case .fcm(let status, let code):
            let fields = first.field == nil ? [] : [Self.badRequest([first])]
            self.init(error: http, status, text, details: fields + [Self.fcmError(code)], retryAfter: retryAfter)
        }
    }

    /// `google.rpc.Status` as JSON.
    init(error http: Int, _ status: String, _ message: String, details: [String] = [], retryAfter: String? = nil) {
        let error = JSONText.object([
            ("code", "\(http)"), ("message", JSONText.string(message)), ("status", JSONText.string(status)),
            ("details", details.isEmpty ? nil : "[\(details.joined(separator: ","))]"),
        ])
        self.init(
            status: http, headers: retryAfter.map { [("retry-after", $0)] } ?? [], body: JSONText.object([("error", error)]))
    }

    static func page(_ status: Int, _ text: String) -> GoogleAnswer {
        let body =
            "<!DOCTYPE html><html lang=en><meta charset=utf-8><title>Error \(status)</title><p><b>\(status).</b> \(text)</html>"
        return GoogleAnswer(status: status, body: body, type: "text/html")
    }

    static func fcmError(_ code: String) -> String {
        detail("google.firebase.fcm.v1.FcmError", [("errorCode", JSONText.string(code))])
    }

    private static func badRequest(_ violations: [FCMViolation]) -> String {
        let fields = violations.map {
            JSONText.object([("field", $0.field.map(JSONText.string)), ("description", JSONText.string($0.text))])
        }
        return detail("google.rpc.BadRequest", [("fieldViolations", "[\(fields.joined(separator: ","))]")])
    }

    private static func errorInfo(_ reason: String) -> String {
        let metadata = JSONText.object([("service", JSONText.string("fcm.googleapis.com"))])
        let members = [
            ("reason", JSONText.string(reason)), ("domain", JSONText.string("googleapis.com")), ("metadata", metadata),
        ]
        return detail("google.rpc.ErrorInfo", members)
    }

    private static func detail(_ type: String, _ members: [(name: String, value: String?)]) -> String {
        JSONText.object([("@type", JSONText.string("type.googleapis.com/\(type)"))] + members)
    }

    private static func challenge(_ reason: String) -> (name: String, value: String) {
        let error = reason == "CREDENTIALS_MISSING" ? "" : #", error="invalid_token""#
        return ("www-authenticate", #"Bearer realm="https://accounts.google.com/"\#(error)"#)
    }
}
