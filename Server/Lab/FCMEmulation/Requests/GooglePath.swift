import ServiceEmulation
import WireText

/// A request as it arrived at one of Google's services.
typealias GoogleRequest = LocalRequest

extension GoogleRequest {
    /// More of a body is not kept.
    static let largestBody = 1 << 20

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
struct GooglePath: Sendable, Hashable {
    /// As records name it.
    enum Kind: String, Sendable {
        case token, send, unknown
        /// The older service for topics, and the newer one for one app and one topic, as the Admin SDKs ask for since 2026.
        case batchAdd = "iid batchAdd"
        case batchRemove = "iid batchRemove"
        case subscribe, unsubscribe
    }

    private(set) var kind = Kind.unknown
    private(set) var project: String?
    /// Of the newer service for topics.
    private(set) var (token, topic, allowsMissing) = ("", "", false)

    /// - Parameter target: a path with its query.
    init(_ target: String) {
        let sides = target.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        let parts = sides[0].split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst().map {
            PercentEncoding.decodeLeniently(Substring($0))
        }
        let query = Self.fields(of: sides.count > 1 ? Substring(sides[1]) : "")
        switch (parts.count, parts.first, parts.last) {
        case (1, "token", _): kind = .token
        case (2, "iid", "v1:batchAdd"): kind = .batchAdd
        case (2, "iid", "v1:batchRemove"): kind = .batchRemove
        case (4, "v1", "messages:send") where parts[1] == "projects": (kind, project) = (.send, parts[2])
        case (6, "v1", "topicSubscriptions") where parts[1] == "projects" && parts[3] == "registrations":
            (kind, project, token) = (.subscribe, parts[2], parts[4])
            topic = query["topic_name"] ?? query["topicName"] ?? ""
        case (7, "v1", _) where parts[1] == "projects" && parts[3] == "registrations" && parts[5] == "topicSubscriptions":
            (kind, project, token, topic) = (.unsubscribe, parts[2], parts[4], parts[6])
            allowsMissing = (query["allow_missing"] ?? query["allowMissing"]) == "true"
        default: break
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
        switch kind {
        case .token: .token
        case .send: .send
        case .batchAdd, .batchRemove, .subscribe, .unsubscribe: .topics
        case .unknown: nil
        }
    }

    var method: String { kind == .unsubscribe ? "DELETE" : "POST" }
}
