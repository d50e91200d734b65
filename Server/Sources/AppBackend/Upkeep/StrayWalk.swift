import Synchronization

/// Walks through the stored bytes, a piece at every sweep, and notes those that no row names: what a crash between the bytes and
/// their row left behind.
final class StrayWalk: Sendable {
    /// How many digests one step looks at.
    static let piece = 500

    private let position = Mutex<ContentDigest?>(nil)

    /// Looks at the next piece; begins again after the last.
    func step(_ parts: BackendParts) async throws {
        let stored = try await parts.contentStore.digests(after: position.withLock { $0 }, limit: Self.piece)
        try await parts.stores.contents.noteStrays(among: stored)
        position.withLock { $0 = stored.count < Self.piece ? nil : stored.last }
    }
}
