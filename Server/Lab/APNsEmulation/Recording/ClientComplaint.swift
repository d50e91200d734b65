/// Something that a good client does not do (Reference/APNs.md#1-4, #1-6 and #2-1), with how often it was seen.
public struct ClientComplaint: Sendable, Hashable, Codable {
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// PRIORITY frames, which APNs ignores.
        case sentPriorityFrames
        /// Streams above the announced limit.
        case exceededStreamLimit
        /// DATA beyond the credit that can have reached the client.
        case overranWindow
        /// More headers than MAX_HEADER_LIST_SIZE allows; answered 431.
        case exceededHeaderList
        /// A connection that spoke something else than HTTP/2 behind its TLS handshake, HTTP/1.1 for instance.
        case spokeNoHTTP2
        /// A TLS handshake that failed: no TLS at all, an authority that the client does not trust, a client certificate that is
        /// refused.
        case failedHandshake
        /// Device tokens were put into the dynamic table, each 111 bytes of 4096.
        case indexedPaths
        /// `apns-id` was put into the dynamic table more than once for each connection.
        case indexedMessageIDs
        /// `authorization` went over the wire again though the provider token was the same.
        case repeatedAuthorization
        /// 429 `TooManyProviderTokenUpdates` was earned; an injected one does not count.
        case changedProviderTokenTooOften
        /// A push whose acceptance the client could see was sent and accepted again under the same `apns-id`.
        case repeatedAcceptedPushes
        /// A broadcast with `event` `start`. Apple documents that broadcasts update and end Live Activities.
        case startedActivityByBroadcast

        /// Whether it only costs bytes or tables and breaks no rule.
        public var isAdvice: Bool {
            switch self {
            case .sentPriorityFrames, .indexedPaths, .indexedMessageIDs, .repeatedAuthorization: true
            case .exceededStreamLimit, .overranWindow, .exceededHeaderList, .spokeNoHTTP2, .failedHandshake,
                .changedProviderTokenTooOften, .repeatedAcceptedPushes, .startedActivityByBroadcast:
                false
            }
        }
    }

    public var kind: Kind
    public var count: Int
}
