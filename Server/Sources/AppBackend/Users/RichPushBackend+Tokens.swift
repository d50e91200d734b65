import RichPushModel
import ServiceErrors
import SharedAccess

/// What the app's backend asks of a one-time sign-in token.
public struct SignInTokenRequest: Sendable, Codable {
    /// The name of the user whom it signs in.
    public var user: String
    /// The only installation that may use it; absent for any.
    public var installation: InstallationID?
    /// The tags that replace those of the user; absent keeps them.
    public var tags: [Tag]?
    /// How long it holds, from 60 to 3,600; 600 if absent.
    public var lifetimeSeconds: Int?
    /// Whether a user who does not exist is created, with the role `user`; `true` if absent.
    public var createsUser: Bool?

    /// Creates a request.
    public init(
        user: String, installation: InstallationID? = nil, tags: [Tag]? = nil, lifetimeSeconds: Int? = nil,
        createsUser: Bool? = nil
    ) {
        self.user = user
        self.installation = installation
        self.tags = tags
        self.lifetimeSeconds = lifetimeSeconds
        self.createsUser = createsUser
    }
}

/// A new one-time sign-in token.
public struct SignInTokenAnswer: Sendable, Codable {
    /// The secret: in this answer and nowhere else.
    public var token: String
    public var expiresAt: Timestamp
}

/// One-time sign-in tokens: an app without an identity provider signs its users in with them.
extension RichPushBackend {
    /// Makes a token with which one installation signs in as the user, once. Throws `invalid-field`, and `not-found` for a user who
    /// does not exist and shall not be created.
    public func mintSignInToken(_ request: SignInTokenRequest, by principal: Principal? = nil) async throws -> SignInTokenAnswer {
        let lifetime = request.lifetimeSeconds ?? 600
        guard (60...3_600).contains(lifetime) else {
            throw ServiceError(.invalidField, "lifetimeSeconds: from 60 to 3600")
        }
        let name: UserName
        do { name = try Self.personName(request.user) } catch {
            throw ServiceError(.invalidField, "user: 1 to 64 of A-Z a-z 0-9 _ @ . -, and no @ at its beginning")
        }
        let tags = try request.tags.map { try Self.checked($0) }
        let createsUser = request.createsUser ?? true
        if !createsUser { _ = try await user(request.user) }
        let now = parts.clock.now
        let secret = PrefixedSecret(.signInToken)
        let token = SignInToken(
            digest: secret.digest, user: name, installation: request.installation, tags: tags, createsUser: createsUser,
            createdBy: Self.label(of: principal), createdAt: now, expiresAt: now + .seconds(lifetime))
        let entry = entry(
            .signInTokenMinted, by: principal, subject: name.text,
            details: "lifetime=\(lifetime) creates-user=\(createsUser)")
        try await parts.store.mint(token, audit: entry)
        return SignInTokenAnswer(token: secret.text, expiresAt: token.expiresAt)
    }
}
