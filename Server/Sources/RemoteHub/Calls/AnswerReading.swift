import HubProtocol

/// What answers of failure mean.
enum AnswerReading {
    /// The error of an answer. A 5xx may come after the work was done; a 4xx says that nothing was, unless an earlier attempt of
    /// the same call may have.
    static func error(of answer: HubResponse, mayBeDone: Bool) -> RemoteHubError {
        let body = ErrorBody.read(answer.body)
        let unknown = mayBeDone || answer.status >= 500 || answer.status == 408 || answer.status < 400
        let reason: RemoteHubError.Reason =
            answer.status < 400 ? .unexpectedAnswer : .refused(status: answer.status)
        return RemoteHubError(
            reason, unknown ? .unknown : .nothingDone, detail(answer.status, body), retryAfter: retryAfter(answer))
    }

    /// The error of a broken connection.
    static func error(of fault: TransportFault, mayBeDone: Bool) -> RemoteHubError {
        switch fault {
        case .unreachable(let sentence): RemoteHubError(.unreachable, mayBeDone ? .unknown : .nothingDone, sentence)
        case .interrupted(let sentence): RemoteHubError(.interrupted, .unknown, sentence)
        case .answerTooLarge: RemoteHubError(.unexpectedAnswer, .unknown, "the hub's answer is larger than allowed")
        }
    }

    /// An answer of success that cannot be read.
    static func unreadable(_ what: String) -> RemoteHubError {
        RemoteHubError(.unexpectedAnswer, .unknown, "the hub's answer holds no \(what)")
    }

    /// The number in front, `SubCode=40103. `, is for programs; the status says enough.
    private static func withoutSubCode(_ sentence: String) -> Substring {
        guard sentence.hasPrefix("SubCode="), let blank = sentence.firstIndex(of: " ") else { return sentence[...] }
        return sentence[sentence.index(after: blank)...]
    }

    private static func detail(_ status: Int, _ body: ErrorBody?) -> String {
        if let sentence = body?.sentence, !sentence.isEmpty { return String(withoutSubCode(sentence).prefix(500)) }
        return switch status {
        case 401: "the hub refuses the key"
        case 403: "the hub refuses the key for this operation, or its quota is used up"
        case 404: "the hub, or the thing in it, does not exist"
        case 410: "the id cannot be used any more"
        case 412: "it was changed meanwhile"
        case 413: "the request is too large for the hub"
        case 429: "the hub takes no more requests for now"
        case 500...: "the hub is out of order"
        case ..<400: "the hub's answer is none of the protocol"
        default: "the hub refused the request"
        }
    }

    /// Whole seconds (Reference/AzureNotificationHubs.md#2-0); anything else counts as none.
    private static func retryAfter(_ answer: HubResponse) -> Int? {
        answer.headers["Retry-After"].flatMap { Int($0) }.flatMap { (0...86_400).contains($0) ? $0 : nil }
    }
}
