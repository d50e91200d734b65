/// An issuer whose tokens sign users in, as the settings describe it.
public struct TrustedIssuer: Sendable {
    /// Where the public keys are.
    public enum KeySource: Sendable, Hashable {
        /// In the document that OpenID Connect Discovery names
        /// ([section 4](https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig)); the issuer is an address.
        case discovery(WebAddress)
        /// At an address of their own.
        case address(WebAddress)
        /// The contents of a file with a JWK set.
        case document(String)
    }

    /// Which tokens are taken. One that fits the other kind must fail: both have the same signature
    /// ([RFC 8725 section 2.8](https://www.rfc-editor.org/rfc/rfc8725#section-2.8)).
    public enum TokenKind: String, CaseIterable, Sendable {
        /// `at+jwt` ([RFC 9068](https://www.rfc-editor.org/rfc/rfc9068)).
        case access
        /// The ID token of [OpenID Connect](https://openid.net/specs/openid-connect-core-1_0.html#IDToken).
        case id
        /// Either, and tokens that say of which kind they are by `aud` alone.
        case any
    }

    /// A value of the role claim, and the role that it gives.
    public struct RoleRule: Hashable, Sendable {
        public let value: String
        public let role: TokenRole

        /// Creates a rule.
        public init(value: String, role: TokenRole) {
            self.value = value
            self.role = role
        }
    }

    /// The value of `iss`, compared byte for byte.
    public var issuer: String
    /// The values of `aud` of which a token must have one. Never empty.
    public var audiences: [String]
    public var keySource: KeySource
    /// The algorithms of the issuer. A key without `alg` is used for the first that fits its kind.
    public var algorithms: [SignatureAlgorithm]
    /// The claim that the name of the user is taken from. The identity is always `iss` and `sub`.
    public var userClaim = ClaimPointer.subject
    /// The claim with the tags of the user; without one, tokens say nothing of tags.
    public var tagsClaim: ClaimPointer?
    /// The claim with the roles of the user; without one, every user has the role `user`.
    public var roleClaim: ClaimPointer?
    /// What values of `roleClaim` mean. The first rule that a token fits counts.
    public var roleRules: [RoleRule] = []
    public var tokenKind = TokenKind.any
    /// The clients that `azp` may name; when empty, the audiences are.
    public var clients: [String] = []
    /// How far the issuer's clock may differ.
    public var leeway = Duration.seconds(60)
    /// The longest time from `iat` to `exp`.
    public var longestLife = Duration.seconds(86_400)
    /// Whether a user who is not known yet is created.
    public var createsUsers = false
    /// Whether a token signs in the user of its name whom the app's backend created and whom no issuer names yet. The holder of a token
    /// with that name is the user then, so people must not be able to choose their names at the issuer.
    public var adoptsUsers = false

    /// Creates an issuer that takes any kind of token. `TrustedIssuer(fields:)` reads one from settings, and checks it.
    init(issuer: String, audiences: [String], keySource: KeySource, algorithms: [SignatureAlgorithm]) {
        self.issuer = issuer
        self.audiences = audiences
        self.keySource = keySource
        self.algorithms = algorithms
    }
}

/// The roles that a token may give.
public enum TokenRole: String, CaseIterable, Sendable {
    case user
    case sender
    case auditor
    /// Of people in the console alone: a phone's token never administers the server.
    case admin

    /// Those of a phone's token.
    static let ofPhones = allCases.filter { $0 != .admin }
}

/// A field of an issuer's settings that cannot be used.
public struct IssuerProblem: Hashable, Sendable, CustomStringConvertible {
    /// The name of the field.
    public let field: String
    /// What is wrong with it, as the end of a sentence that begins with the field.
    public let reason: String

    public var description: String { "\(field) \(reason)" }
}

/// All that is wrong with the settings of one issuer.
public struct IssuerProblems: Error, Hashable, Sendable, CustomStringConvertible {
    public let list: [IssuerProblem]

    public var description: String { list.map(\.description).joined(separator: "; ") }
}
