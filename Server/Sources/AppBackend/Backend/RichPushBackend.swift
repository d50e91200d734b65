import RichPushModel
import ServiceErrors

/// The app backend as its callers see it: HTTP routes, the command line and the demo talk to this and nothing behind it.
///
/// Every function checks who may do what; errors are `ServiceError`. What a caller may not see is `not-found`, exactly like
/// what does not exist.
public struct RichPushBackend: Sendable {
    let parts: BackendParts
    let bearers: BearerAuthenticator
    let defaultPicture = DefaultPicture()
    let sends = SendPace()

    /// Creates a backend from its parts.
    public init(parts: BackendParts) {
        self.parts = parts
        bearers = BearerAuthenticator(
            store: parts.stores.credentials, clock: parts.clock, lifetime: parts.settings.credentialLifetime)
    }

    /// Who presents this credential.
    ///
    /// Throws `unauthenticated`, `too-many-attempts` (with `retryAfter`) after failures from the same source, `overloaded` when
    /// too many passwords wait to be hashed.
    public func authenticate(_ credential: PresentedCredential, from source: SourceAddress) async throws -> Principal {
        switch credential {
        case .basic(let user, let password):
            Principal(user: try await parts.authenticator.authenticate(user: user, password: password, from: source))
        case .bearer(let text): try await bearers.authenticate(text)
        }
    }
}
