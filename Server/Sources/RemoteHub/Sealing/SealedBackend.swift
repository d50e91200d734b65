import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What sending sealed needs of an app backend. Nothing that passes through it can be read there.
///
/// A function throws `Problem` for an answer that says what is wrong.
public protocol SealedBackend: Sendable {
    /// The keys to seal for, and the number of the next send; without names those of the caller.
    func sealingDirectory(of users: [UserName]?) async throws -> SealingDirectory
    /// Stores sealed bytes and returns the id to name them by.
    func upload(sealed bytes: Data) async throws -> String
    /// Sends. The same key twice is one send.
    func send(_ request: SendRequest, idempotencyKey: String) async throws -> SendAnswer
}
