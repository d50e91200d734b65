import Crypto
import RichPushModel
import WireText

/// Whom a valid token names.
public struct VerifiedIdentity: Hashable, Sendable {
    /// The issuer as configured.
    public let issuer: String
    /// The value of `sub`. With the issuer it is the identity: compare both byte for byte.
    public let subject: String
    /// The name of the user, if this identity has none yet. A name that another identity holds must be refused.
    public let userName: UserName
    /// The tags of the user; `nil` when the token says nothing of them, and the known ones stay. Texts that are no tags are left out.
    public let tags: [Tag]?
    /// The role of the first rule that fits; `nil` when none does, and without a claim for roles.
    public let role: TokenRole?
    public let issuedAt: Timestamp
    public let expiresAt: Timestamp
    /// Whether the settings let an unknown user be created.
    public let mayCreateUser: Bool
    /// Whether the settings let the identity belong to a user of its name whom no identity names.
    public let mayAdoptUser: Bool

    init(checks: ClaimChecks, times: (issued: Timestamp, expires: Timestamp)) throws(TokenError) {
        let (settings, claims) = (checks.issuer, checks.claims)
        issuer = settings.issuer
        subject = try checks.subject()
        guard let name = settings.userClaim.value(in: claims)?.text, !name.isEmpty else { throw TokenError(.userClaim) }
        userName = Self.userName(name, issuer: settings.issuer, subject: subject)
        tags = Self.tags(settings.tagsClaim, in: claims)
        role = Self.role(settings, claims)
        issuedAt = times.issued
        expiresAt = times.expires
        mayCreateUser = settings.createsUsers
        mayAdoptUser = settings.adoptsUsers
    }

    private static let hashedPrefix = "id-"
    private static let hashedBytes = 16

    /// The text itself if it is a user name, else a hash of the identity. A text in the form of such a hash is hashed too: else one user
    /// could take the name of another before their first sign-in.
    private static func userName(_ text: String, issuer: String, subject: String) -> UserName {
        if let name = UserName(text), !isHashed(name.folded) { return name }
        return hashedName(issuer: issuer, subject: subject)
    }

    private static func isHashed(_ name: String) -> Bool {
        let digits = name.dropFirst(hashedPrefix.count)
        return name.hasPrefix(hashedPrefix) && digits.utf8.count == 2 * hashedBytes
            && digits.utf8.allSatisfy { Hexadecimal.value($0) != nil }
    }

    private static func hashedName(issuer: String, subject: String) -> UserName {
        // The length keeps two identities with the same joined text apart.
        let message = Array("clarion identity 1\n\(issuer.utf8.count)\n\(issuer)\n\(subject)".utf8)
        let name = hashedPrefix + Hexadecimal.text(of: SHA256.hash(data: message).prefix(hashedBytes))
        guard let name = UserName(name) else { preconditionFailure("a prefix and hexadecimal digits are a user name") }
        return name
    }

    /// An absent claim means no tags, as issuers leave out an empty list. Entra also leaves out a list that is too long, and says so in
    /// `_claim_names` ([OpenID Connect Core section 5.6.2](https://openid.net/specs/openid-connect-core-1_0.html#AggregatedDistributedClaims)).
    private static func tags(_ pointer: ClaimPointer?, in claims: ClaimValue) -> [Tag]? {
        guard let pointer else { return nil }
        guard let value = pointer.value(in: claims) else {
            return pointer.names.first.map { claims["_claim_names"]?[$0] == nil } == true ? [] : nil
        }
        var tags: [Tag] = []
        for tag in value.texts?.compactMap(Tag.init) ?? [] where !isUserTag(tag) && !tags.contains(tag) { tags.append(tag) }
        return tags
    }

    /// Whether a tag is one by which the access to content is judged. Only the server gives it.
    private static func isUserTag(_ tag: Tag) -> Bool { tag.folded.hasPrefix("username:") }

    private static func role(_ settings: TrustedIssuer, _ claims: ClaimValue) -> TokenRole? {
        guard let given = settings.roleClaim?.value(in: claims)?.texts else { return nil }
        return settings.roleRules.first { rule in given.contains { $0.hasSameBytes(as: rule.value) } }?.role
    }
}
