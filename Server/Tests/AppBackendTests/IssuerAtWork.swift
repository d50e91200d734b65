import AppBackend
import AuditTrail
import ClarionTesting
import Crypto
import Foundation
import Logging
import RichPushModel
import SharedAccess
import Testing
import TrustedIssuers
import WireText

import struct RichPushModel.Tag

/// A made-up issuer with its key, and a backend that trusts it.
struct IssuerAtWork {
    static let name = "https://id.example.test"

    let test: TestBackend
    let backend: RichPushBackend
    private let key = P256.Signing.PrivateKey()

    /// - Parameters:
    ///   - hasKeys: whether the backend knows the issuer's key; otherwise it could not fetch one.
    ///   - fields: more fields of the issuer's settings.
    init(hasKeys: Bool = true, _ fields: [String: [String]] = ["create-users": ["true"]]) async throws {
        test = try await TestBackend()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        var settings = ["issuer": [Self.name], "audiences": ["clarion"], "algorithms": ["ES256"]]
        if hasKeys { settings["keys-document"] = [Self.keySet(key)] }
        settings.merge(fields) { $1 }
        let verifier = await TokenVerifier(
            issuers: [try await TrustedIssuer(fields: settings)], fetching: NoFetching(), store: nil, clock: test.clock,
            logger: logger)
        // Nothing is fetched after its end, so that a token with unknown keys does not wait.
        if !hasKeys {
            let run = Task { await verifier.run() }
            run.cancel()
            await run.value
        }
        backend = RichPushBackend(
            parts: BackendParts(
                clock: test.clock, hub: test.hub, store: test.store, contentStore: test.contentStore,
                authenticator: try await PasswordAuthenticator(
                    users: test.store, counts: test.store, hasher: test.hasher, clock: test.clock),
                hasher: test.hasher, logger: logger, tokens: verifier))
    }

    private static func keySet(_ key: P256.Signing.PrivateKey) -> String {
        let point = Array(key.publicKey.rawRepresentation)
        let (x, y) = (Base64URL.text(of: Array(point[..<32])), Base64URL.text(of: Array(point[32...])))
        return #"{"keys":[{"kty":"EC","crv":"P-256","kid":"k1","x":"\#(x)","y":"\#(y)"}]}"#
    }

    /// A token that the issuer signs now; `claims` are further members as raw JSON, each with a comma before it.
    func token(_ subject: String, _ claims: String = "") throws -> String {
        let now = test.clock.now.milliseconds / 1_000
        let body = """
            {"iss":"\(Self.name)","aud":"clarion","sub":"\(subject)","iat":\(now),"exp":\(now + 3600)\(claims)}
            """
        let signed = [#"{"alg":"ES256","kid":"k1"}"#, body].map { Base64URL.text(of: Array($0.utf8)) }.joined(separator: ".")
        return signed + "." + Base64URL.text(of: Array(try key.signature(for: Array(signed.utf8)).rawRepresentation))
    }

    func principal(_ token: String, for operation: BackendOperation? = .putInstallation) async throws -> Principal {
        try await backend.authenticate(.bearer(token), from: TestBackend.source, for: operation)
    }

    /// Exchanges a token, and returns the answer.
    @discardableResult
    func exchange(_ token: String, _ installation: String = "phone", handle: Int = 1) async throws -> InstallationAnswer {
        let principal = try await principal(token)
        return try await backend.putInstallation(
            id: try #require(InstallationID(installation)), update: InstallationUpdate(handle: Sample.handle(handle)),
            for: principal)
    }

    /// A one-time token.
    func oneTime(_ user: String, _ change: (inout SignInTokenRequest) -> Void = { _ in }) async throws -> String {
        var request = SignInTokenRequest(user: user)
        change(&request)
        return try await backend.mintSignInToken(request).token
    }

    /// The audit entries of an action, newest first.
    func audit(_ action: AuditAction) async throws -> [AuditEntry] {
        while try await test.store.sealAudit(limit: 100) > 0 {}
        var filter = AuditFilter()
        filter.action = action
        return try await test.store.auditEntries(filter, after: 0, before: .max, limit: 100).map(\.entry)
    }

    /// Why tokens were refused, the last first.
    func refusals() async throws -> [String] { try await audit(.signInRefused).map { $0.details.content?.text ?? "" } }

    /// The tags of a device at the hub.
    func tags(_ record: String) throws -> [String] {
        let device = test.hub.devices.first { $0.key.text == record }
        return try #require(device).value.tags.map(\.text).sorted()
    }
}

/// No issuer can be reached.
private struct NoFetching: KeySetFetching {
    func fetch(_ address: WebAddress) async throws(KeySetFault) -> FetchedDocument { throw KeySetFault("nothing answers") }
}
