/// The choices that the rules offer.
extension EmulationRules {
    /// What happens to a stream above the announced limit.
    public enum OverLimit: String, CaseIterable, Sendable, Hashable, Codable {
        /// RST_STREAM with REFUSED_STREAM, seen since 2017.
        case refuseStream
        /// GOAWAY with REFUSED_STREAM and a text that is not JSON, seen in 2016.
        case goAway
    }

    /// From when a lowered limit is enforced.
    public enum LimitEnforcement: String, CaseIterable, Sendable, Hashable, Codable {
        /// When the client has acknowledged the SETTINGS frame, as RFC 9113 wants it.
        case whenAcknowledged
        /// At once: streams already on their way are refused, as some users of Apple's service saw.
        case immediately
    }

    /// At most `count` events within `seconds`.
    public struct DeviceRate: Sendable, Hashable, Codable {
        public var count: Int
        public var seconds: Int

        /// Creates a rate; both values are at least 1.
        public init(count: Int, seconds: Int) {
            self.count = max(1, count)
            self.seconds = max(1, seconds)
        }
    }

    /// Whether something doubtful is let through.
    public enum Leniency: String, CaseIterable, Sendable, Hashable, Codable {
        case accept
        case refuse
    }

    /// How a client learns that its certificate is no good (Reference/APNs.md#2-4).
    public enum CertificateComplaint: String, CaseIterable, Sendable, Hashable, Codable {
        /// 403 to every request.
        case answer
        /// GOAWAY NO_ERROR with last stream id 0 and the reason, right after the handshake.
        case goAway
    }

    /// When flow-control credit is given back.
    public enum CreditPattern: String, CaseIterable, Sendable, Hashable, Codable {
        /// After half of the window is used up, as seen at Apple (Reference/APNs.md#1-5).
        case halfWindow
        /// After every DATA frame.
        case everyFrame
        /// Never: what the first windows do not hold is never read.
        case never
    }
}
