/// An OpenID Connect provider at which people sign in to the console, as the settings describe it.
public struct SignInProvider: Sendable {
    /// Whose ID tokens are taken, and what their claims say. The only audience is the client.
    public let issuer: TrustedIssuer
    /// The client as which this server is registered at the provider.
    public let client: String
    /// The secret of the client; `nil` for a public client, which has PKCE alone.
    let secret: String?
    /// What the server asks for, `openid` first.
    let scopes: [String]
    /// What people know the provider as.
    public let title: String
    /// Where its discovery document is.
    let address: WebAddress

    /// The scopes without a setting.
    static let usualScopes = ["openid", "profile"]
    private static let maximumTitle = 40
    private static let longestLife = Duration.seconds(30 * 86_400)

    /// Reads the settings of a provider: the values of each field by its name. Throws every problem that there is.
    public init(fields: [String: [String]]) throws(IssuerProblems) {
        var reader = IssuerReader(fields, of: "a provider", TrustedIssuer.Field.ofProviders)
        let name = reader.issuer()
        let address = reader.address(ofIssuer: name)
        let algorithms = reader.algorithms()
        client = reader.printableText(.client) ?? ""
        if fields[TrustedIssuer.Field.client.rawValue] == nil { reader.complain(.client, "is missing") }
        secret = reader.printableText(.clientSecret)
        scopes = reader.scopes()
        title = reader.title(atMost: Self.maximumTitle) ?? address?.host ?? ""
        var issuer = TrustedIssuer(
            issuer: name ?? "", audiences: [client], keySource: .document(""), algorithms: algorithms)
        issuer.tokenKind = .id
        // It is used at once, so it matters little how long it would hold; some providers let it hold for weeks.
        issuer.longestLife = Self.longestLife
        issuer.userClaim = reader.pointer(.userClaim) ?? .subject
        issuer.roleClaim = reader.pointer(.roleClaim)
        issuer.roleRules = reader.roleRules(TokenRole.allCases)
        issuer.leeway = reader.seconds(.leeway, 0...300) ?? issuer.leeway
        issuer.createsUsers = reader.flag(.createsUsers) ?? false
        issuer.adoptsUsers = reader.flag(.adoptsUsers) ?? false
        guard reader.problems.isEmpty, let address else { throw IssuerProblems(list: reader.problems) }
        issuer.keySource = .discovery(address)
        self.issuer = issuer
        self.address = address
    }
}

extension IssuerReader {
    /// The address of an issuer that has a discovery document.
    fileprivate mutating func address(ofIssuer name: String?) -> WebAddress? {
        guard let name else { return nil }
        if let address = WebAddress(name), !address.hasQuery { return address }
        complain(.issuer, "must be an https address without query (http for this machine only)")
        return nil
    }

    /// A text in the form of [RFC 6749 appendix A](https://www.rfc-editor.org/rfc/rfc6749#appendix-A.1); `nil` when it is absent.
    fileprivate mutating func printableText(_ field: TrustedIssuer.Field) -> String? {
        guard let text = text(field) else { return nil }
        guard text.utf8.count <= Self.maximumText, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            complain(field, "must have 1 to \(Self.maximumText) printable ASCII characters")
            return nil
        }
        return text
    }

    /// The form is that of [RFC 6749 section 3.3](https://www.rfc-editor.org/rfc/rfc6749#section-3.3).
    fileprivate mutating func scopes() -> [String] {
        let texts = texts(.scopes)
        let isScope = { (text: String) in text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C } }
        if !texts.allSatisfy(isScope) { complain(.scopes, "must have values of visible ASCII characters without \" and \\") }
        return texts.isEmpty ? SignInProvider.usualScopes : ["openid"] + texts.filter { $0 != "openid" }
    }

    fileprivate mutating func title(atMost limit: Int) -> String? {
        guard let text = text(.title) else { return nil }
        guard text.count <= limit,
            text.unicodeScalars.allSatisfy({ ![.control, .format].contains($0.properties.generalCategory) })
        else {
            complain(.title, "must have 1 to \(limit) characters, none of them a control or a direction mark")
            return nil
        }
        return text
    }
}
