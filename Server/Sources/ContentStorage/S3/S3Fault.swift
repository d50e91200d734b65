import ServiceErrors

/// Why the store did not do what it was asked. Carries no key, no content, and nothing that the store wrote but its own code.
enum S3Fault: Error, Hashable {
    /// No connection came about, with the reason as the end of a sentence.
    case unreachable(String)
    /// The answer took too long.
    case timedOut
    /// The connection broke on the way.
    case broken
    /// The store said no. `code` is its word for it, if it gave one.
    case refused(status: Int, code: String?, retryAfter: Int?)
    /// The answer is not what the protocol says.
    case malformed(String)
    /// More requests are under way than may be.
    case busy
}

extension S3Fault {
    /// Whether the same request may succeed a moment later.
    var isPassing: Bool {
        switch self {
        case .unreachable, .timedOut, .broken, .malformed: true
        case .refused(let status, let code, _):
            [429, 500, 502, 503, 504].contains(status) || (status != 412 && code.map(Self.passing.contains) ?? false)
        case .busy: false
        }
    }

    /// Whether the store says that there is nothing under the key.
    var isMissing: Bool {
        if case .refused(404, let code, _) = self { return code == nil || code == "NoSuchKey" || code == "NotFound" }
        return false
    }

    private static let passing: Set<String> = [
        "SlowDown", "InternalError", "ServiceUnavailable", "RequestTimeout", "Throttling", "OperationAborted",
        "XMinioServerNotInitialized",
    ]

    /// What happened, as a sentence for callers and operators.
    var sentence: String {
        switch self {
        case .unreachable(let reason): "the content store cannot be reached: \(reason)"
        case .timedOut: "the content store did not answer in time"
        case .broken: "the connection to the content store broke"
        case .malformed(let what): "the content store gave an answer that is none: \(what)"
        case .busy: "too many requests to the content store are under way"
        case .refused(let status, let code, _):
            "the content store refused with status \(status)\(code.map { " (\($0))" } ?? "")\(Self.hint(code, status).map { ": \($0)" } ?? "")"
        }
    }

    /// What a caller is told: it can be tried again, now or when the operator has mended it.
    var serviceError: ServiceError {
        if self == .busy { return ServiceError(.overloaded, sentence, retryAfter: 1) }
        var wait = isPassing ? 5 : 30
        if case .refused(_, _, let asked?) = self { wait = min(max(wait, asked), 60) }
        return ServiceError(.storageUnavailable, sentence, retryAfter: wait)
    }

    /// What the operator should look at.
    private static func hint(_ code: String?, _ status: Int) -> String? {
        switch code {
        case "NoSuchBucket": "there is no such bucket; look at s3-bucket, s3-endpoint and s3-addressing"
        case "InvalidAccessKeyId": "it does not know the key; look at s3-key-id"
        case "SignatureDoesNotMatch": "the secret does not belong to the key; look at s3-secret and s3-region"
        // Some stores say no more of a key or a secret that is wrong (Ceph's, when it lends keys).
        case "AccessDenied", "AllAccessDisabled":
            "the key may not do that in this bucket, or is not known; look at its policy, s3-key-id and s3-secret"
        case "AuthorizationHeaderMalformed", "PermanentRedirect", "IllegalLocationConstraintException", "InvalidRegionName":
            "the bucket is in another region; look at s3-region and s3-endpoint"
        case "ExpiredToken", "InvalidToken": "the key was lent and its time is over; look at s3-session-token"
        case "RequestTimeTooSkewed", "RequestExpired":
            "its clock and this server's, which is the database's where there is PostgreSQL, differ by more than 15 minutes"
        case "QuotaExceeded", "InsufficientCapacity", "XMinioStorageFull": "it is full"
        case nil where status == 404: "look at s3-bucket, s3-endpoint and s3-addressing"
        case nil where status == 403: "look at s3-key-id, s3-secret and the policy of the key"
        case nil where status == 301 || status == 307: "the bucket is elsewhere; look at s3-region and s3-endpoint"
        default: nil
        }
    }
}
