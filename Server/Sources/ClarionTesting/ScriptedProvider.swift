import Crypto
import Logging
import RichPushModel
import Synchronization
import TrustedIssuers
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A made-up OpenID Connect provider with its key. It is as strict about codes as a real one, and lies where a test says so.
public final class ScriptedProvider: CodeRedeeming {
    public static let issuer = "https://id.example.test"
    /// Where it leads people back to.
    public static let back = "https://push.example.test/console/sign-in/return"

    /// What differs from an honest answer.
    public struct Behaviour: Sendable {
        public var isDown = false
        /// Further members of the discovery document, as raw JSON, each with a comma before it.
        public var discovery = ""
        /// Follows the address to which people are led.
        public var authorizationQuery = ""
        /// The addresses of the endpoints begin with this.
        public var endpoints = ScriptedProvider.issuer
        /// The issuer that the discovery document names.
        public var named = ScriptedProvider.issuer
        /// The status of the answer to a code.
        public var status = 200
        /// The whole answer to a code.
        public var answer: String?
        /// Claims of the ID token in place of the usual ones, as raw JSON; `nil` leaves one out.
        public var claims: [String: String?] = [:]
        public var secret: String? = "s/ecret"

        public init() {}
    }

    /// A form that came with a code.
    public struct Redemption: Sendable {
        public var fields: [String: String]
        public var authorization: String?
    }

    private struct Grant {
        var query: [String: String]
        var subject: String
        var claims: [String: String?]
    }

    private struct State {
        var behaviour = Behaviour()
        var grants: [String: Grant] = [:]
        var fetched: [String] = []
        var redemptions: [Redemption] = []
    }

    private let state = Mutex(State())
    private let key = P256.Signing.PrivateKey()
    /// The moment, in seconds, at which it signs.
    private let now: @Sendable () -> Int64

    public init(now: @escaping @Sendable () -> Int64) { self.now = now }

    /// A server's way to it as a public client. The fields are those of the settings besides issuer, client and algorithms.
    public func signIn(
        _ fields: [String: [String]], clock: any ServiceClock, logger: Logger
    ) async throws -> ProviderSignIn {
        behave { $0.secret = nil }
        let usual = ["issuer": [Self.issuer], "client": ["console"], "algorithms": ["ES256"]]
        return await ProviderSignIn(
            at: try SignInProvider(fields: usual.merging(fields) { $1 }), back: Self.back, fetching: self, store: nil,
            clock: clock, logger: logger)
    }

    /// Changes how it behaves.
    public func behave(_ change: (inout Behaviour) -> Void) { state.withLock { change(&$0.behaviour) } }

    /// The documents that were fetched, in order.
    public var fetched: [String] { state.withLock { $0.fetched } }

    public var redemptions: [Redemption] { state.withLock { $0.redemptions } }

    /// What a person's browser brings back when the person agrees: the query of the address.
    public func agree(to address: String, as subject: String, claims: [String: String?] = [:]) -> String {
        let query = Self.fields(address.split(separator: "?", maxSplits: 1).last ?? "")
        let code = Hexadecimal.random(byteCount: 16)
        state.withLock { $0.grants[code] = Grant(query: query, subject: subject, claims: claims) }
        return "code=\(code)&state=\(query["state"] ?? "")"
    }

    public func fetch(_ address: WebAddress) async throws(KeySetFault) -> FetchedDocument {
        let behaviour = state.withLock { state in
            state.fetched.append(address.text)
            return state.behaviour
        }
        if behaviour.isDown { throw KeySetFault("nothing answers") }
        let isDiscovery = address.text.hasSuffix("/.well-known/openid-configuration")
        return FetchedDocument(status: 200, body: Array((isDiscovery ? Self.discovery(behaviour) : keySet).utf8))
    }

    private static func discovery(_ behaviour: Behaviour) -> String {
        """
        {"issuer":"\(behaviour.named)","jwks_uri":"\(issuer)/keys",\
        "authorization_endpoint":"\(behaviour.endpoints)/authorize\(behaviour.authorizationQuery)",\
        "token_endpoint":"\(behaviour.endpoints)/token"\(behaviour.discovery)}
        """
    }

    public func post(
        _ form: String, to address: WebAddress, authorization: String?
    ) async throws(KeySetFault) -> FetchedDocument {
        let fields = Self.fields(form)
        let (behaviour, grant) = state.withLock { state in
            state.redemptions.append(Redemption(fields: fields, authorization: authorization))
            return (state.behaviour, state.grants.removeValue(forKey: fields["code"] ?? ""))
        }
        if behaviour.isDown { throw KeySetFault("nothing answers") }
        if let answer = behaviour.answer { return FetchedDocument(status: behaviour.status, body: Array(answer.utf8)) }
        guard let grant, Self.fits(fields, grant.query), isClient(fields, authorization, grant.query, behaviour) else {
            return FetchedDocument(status: 400, body: Array(#"{"error":"invalid_grant"}"#.utf8))
        }
        let token = token(grant, behaviour)
        return FetchedDocument(status: behaviour.status, body: Array(#"{"token_type":"Bearer","id_token":"\#(token)"}"#.utf8))
    }

    private static func fits(_ form: [String: String], _ query: [String: String]) -> Bool {
        let hashed = Base64URL.text(of: Array(SHA256.hash(data: Array((form["code_verifier"] ?? "").utf8))))
        return form["grant_type"] == "authorization_code" && form["redirect_uri"] == query["redirect_uri"]
            && hashed == query["code_challenge"] && query["code_challenge_method"] == "S256"
    }

    private func isClient(
        _ form: [String: String], _ authorization: String?, _ query: [String: String], _ behaviour: Behaviour
    ) -> Bool {
        let client = query["client_id"] ?? ""
        guard let secret = behaviour.secret else { return form["client_id"] == client && authorization == nil }
        if form["client_secret"] == secret { return form["client_id"] == client && authorization == nil }
        let pair = "\(PercentEncoding.encode(client)):\(PercentEncoding.encode(secret))"
        return authorization == "Basic " + Data(pair.utf8).base64EncodedString()
    }

    private func token(_ grant: Grant, _ behaviour: Behaviour) -> String {
        let now = now()
        var claims: [String: String] = [
            "iss": JSONText.string(Self.issuer), "aud": JSONText.string(grant.query["client_id"] ?? ""),
            "sub": JSONText.string(grant.subject), "nonce": JSONText.string(grant.query["nonce"] ?? ""), "iat": "\(now)",
            "exp": "\(now + 300)",
        ]
        for (name, value) in grant.claims.merging(behaviour.claims, uniquingKeysWith: { $1 }) { claims[name] = value }
        let body = "{" + claims.map { "\(JSONText.string($0.key)):\($0.value)" }.joined(separator: ",") + "}"
        let signed = [#"{"alg":"ES256","kid":"k1"}"#, body].map { Base64URL.text(of: Array($0.utf8)) }.joined(separator: ".")
        guard let signature = try? key.signature(for: Array(signed.utf8)) else { preconditionFailure("the key cannot sign") }
        return signed + "." + Base64URL.text(of: Array(signature.rawRepresentation))
    }

    private var keySet: String {
        let point = Array(key.publicKey.rawRepresentation)
        let (x, y) = (Base64URL.text(of: Array(point[..<32])), Base64URL.text(of: Array(point[32...])))
        return #"{"keys":[{"kty":"EC","crv":"P-256","kid":"k1","x":"\#(x)","y":"\#(y)"}]}"#
    }

    /// The fields of a form or a query.
    public static func fields(_ text: some StringProtocol) -> [String: String] {
        let pairs = text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), PercentEncoding.decode(parts.count > 1 ? parts[1] : "") ?? "")
        }
        return Dictionary(pairs) { $1 }
    }
}
