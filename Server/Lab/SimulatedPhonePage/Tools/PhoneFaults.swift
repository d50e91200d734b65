/// What goes wrong for one phone until it is switched off again.
public struct PhoneFaults: Hashable, Sendable, Codable {
    static let fields: Set<String> = ["apns", "backend"]

    /// How the local APNs answers pushes to the phone.
    public enum APNs: String, Hashable, Sendable, Codable, CaseIterable {
        case none
        /// After three seconds.
        case delay
        /// 429 `TooManyRequests`.
        case tooManyRequests
        /// 503 `ServiceUnavailable`.
        case unavailable
        /// The connection ends instead of an answer.
        case drop
    }

    /// How the app backend answers when the phone fetches a content.
    public enum Backend: String, Hashable, Sendable, Codable, CaseIterable {
        case none
        /// 401, to everything that the phone asks, the password included: its session ends.
        case unauthorized
        /// 404.
        case gone
        /// 503.
        case failing
        /// One byte is another one, so that the hash is wrong.
        case damaged
        /// More bytes than were announced.
        case oversized
        /// Markup instead of what was announced, at its length.
        case disguised
        /// After four seconds.
        case slow
    }

    public var apns: APNs
    public var backend: Backend

    /// Creates faults; the default is that nothing goes wrong.
    public init(apns: APNs = .none, backend: Backend = .none) {
        self.apns = apns
        self.backend = backend
    }
}
