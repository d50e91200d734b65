import APNsProtocol

/// What a refusal means for the connection and the credential it came over: the client's actions of Reference/APNs.md#4 that do
/// not concern the push alone.
enum RefusalConsequence {
    /// The refusal is about this push only.
    case none
    /// APNs is in trouble behind this connection: no more pushes there, and a pause before the next one.
    case leave
    /// The connection is at its end, the push is not: a new connection, and the push once more there. A refusal proves that it was
    /// not taken, so that cannot duplicate.
    case moveOn
    /// A topic that a connection may not know because its app is newer: other connections, and the push once more there.
    case renewBinding
    /// No connection with this credential will be of use: none is kept, and none made for a while.
    case closePool
    /// The provider token is too old, and the connection is spoilt (Reference/APNs.md#2-1).
    case renewToken
    /// The provider token is too new, and the connection is spoilt.
    case keepOldToken

    private static let byReason: [APNsReason: RefusalConsequence] = [
        .serviceUnavailable: .leave, .shutdown: .moveOn, .idleTimeout: .moveOn, .unrelatedKeyIDInToken: .moveOn,
        .topicDisallowed: .renewBinding,
        // About an action, and in an answer about this one; only GOAWAY says it of the whole connection.
        .forbidden: .none,
        .expiredProviderToken: .renewToken, .tooManyProviderTokenUpdates: .keepOldToken,
    ]

    /// Known reasons decide; an unknown one counts by its status.
    init(_ rejection: APNsRejection) {
        if let known = Self.byReason[rejection.reason] {
            self = known
        } else if rejection.reason.refusesCredential {
            self = .closePool
        } else {
            self = rejection.status == 503 ? .leave : .none
        }
    }
}
