import Logging
import RichPushModel
import Synchronization
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Redeems codes at a provider, besides fetching its documents.
public protocol CodeRedeeming: KeySetFetching {
    /// Posts a form, `application/x-www-form-urlencoded`, with the limits of `fetch`. A redirect is not followed.
    ///
    /// - Parameter authorization: the value of the header of that name; a secret.
    func post(
        _ form: String, to address: WebAddress, authorization: String?
    ) async throws(KeySetFault) -> FetchedDocument
}

/// Why a sign-in at a provider did not come about.
public enum ProviderFault: String, Error, CaseIterable, Sendable {
    /// The provider or its keys cannot be reached.
    case unavailable
    /// The answer is not one to an attempt of this browser, or it came after more than ten minutes.
    case beginAgain = "begin-again"
    /// The person did not agree at the provider.
    case cancelled
    /// The provider refuses the request, the client or the code.
    case refused
    /// The ID token is not valid.
    case notVerified = "not-verified"
}

/// Signs people in at an OpenID Connect provider, by the authorization code flow with PKCE
/// ([OpenID Connect Core section 3.1](https://openid.net/specs/openid-connect-core-1_0.html#CodeFlowAuth),
/// [RFC 7636](https://www.rfc-editor.org/rfc/rfc7636)).
public final class ProviderSignIn: Sendable {
    /// The way to the provider.
    public struct Start: Sendable {
        /// Where the browser goes.
        public let address: String
        /// For a cookie that comes back with the answer; a secret.
        public let attempt: String
    }

    /// What the provider's answer says, from the query of the address.
    public struct Answer: Sendable {
        public var code: String?
        public var state: String?
        public var issuer: String?
        public var error: String?

        /// Creates an answer.
        public init(code: String? = nil, state: String? = nil, issuer: String? = nil, error: String? = nil) {
            self.code = code
            self.state = state
            self.issuer = issuer
            self.error = error
        }
    }

    /// How long an attempt may take.
    public static let attemptLife = ProviderAttempt.life
    /// The longest code that is redeemed.
    private static let longestCode = 4_096

    public let provider: SignInProvider
    /// Verifies the ID tokens. It needs a task that runs `run()`.
    public let tokens: TokenVerifier
    private let back: String
    private let fetching: any CodeRedeeming
    private let clock: any ServiceClock
    private let logger: Logger
    private let known = Mutex<Known>(Known())

    /// The last discovery document, and when the last fetch failed.
    private struct Known {
        var addresses: ProviderAddresses?
        var fetchedAt: Duration?
        var failedAt: Duration?
    }

    /// Creates a value.
    ///
    /// - Parameter back: the address to which the provider sends people back, as it is registered there.
    public init(
        at provider: SignInProvider, back: String, fetching: any CodeRedeeming, store: (any KeySetStore)?,
        clock: any ServiceClock, logger: Logger
    ) async {
        self.provider = provider
        self.back = back
        self.fetching = fetching
        self.clock = clock
        self.logger = logger
        tokens = await TokenVerifier(issuers: [provider.issuer], fetching: fetching, store: store, clock: clock, logger: logger)
    }

    /// Begins an attempt.
    public func begin() async throws(ProviderFault) -> Start {
        let endpoint = try await addresses().authorization
        let attempt = ProviderAttempt(at: clock.now)
        let query = FormText.encode([
            ("response_type", "code"), ("client_id", provider.client), ("redirect_uri", back),
            ("scope", provider.scopes.joined(separator: " ")), ("state", attempt.state), ("nonce", attempt.nonce),
            ("code_challenge", attempt.challenge), ("code_challenge_method", "S256"),
        ])
        return Start(address: "\(endpoint)\(endpoint.hasQuery ? "&" : "?")\(query)", attempt: attempt.text)
    }

    /// Ends an attempt: checks the answer, redeems its code and verifies the ID token.
    ///
    /// - Parameter text: the attempt as the browser kept it.
    public func finish(_ answer: Answer, attempt text: String?) async throws(ProviderFault) -> VerifiedIdentity {
        guard let attempt = text.flatMap(ProviderAttempt.init), attempt.isOpen(at: clock.now),
            let state = answer.state, state.hasSameBytes(as: attempt.state)
        else { throw .beginAgain }
        let addresses = try await addresses()
        // Else the code of another provider could be brought to this one (RFC 9207 section 2.4).
        if let issuer = answer.issuer {
            guard issuer.hasSameBytes(as: provider.issuer.issuer) else { throw note(.refused, "the answer names another issuer") }
        } else if addresses.namesIssuer {
            throw note(.refused, "the answer names no issuer")
        }
        if let error = answer.error {
            throw error == "access_denied" ? .cancelled : note(.refused, "the provider answered \(Self.shown(error))")
        }
        guard let code = answer.code, (1...Self.longestCode).contains(code.utf8.count) else {
            throw note(.refused, "the answer has no code")
        }
        let token = try await redeem(code, of: attempt, at: addresses)
        do throws(TokenError) { return try await tokens.verify(token, nonce: attempt.nonce) } catch {
            throw note(error.isOutage ? .unavailable : .notVerified, error.reason.text)
        }
    }

    private func redeem(
        _ code: String, of attempt: ProviderAttempt, at addresses: ProviderAddresses
    ) async throws(ProviderFault) -> String {
        var form = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", back), ("code_verifier", attempt.verifier),
        ]
        var authorization: String?
        switch (provider.secret, addresses.authentication) {
        case (let secret?, .header): authorization = Self.authorization(provider.client, secret)
        case (let secret?, .form): form += [("client_id", provider.client), ("client_secret", secret)]
        case (nil, _): form.append(("client_id", provider.client))
        }
        let answer: FetchedDocument
        do throws(KeySetFault) {
            answer = try await fetching.post(FormText.encode(form), to: addresses.token, authorization: authorization)
        } catch { throw note(.unavailable, error.text) }
        let body = ClaimValue(answer.body)
        guard answer.status == 200 else {
            let error = body?["error"]?.text.map { " (\(Self.shown($0)))" } ?? ""
            let fault: ProviderFault = answer.status >= 500 || answer.status == 429 ? .unavailable : .refused
            throw note(fault, "the code was answered with status \(answer.status)\(error)")
        }
        guard let token = body?["id_token"]?.text else { throw note(.refused, "the answer to the code has no ID token") }
        return token
    }

    /// Both parts are escaped before ([RFC 6749 section 2.3.1](https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1)).
    private static func authorization(_ client: String, _ secret: String) -> String {
        let pair = "\(PercentEncoding.encode(client)):\(PercentEncoding.encode(secret))"
        return "Basic " + Data(pair.utf8).base64EncodedString()
    }

    /// An error code of the specification; every other text is not repeated.
    private static func shown(_ error: String) -> String {
        let isCode = error.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_") }
        return isCode && (1...40).contains(error.utf8.count) ? error : "an unknown error"
    }

    private func note(_ fault: ProviderFault, _ reason: String) -> ProviderFault {
        logger.warning(
            "A sign-in to the console failed at the provider",
            metadata: ["issuer": "\(provider.issuer.issuer)", "reason": "\(reason)"])
        return fault
    }
}

extension ProviderSignIn {
    /// How long a discovery document is used without asking for another, and how long while none comes.
    private static let life = Duration.seconds(3_600)
    /// The shortest time from a failure to the next fetch, so that many sign-ins do not flood a provider that fails.
    private static let pause = Duration.seconds(5)

    private func addresses() async throws(ProviderFault) -> ProviderAddresses {
        let uptime = clock.uptime
        let (usable, isDue) = known.withLock { known in
            let usable = known.addresses.flatMap { addresses in
                known.fetchedAt.map { uptime - $0 < KeySetLimits.outage } == true ? addresses : nil
            }
            let isYoung = usable != nil && known.fetchedAt.map { uptime - $0 < Self.life } == true
            let mayAsk = known.failedAt.map { uptime - $0 >= Self.pause } ?? true
            return (usable, !isYoung && mayAsk)
        }
        guard isDue else {
            guard let usable else { throw .unavailable }
            return usable
        }
        do throws(KeySetFault) {
            let download = KeySetDownload(issuer: provider.issuer.issuer, fetching: fetching)
            let document = try await download.configuration(of: provider.address)
            let addresses = try ProviderAddresses(document, of: provider.address)
            known.withLock { known in
                known.addresses = addresses
                known.fetchedAt = uptime
            }
            return addresses
        } catch {
            known.withLock { $0.failedAt = uptime }
            let fault = note(.unavailable, error.text)
            guard let usable else { throw fault }
            return usable
        }
    }
}
