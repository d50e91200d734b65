import APNsProtocol

/// What the `authorization` header of a request turned out to be.
enum Credential: Sendable, Hashable {
    /// A key as far as the checks look at it.
    struct Key: Sendable, Hashable {
        var teamID: String
        var keyID: String
        var environment: APNsEnvironment?
        var topics: Set<String>?
        var relatedKeyID: String?
    }

    /// Absent, empty or not `bearer …`.
    case missing
    /// Malformed, of an unknown key, or with a wrong signature.
    case invalid
    /// Signed by a known key. Whether it fits the moment and the connection is for the checks to say.
    case signed(key: Key, issuedAt: Int64)
    /// The connection showed a client certificate; the `authorization` header is not looked at (Reference/APNs.md#2-4).
    case certificate(ClientCertificate)

    /// Judges a header value. Verifies a signature, so the caller keeps the result.
    init(authorization: String?, registry: ProviderRegistry) {
        guard let text = Self.bearerToken(authorization) else {
            self = .missing
            return
        }
        guard let token = PresentedToken(text), let key = registry.key(teamID: token.teamID, keyID: token.keyID),
            token.isSigned(by: key.publicKey)
        else {
            self = .invalid
            return
        }
        let known = Key(
            teamID: key.teamID, keyID: key.keyID, environment: key.environment, topics: key.topics,
            relatedKeyID: key.relatedKeyID)
        self = .signed(key: known, issuedAt: token.issuedAt)
    }

    /// The token after `bearer `, in any case of letters; `nil` if there is none.
    static func bearerToken(_ value: String?) -> String? {
        guard let value, value.utf8.count > 7, value.prefix(7).lowercased() == "bearer " else { return nil }
        let token = value.dropFirst(7)
        return token.allSatisfy { $0 == " " } ? nil : String(token)
    }
}
