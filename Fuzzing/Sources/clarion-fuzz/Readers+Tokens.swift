import RichPushModel
import WireText

@testable import TrustedIssuers

/// What the issuers of an app send, and what callers bring as their tokens.
extension FuzzedReader {
    static let tokens = [FuzzedReader("sign-in-token", readToken), FuzzedReader("issuer-document", readDocument)]

    /// A token in its compact form, or claims as if their signature were valid: who is accepted is one of the issuer's users, within its
    /// limits.
    @Sendable private static func readToken(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        if input.choice(below: 2) == 0 {
            guard let token = try? CompactToken(input.text) else { return }
            let again = Array(token.signed) + Array(".".utf8) + Array(Base64URL.text(of: token.signature).utf8)
            precondition(again == input.rest, "a token has two spellings")
            precondition(!token.header.isAmbiguous && !token.claims.isAmbiguous, "a name counts twice")
        } else {
            guard let claims = ClaimValue(input.rest), let identity = try? identity(in: claims) else { return }
            precondition(!identity.subject.isEmpty && identity.role != .auditor, "an identity that the settings do not give")
            precondition(identity.expiresAt > tokenTime - issuer.leeway, "an expired token is accepted")
            precondition(identity.expiresAt - identity.issuedAt <= issuer.longestLife, "a token lives too long")
            precondition(identity.tags?.contains { $0.folded.hasPrefix("username:") } != true, "a token names a user by a tag")
        }
    }

    private static func identity(in claims: ClaimValue) throws(TokenError) -> VerifiedIdentity {
        let checks = ClaimChecks(issuer: issuer, claims: claims, type: nil, now: tokenTime)
        try checks.checkAudience()
        try checks.checkClient()
        let times = try checks.times()
        try checks.checkKind()
        return try VerifiedIdentity(checks: checks, times: times)
    }

    private static let tokenTime = Timestamp(seconds: 1_795_220_000)

    private static let issuer: TrustedIssuer = {
        var issuer = TrustedIssuer(
            issuer: "https://id.example.test", audiences: ["app"], keySource: .document(""), algorithms: [.es256])
        issuer.tagsClaim = ClaimPointer("/groups")
        issuer.roleClaim = ClaimPointer("/realm_access/roles")
        issuer.roleRules = [TrustedIssuer.RoleRule(value: "ops", role: .sender)]
        return issuer
    }()

    /// An address, a pointer and the words of a cached answer: keys come over TLS, or from this machine.
    @Sendable private static func readDocument(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        if let address = WebAddress(text) {
            precondition(address.isLoopback || text.hasPrefix("https://"), "keys come without TLS")
            precondition(!address.host.isEmpty && !address.host.contains("@"), "a host that is none")
        }
        if let pointer = ClaimPointer(text), let claims = ClaimValue(bytes) { _ = pointer.value(in: claims) }
        let life = KeySetDownload.life(
            of: FetchedDocument(status: 200, headers: [("Cache-Control", text), ("Age", text)], body: []))
        precondition(KeySetLimits.life.contains(life), "keys live longer than the limits allow")
    }
}
