import WireText

/// A request as it arrived, over HTTP/1.1 or HTTP/2.
struct GoogleRequest: Sendable {
    /// More of a body is not kept.
    static let largestBody = 1 << 20

    var method: String
    /// With its query.
    var target: String
    var headers: [(name: String, value: String)]
    var body: [UInt8]
    /// How long the body is, also where it is too long to be kept.
    var bodySize: Int
    var isHTTP2: Bool

    init(
        method: String = "POST", target: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        bodySize: Int? = nil, isHTTP2: Bool = false
    ) {
        (self.method, self.target, self.headers, self.body, self.isHTTP2) = (method, target, headers, body, isHTTP2)
        self.bodySize = bodySize ?? body.count
    }

    /// The value of a header, in any case; of one that came twice it is one list (RFC 9110, 5.3).
    func header(_ name: String) -> String? {
        var found: String?
        for header in headers where header.name.utf8.count == name.utf8.count && header.name.lowercased() == name {
            let value = header.value.trimmingBlanks
            found = found.map { $0 + ", " + value } ?? value
        }
        return found
    }

    /// The media type of the body, without parameters.
    var contentType: String? { header("content-type").map { HeaderParameters(lenient: $0).value.lowercased() } }

    /// The access token of `Authorization`; `nil` for another scheme.
    var bearerToken: String? {
        guard let value = header("authorization"), let blank = value.firstIndex(of: " "),
            value[..<blank].lowercased() == "bearer"
        else { return nil }
        return value[blank...].trimmingBlanks
    }
}

/// What a path names.
enum GooglePath: Sendable, Hashable {
    case token
    case send(project: String)
    /// The older service for topics.
    case topicBatch(follows: Bool)
    /// One app and one topic, as the Admin SDKs ask for since 2026.
    case topicSubscription(project: String, token: String, topic: String, follows: Bool, allowsMissing: Bool)
    case unknown

    /// - Parameter target: a path with its query.
    init(_ target: String) {
        let sides = target.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        let parts = sides[0].split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst().map {
            PercentEncoding.decodeLeniently(Substring($0))
        }
        let query = Self.fields(of: sides.count > 1 ? Substring(sides[1]) : "")
        switch (parts.count, parts.first, parts.last) {
        case (1, "token", _): self = .token
        case (2, "iid", "v1:batchAdd"): self = .topicBatch(follows: true)
        case (2, "iid", "v1:batchRemove"): self = .topicBatch(follows: false)
        case (4, "v1", "messages:send") where parts[1] == "projects": self = .send(project: parts[2])
        case (6, "v1", "topicSubscriptions") where parts[1] == "projects" && parts[3] == "registrations":
            self = .topicSubscription(
                project: parts[2], token: parts[4], topic: query["topic_name"] ?? query["topicName"] ?? "", follows: true,
                allowsMissing: false)
        case (7, "v1", _) where parts[1] == "projects" && parts[3] == "registrations" && parts[5] == "topicSubscriptions":
            self = .topicSubscription(
                project: parts[2], token: parts[4], topic: parts[6], follows: false,
                allowsMissing: (query["allow_missing"] ?? query["allowMissing"]) == "true")
        default: self = .unknown
        }
    }

    /// The fields of a query or a form.
    static func fields(of text: Substring) -> [String: String] {
        var values: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            values[PercentEncoding.decodeLeniently(sides[0], plusIsBlank: true)] =
                PercentEncoding.decodeLeniently(sides.count > 1 ? sides[1] : "", plusIsBlank: true)
        }
        return values
    }

    var endpoint: LocalFCMEndpoint? {
        switch self {
        case .token: .token
        case .send: .send
        case .topicBatch, .topicSubscription: .topics
        case .unknown: nil
        }
    }

    /// The project that the path names.
    var project: String? {
        switch self {
        case .send(let project), .topicSubscription(let project, _, _, _, _): project
        case .token, .topicBatch, .unknown: nil
        }
    }

    /// The path as it may be recorded: without a registration token.
    var kind: String {
        switch self {
        case .token: "token"
        case .send: "send"
        case .topicBatch(let follows): follows ? "iid batchAdd" : "iid batchRemove"
        case .topicSubscription(_, _, _, let follows, _): follows ? "subscribe" : "unsubscribe"
        case .unknown: "unknown"
        }
    }

    var method: String {
        if case .topicSubscription(_, _, _, false, _) = self { return "DELETE" }
        return "POST"
    }
}
