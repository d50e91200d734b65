import RichPushModel

/// Judges the claims of a token whose signature is valid. The reasons carry no issuer yet.
struct ClaimChecks {
    let issuer: TrustedIssuer
    let claims: ClaimValue
    /// The header's `typ` ([RFC 7515 section 4.1.9](https://www.rfc-editor.org/rfc/rfc7515#section-4.1.9)).
    let type: ClaimValue?
    let now: Timestamp

    /// One of ours must be in `aud` ([RFC 7519 section 4.1.3](https://www.rfc-editor.org/rfc/rfc7519#section-4.1.3),
    /// [RFC 8725 section 3.9](https://www.rfc-editor.org/rfc/rfc8725#section-3.9)).
    func checkAudience() throws(TokenError) {
        guard let given = claims["aud"]?.texts, given.contains(where: { Self.list(issuer.audiences, has: $0) }) else {
            throw TokenError(.audience)
        }
    }

    /// The client that the token was issued to ([OpenID Connect Core section
    /// 2](https://openid.net/specs/openid-connect-core-1_0.html#IDToken)). Without a list only the audiences are allowed. Where the
    /// settings have a list, it holds for the `client_id` of an access token too.
    func checkClient() throws(TokenError) {
        let allowed = issuer.clients.isEmpty ? issuer.audiences : issuer.clients
        if let client = claims["azp"] {
            guard let text = client.text, Self.list(allowed, has: text) else { throw TokenError(.client) }
        }
        if !issuer.clients.isEmpty, let client = claims["client_id"] {
            guard let text = client.text, Self.list(allowed, has: text) else { throw TokenError(.client) }
        }
    }

    /// Checks `exp`, `nbf` and `iat`, and returns the last and the first.
    func times() throws(TokenError) -> (issued: Timestamp, expires: Timestamp) {
        guard let expires = Self.moment(claims["exp"]) else { throw TokenError(.expiryMissing) }
        // "On or after" that moment (RFC 7519 section 4.1.4), as late as our leeway allows.
        guard now - issuer.leeway < expires else { throw TokenError(.expired) }
        if let start = claims["nbf"] {
            guard let start = Self.moment(start), start <= now + issuer.leeway else { throw TokenError(.notYetValid) }
        }
        guard let issued = Self.moment(claims["iat"]), issued <= now + issuer.leeway else { throw TokenError(.issueTime) }
        guard issued <= expires, expires - issued <= issuer.longestLife else { throw TokenError(.lifetime) }
        return (issued, expires)
    }

    /// Checks that the token is of the kind that the settings take
    /// ([RFC 8725 section 3.11 and 3.12](https://www.rfc-editor.org/rfc/rfc8725#section-3.11)).
    ///
    /// Only known types pass: a list of the others (`logout+jwt`, `dpop+jwt`, `secevent+jwt`) would never be complete.
    func checkKind() throws(TokenError) {
        let words = words
        guard let name = typeName, claims["events"] == nil, words.isDisjoint(with: ["refresh", "offline", "logout", "dpop"])
        else {
            throw TokenError(.kind)
        }
        let fits =
            switch issuer.tokenKind {
            case .any: true
            // RFC 9068 section 2.2 requires both claims.
            case .access:
                name == "at+jwt" && !words.contains("id") && claims["client_id"]?.text != nil && claims["jti"]?.text != nil
            case .id: name != "at+jwt" && words.isDisjoint(with: ["access", "bearer"])
            }
        guard fits else { throw TokenError(.kind) }
        // The proof that such a token needs is no part of a sign-in (RFC 7800, RFC 8705, RFC 9449).
        guard claims["cnf"] == nil else { throw TokenError(.boundToKey) }
    }

    /// An ID token answers one request: one that was issued for another has its nonce, or none.
    func checkNonce(_ nonce: String) throws(TokenError) {
        guard claims["nonce"]?.text?.hasSameBytes(as: nonce) == true else { throw TokenError(.nonce) }
    }

    /// `sub` identifies the user within the issuer ([RFC 7519 section 4.1.2](https://www.rfc-editor.org/rfc/rfc7519#section-4.1.2)), with
    /// at most 255 bytes ([OpenID Connect Core section 2](https://openid.net/specs/openid-connect-core-1_0.html#IDToken)).
    func subject() throws(TokenError) -> String {
        guard let subject = claims["sub"]?.text, (1...255).contains(subject.utf8.count),
            subject.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else { throw TokenError(.subject) }
        return subject
    }

    /// The type in lower case without the prefix that may be left out; `nil` for one that no sign-in token has.
    private var typeName: String? {
        guard let type else { return "" }
        guard var name = type.text?.lowercased() else { return nil }
        if name.hasPrefix("application/") { name.removeFirst("application/".count) }
        return ["jwt", "at+jwt"].contains { $0.hasSameBytes(as: name) } ? name : nil
    }

    /// The kinds that the body names: in Cognito's `token_use` and Keycloak's `typ`.
    private var words: Set<String> { Set(["token_use", "typ"].compactMap { claims[$0]?.text?.lowercased() }) }

    private static func list(_ texts: [String], has text: String) -> Bool { texts.contains { $0.hasSameBytes(as: text) } }

    /// A NumericDate ([RFC 7519 section 2](https://www.rfc-editor.org/rfc/rfc7519#section-2)) from 1970 to 9999; `nil` for anything else.
    private static func moment(_ value: ClaimValue?) -> Timestamp? {
        guard case .number(let text)? = value, let seconds = Double(text), (0...253_402_300_799).contains(seconds) else {
            return nil
        }
        return Timestamp(milliseconds: Int64(seconds * 1_000))
    }
}
