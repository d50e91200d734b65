import ServiceErrors

extension ServiceError {
    /// An error of a hub elsewhere as the callers of this service may see it.
    ///
    /// A refused key is this server's fault and not the caller's: it must not end a caller's sign-in, so it is `not-ready`, and a
    /// send that met it stays stored until somebody mends the key.
    init(_ error: RemoteHubError, isSend: Bool) {
        let isUnknown = isSend && error.fate == .unknown
        let code: ServiceErrorCode =
            switch error.reason {
            case .invalidRequest: .invalidField
            case _ where isUnknown: .outcomeUnknown
            case .unreachable, .interrupted, .unexpectedAnswer: .notReady
            case .refused(400): .invalidField
            case .refused(409): isSend ? .idempotencyMismatch : .conflict
            case .refused(410): .registrationGone
            case .refused(412): .preconditionFailed
            case .refused(413): .payloadTooLarge
            case .refused(408), .refused(429): .overloaded
            case .refused: .notReady
            }
        self.init(code, "the hub elsewhere: \(error.detail)", retryAfter: error.retryAfter)
    }
}
