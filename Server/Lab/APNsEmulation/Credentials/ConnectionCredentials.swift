import RichPushModel

/// What a connection remembers of the credentials that were used on it (Reference/APNs.md#2-1 and #2-3).
struct ConnectionCredentials: Sendable {
    /// What the first accepted push bound the connection to.
    struct Binding: Sendable, Hashable {
        var teamID: String
        /// The key, if it is topic-specific; `nil` after a team-scoped one.
        var topicKeyID: String?
        var relatedKeyID: String?
        /// Apps registered later are unknown to this connection.
        var appSequence: Int
    }

    /// The provider token of a key that is in use.
    struct Current: Sendable, Hashable {
        /// The token without its scheme, which may be spelled in several ways.
        var token: String
        var issuedAt: Int64
        /// When it took the place of another one of its key; `nil` for the first.
        var changedAt: Duration?
    }

    /// Key ids are unique within a team only.
    private struct KeyName: Sendable, Hashable {
        var teamID: String
        var keyID: String

        init(_ key: Credential.Key) { (teamID, keyID) = (key.teamID, key.keyID) }
    }

    /// What the client showed in the handshake.
    var certificate: ClientCertificate?
    private(set) var binding: Binding?
    /// By key: related keys may take turns on a connection, and each has a token of its own (Reference/APNs.md#2-3).
    private var current: [KeyName: Current] = [:]
    private var judged: [String: Credential] = [:]
    private var judgedGeneration = -1

    /// The verdict on a header value, if it was judged on this connection since the keys last changed.
    mutating func known(_ authorization: String, generation: Int) -> Credential? {
        guard judgedGeneration == generation else {
            judged.removeAll()
            judgedGeneration = generation
            return nil
        }
        return judged[authorization]
    }

    /// Keeps a verdict; at most eight, since an honest client uses one or two tokens.
    mutating func keep(_ credential: Credential, for authorization: String) {
        if judged.count >= 8 { judged.removeAll() }
        judged[authorization] = credential
    }

    /// The token in use of this key; `nil` before its first.
    func current(of key: Credential.Key) -> Current? { current[KeyName(key)] }

    /// Records the token that passed every check of credentials as the one of its key in use now.
    ///
    /// - Parameter known: the token that it replaces, unless that one has expired; `nil` makes the token the first of its key.
    mutating func adopt(
        _ token: String, of key: Credential.Key, issuedAt: Int64, uptime: Duration, replacing known: Current?
    ) {
        let name = KeyName(key)
        guard let known else {
            current[name] = Current(token: token, issuedAt: issuedAt)
            return
        }
        guard known.token != token else { return }
        current[name] = Current(token: token, issuedAt: issuedAt, changedAt: uptime)
    }

    /// A push was accepted: the first one binds the connection.
    mutating func bind(to key: Credential.Key, appSequence: Int) {
        guard binding == nil else { return }
        binding = Binding(
            teamID: key.teamID, topicKeyID: key.topics == nil ? nil : key.keyID, relatedKeyID: key.relatedKeyID,
            appSequence: appSequence)
    }
}
