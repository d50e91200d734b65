import RichPushModel
import WireText

/// One POST to FCM or to the place where access tokens are given (Reference/FCM.md#1-2, #2).
public struct FCMRequest: Sendable {
    public let url: String
    /// One of them may hold an access token, and the body an assertion: never log them.
    public let headers: [(name: String, value: String)]
    public let body: [UInt8]

    /// Creates a request.
    public init(url: String, headers: [(name: String, value: String)], body: [UInt8]) {
        (self.url, self.headers, self.body) = (url, headers, body)
    }
}

extension FCMRequest: CustomStringConvertible, CustomReflectable {
    public var description: String { "POST \(url), \(body.count) bytes" }
    public var customMirror: Mirror { Mirror(self, children: ["url": url]) }
}

/// What came back, and what follows from it (Reference/FCM.md#3).
public struct FCMAnswer: Sendable {
    /// What the sender of a message does.
    public enum Disposition: Hashable, Sendable, CaseIterable {
        case accepted
        /// The app is gone, or its token was replaced: no more pushes to this target.
        case unregistered
        /// The token belongs to another project.
        case wrongSender
        /// FCM says that the target is none. Said of no other refusal.
        case badTarget
        case tooLarge
        /// The message is wrong, and its target is innocent.
        case refused
        /// The access token is not accepted: renew it once and repeat once.
        case unauthorized
        /// The project has no credential for the push service behind FCM. Concerns the targets of that service alone.
        case thirdPartyAuth
        /// The account may not send, or the project does not use FCM.
        case permissionDenied
        /// FCM does not know the project, or something else answers.
        case wrongProject
        /// Not now.
        case later
    }

    /// What a refusal for now is about.
    public enum Scope: Hashable, Sendable {
        case target, project, service
    }

    public let status: Int
    /// What the answer asks to wait.
    public let pause: Duration?
    /// At most so much of the body as its reader took.
    public let body: [UInt8]
    public let disposition: Disposition
    /// A word of FCM for a log, and the field that it complains of: `INVALID_ARGUMENT at message.android.ttl`. It holds no value.
    public let reason: String
    public let scope: Scope

    /// Takes an answer.
    ///
    /// - Parameters:
    ///   - retryAfter: the header as it came: seconds, or a date of HTTP.
    ///   - body: may be anything, also a page of a proxy.
    public init(status: Int, retryAfter: String? = nil, body: [UInt8] = [], now: Timestamp) {
        (self.status, self.body) = (status, body)
        pause = retryAfter.flatMap { RetryAfter.pause($0, at: now) }
        let error = FCMErrorStatus(body, of: status)
        disposition = Self.disposition(status, error)
        let word = error.code ?? error.canonical ?? "status \(status)"
        reason = error.fields.first.map { "\(word) at \($0)" } ?? word
        // FCM's own code is about the target; Google's quota of the project is watched before FCM (Reference/FCM.md#3-3).
        scope = status != 429 ? .service : error.code == nil ? .project : .target
    }

    /// The codes of FCM's own errors, and the words of Google that come without one (Reference/FCM.md#3-1, #3-3).
    package static let codes: Set<String> = [
        "UNSPECIFIED_ERROR", "INVALID_ARGUMENT", "UNREGISTERED", "SENDER_ID_MISMATCH", "QUOTA_EXCEEDED", "UNAVAILABLE",
        "INTERNAL", "THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR", "PERMISSION_DENIED", "NOT_FOUND", "RESOURCE_EXHAUSTED",
    ]

    /// How long to wait at least: what the answer asks for, else what Google asks of all senders (Reference/FCM.md#3-2).
    public var leastPause: Duration { pause ?? (status == 429 ? .seconds(60) : .seconds(10)) }

    private static func disposition(_ status: Int, _ error: FCMErrorStatus) -> Disposition {
        switch error.code {
        case "UNREGISTERED": .unregistered
        case "SENDER_ID_MISMATCH": .wrongSender
        case "QUOTA_EXCEEDED", "UNAVAILABLE", "INTERNAL": .later
        case "THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR": .thirdPartyAuth
        case "INVALID_ARGUMENT": invalid(error)
        default: byStatus(status, error)
        }
    }

    /// For answers in which FCM itself says nothing that is known.
    private static func byStatus(_ status: Int, _ error: FCMErrorStatus) -> Disposition {
        switch status {
        case 200..<300 where !error.isPage: .accepted
        case 400: invalid(error)
        case 401: .unauthorized
        case 403: .permissionDenied
        // FCM speaks of a target by its own error alone, never redirects, and answers no page with a good status.
        case 404 where error.code == nil, 200..<400: .wrongProject
        case 413: .tooLarge
        case 408, 425, 429, 500...: .later
        default: .refused
        }
    }

    private static func invalid(_ error: FCMErrorStatus) -> Disposition {
        if error.fields.contains("message.token") || error.fields.contains("message.fid") { return .badTarget }
        return error.message.lowercased().contains("is too big") ? .tooLarge : .refused
    }
}

extension FCMAnswer: CustomStringConvertible, CustomReflectable {
    /// The body may hold an access token.
    public var description: String { "status \(status)" }
    public var customMirror: Mirror { Mirror(self, children: ["status": status]) }
}

/// The error of Google's answers (`google.rpc.Status`), as far as it is one.
private struct FCMErrorStatus {
    /// The code of FCM's own detail.
    private(set) var code: String?
    private(set) var canonical: String?
    private(set) var message = ""
    /// The fields that the answer complains of.
    private(set) var fields: [String] = []

    /// Whether the body is something, and no JSON object.
    let isPage: Bool

    /// The body of a good answer is not read.
    init(_ body: [UInt8], of status: Int) {
        isPage = body.first { $0 > 0x20 }.map { $0 != UInt8(ascii: "{") } ?? false
        guard !(200..<300).contains(status), let error = JSONValue(json: body)?.members?["error"]?.members else { return }
        canonical = Self.word(error["status"])
        message = error["message"]?.text ?? ""
        for detail in error["details"]?.elements.compactMap(\.members) ?? [] {
            let type = detail["@type"]?.text ?? ""
            if type.hasSuffix("/google.firebase.fcm.v1.FcmError") { code = Self.word(detail["errorCode"]) ?? "UNSPECIFIED_ERROR" }
            guard type.hasSuffix("/google.rpc.BadRequest") else { continue }
            fields += detail["fieldViolations"]?.elements.compactMap { Self.word($0.members?["field"]) } ?? []
        }
    }

    /// A word that a log may show.
    static func word(_ value: JSONValue?) -> String? {
        value?.text.flatMap { text in text.utf8.count <= 100 && text.utf8.allSatisfy { (33...126).contains($0) } ? text : nil }
    }
}

extension FCMAnswer {
    /// The access token in an answer of the token endpoint, as the value of the `authorization` header, and how long it holds from the request
    /// on (Reference/FCM.md#1-2). A secret: never log it.
    ///
    /// - Throws: whether an operator has to act, and a sentence that holds nothing of the answer but Google's word.
    public func accessToken() throws(FCMTokenRefusal) -> (authorization: String, life: Duration) {
        let members = JSONValue(json: body)?.members ?? [:]
        guard (200..<300).contains(status) else { throw FCMTokenRefusal(self, members) }
        guard let token = members["access_token"]?.text, (1...8_192).contains(token.utf8.count),
            token.utf8.allSatisfy({ (33...126).contains($0) }), let seconds = members["expires_in"]?.wholeNumber,
            (1...86_400).contains(seconds)
        else { throw FCMTokenRefusal(reason: "the token endpoint answers what is no access token", isForGood: false) }
        return ("Bearer " + token, .seconds(seconds))
    }
}

/// Why there is no access token.
public struct FCMTokenRefusal: Error, Hashable, Sendable {
    /// A sentence for the operator.
    public let reason: String
    /// Whether trying again changes nothing until an operator has acted.
    public let isForGood: Bool
    /// What the endpoint asks to wait.
    public var pause: Duration?

    /// Creates a refusal.
    public init(reason: String, isForGood: Bool, pause: Duration? = nil) {
        (self.reason, self.isForGood, self.pause) = (reason, isForGood, pause)
    }

    fileprivate init(_ answer: FCMAnswer, _ members: [String: JSONValue]) {
        let word = FCMErrorStatus.word(members["error"]) ?? "status \(answer.status)"
        let mayPass = answer.disposition == .later || ["temporarily_unavailable", "internal_failure"].contains(word)
        self.init(
            reason: "the token endpoint answers \(word)"
                + (word == "invalid_grant" ? Self.hint(members["error_description"]) : ""),
            isForGood: !mayPass, pause: answer.pause)
    }

    /// Google complains of a wrong clock and of an unknown key with the same word.
    private static func hint(_ description: JSONValue?) -> String {
        let isOfClock = ["iat", "exp", "timeframe"].contains { description?.text?.contains($0) == true }
        return isOfClock ? ": compare the clock of this machine" : ": the key was removed, or the account was disabled"
    }
}
