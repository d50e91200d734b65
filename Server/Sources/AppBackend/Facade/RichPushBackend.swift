import RichPushModel
import ServiceErrors

/// The app backend as its callers see it: HTTP routes, the command line and the demo talk to this and nothing behind it.
///
/// Every function checks who may do what; errors are `ServiceError`. What a caller may not see is `not-found`, exactly like
/// what does not exist.
public struct RichPushBackend: Sendable {
    let parts: BackendParts

    /// Creates a backend from its parts.
    public init(parts: BackendParts) { self.parts = parts }

    /// Who presents this credential.
    ///
    /// Throws `unauthenticated`, `too-many-attempts` (with `retryAfter`) after failures from the same source, `overloaded` when
    /// too many passwords wait to be hashed.
    public func authenticate(_ credential: PresentedCredential, from source: SourceAddress) async throws -> Principal {
        throw ServiceError(.notReady)
    }
}
