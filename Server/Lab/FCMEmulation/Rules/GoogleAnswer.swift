import WireText

/// An answer of one of Google's services.
struct GoogleAnswer: Sendable {
    /// The canonical status of `google.rpc.Status` for each status of HTTP.
    static let canonicalStatuses = [
        400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 409: "ALREADY_EXISTS",
        429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE",
    ]

    var status: Int
    var headers: [(name: String, value: String)]
    var body: String
    /// `FcmError.errorCode` of the body; `nil` where it has none.
    var errorCode: String?

    init(status: Int = 200, body: String, type: String = "application/json") {
        (self.status, self.body, headers) = (status, body, [("content-type", type + "; charset=UTF-8")])
    }

    /// A request broke a rule. All violations of the reader of JSON are named together, as Google does.
    init(_ violations: [FCMViolation], retryAfter: String? = nil) {
        guard let first = violations.first else {
            self.init(body: "{}")
            return
        }
        let (http, text) = (first.rule.status, first.text)
        switch first.rule.facts.form {
        case .page: self = .page(http, text)
        case .oauth(let error):
            self.init(status: http, body: JSONText.texts(["error": error, "error_description": text]))
        case .word(let error): self.init(status: http, body: JSONText.texts(["error": error]))
        case .info(let reason):
            let members = [
                ("reason", JSONText.string(reason)), ("domain", JSONText.string("googleapis.com")),
                ("metadata", JSONText.texts(["service": "fcm.googleapis.com"])),
            ]
            self.init(error: http, text, details: [Self.detail("google.rpc.ErrorInfo", members)])
            let error = reason == "CREDENTIALS_MISSING" ? "" : #", error="invalid_token""#
            let challenge = #"Bearer realm="https://accounts.google.com/""# + error
            if http == 401 { headers.append(("www-authenticate", challenge)) }
        case .bare: self.init(error: http, text)
        case .reader:
            let alike = violations.filter { $0.rule.facts.form == .reader }
            self.init(error: http, alike.map(\.text).joined(separator: "\n"), details: [Self.badRequest(alike)])
        case .fcm(let code):
            let fields = first.field == nil ? [] : [Self.badRequest([first])]
            self.init(error: http, text, code: code, details: fields, retryAfter: retryAfter)
        }
    }

    /// `google.rpc.Status` as JSON, with a code of FCM or without.
    init(error http: Int, _ message: String, code: String? = nil, details: [String] = [], retryAfter: String? = nil) {
        let fcmError = code.map { Self.detail("google.firebase.fcm.v1.FcmError", [("errorCode", JSONText.string($0))]) }
        let details = details + (fcmError.map { [$0] } ?? [])
        let error = JSONText.object([
            ("code", "\(http)"), ("message", JSONText.string(message)),
            ("status", Self.canonicalStatuses[http].map(JSONText.string)),
            ("details", details.isEmpty ? nil : "[\(details.joined(separator: ","))]"),
        ])
        self.init(status: http, body: JSONText.object([("error", error)]))
        errorCode = code
        if let retryAfter { headers.append(("retry-after", retryAfter)) }
    }

    static func page(_ status: Int, _ text: String) -> GoogleAnswer {
        let body =
            "<!DOCTYPE html><html lang=en><meta charset=utf-8><title>Error \(status)</title><p><b>\(status).</b> \(text)</html>"
        return GoogleAnswer(status: status, body: body, type: "text/html")
    }

    private static func badRequest(_ violations: [FCMViolation]) -> String {
        let fields = violations.map {
            JSONText.object([("field", $0.field.map(JSONText.string)), ("description", JSONText.string($0.text))])
        }
        return detail("google.rpc.BadRequest", [("fieldViolations", "[\(fields.joined(separator: ","))]")])
    }

    private static func detail(_ type: String, _ members: [(name: String, value: String?)]) -> String {
        JSONText.object([("@type", JSONText.string("type.googleapis.com/\(type)"))] + members)
    }
}

extension JSONText {
    /// An object of texts.
    static func texts(_ members: KeyValuePairs<String, String>) -> String { object(members.map { ($0.key, string($0.value)) }) }
}
