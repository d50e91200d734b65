import ClarionTesting
import Logging
import RichPushModel
import Testing
import WireText

@testable import TrustedIssuers

/// Tokens of a made-up issuer, and what a verifier makes of them.
enum TokenSamples {
    static let issuer = "https://id.example.test"
    static let audience = "clarion"
    /// The second that `ManualClock` begins at.
    static let now: Int64 = 1_800_000_000

    static func header(_ key: SigningKey = .es256, _ changes: [String: String?] = [:]) -> String {
        Raw.object(["alg": "\"\(key.algorithm)\"", "kid": "\"k1\"", "typ": "\"JWT\""], changes)
    }

    static func claims(_ changes: [String: String?] = [:]) -> String {
        Raw.object(
            [
                "iss": JSONText.string(issuer), "aud": JSONText.string(audience), "sub": "\"alice\"", "iat": "\(now)",
                "exp": "\(now + 600)",
            ], changes)
    }

    static func token(
        header: String = header(), claims: String = claims(), key: SigningKey = .es256
    ) -> String {
        let signed = "\(text(header)).\(text(claims))"
        return signed + "." + Base64URL.text(of: key.signature(over: Array(signed.utf8)))
    }

    static func text(_ json: String) -> String { Base64URL.text(of: Array(json.utf8)) }

    /// The settings of the issuer, with fields that a test adds or replaces; an empty list removes one.
    static func issuer(
        keys document: String = Raw.keySet(SigningKey.es256.jwk()), _ changes: [String: [String]] = [:]
    ) async throws -> TrustedIssuer {
        var fields = [
            "issuer": [issuer], "audiences": [audience], "keys-document": [document], "algorithms": ["ES256"],
        ]
        for (name, values) in changes { fields[name] = values.isEmpty ? nil : values }
        return try await TrustedIssuer(fields: fields)
    }

    static func verifier(_ issuers: TrustedIssuer..., clock: ManualClock = ManualClock()) async -> TokenVerifier {
        await TokenVerifier(
            issuers: issuers, fetching: RefusingFetching(), store: nil, clock: clock, logger: LogNotes().logger)
    }

    /// What comes of a token with the usual keys and the settings that a test names; `nil` for an accepted one.
    static func reason(
        _ token: String, keys: String = Raw.keySet(SigningKey.es256.jwk()), _ settings: [String: [String]] = [:]
    ) async throws -> TokenError.Reason? {
        await reason(token, by: await verifier(try await issuer(keys: keys, settings)))
    }

    static func reason(_ token: String, by verifier: TokenVerifier) async -> TokenError.Reason? {
        do throws(TokenError) {
            _ = try await verifier.verify(token)
            return nil
        } catch { return error.reason }
    }

    static func identity(_ changes: [String: String?] = [:], _ settings: [String: [String]] = [:]) async throws
        -> VerifiedIdentity
    {
        try await verifier(try await issuer(settings)).verify(token(claims: claims(changes)))
    }

    static func issuer(_ settings: [String: [String]]) async throws -> TrustedIssuer {
        try await issuer(keys: Raw.keySet(SigningKey.es256.jwk()), settings)
    }
}

/// Fetches nothing: for issuers whose keys are in a file.
private struct RefusingFetching: KeySetFetching {
    func fetch(_ address: WebAddress) async throws(KeySetFault) -> FetchedDocument {
        Issue.record("\(address) was fetched for an issuer with a key file")
        throw KeySetFault("not here")
    }
}
