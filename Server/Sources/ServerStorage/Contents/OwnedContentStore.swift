import AppBackend
import RichPushModel
import ServiceErrors
import Synchronization

/// A bucket out of which nothing is removed, and in which nobody looks for what to remove, unless its contents are the database's.
///
/// The start looks at that, but not where the bucket was away then; and another database may have adopted the contents since.
final class OwnedContentStore: ContentStore {
    /// How long an answer counts: a sweep removes many at a time.
    private static let trust: Duration = .seconds(10)

    private let base: any ContentStore
    private let clock: any ServiceClock
    private let require: @Sendable () async throws -> Void
    private let lastAnswer = Mutex<Duration?>(nil)
    private let wasOwn = Mutex(false)

    /// - Parameter require: throws unless the contents are the database's.
    init(_ base: any ContentStore, clock: any ServiceClock, require: @escaping @Sendable () async throws -> Void) {
        self.base = base
        self.clock = clock
        self.require = require
    }

    /// Where the start could not look, the first upload does: another database would remove the bytes within an hour.
    func beginUpload(limit: Int64) async throws -> any ContentUpload {
        if !wasOwn.withLock({ $0 }) {
            // Whose it is, is for the operator alone. A removal asks by itself: the contents may have been adopted since.
            do { try await require() } catch { throw ServiceError(.storageUnavailable, "the content store cannot be used now") }
            wasOwn.withLock { $0 = true }
        }
        return try await base.beginUpload(limit: limit)
    }

    func open(_ digest: ContentDigest) async throws -> (any ContentReader)? { try await base.open(digest) }

    func remove(_ digest: ContentDigest, storedBefore moment: Timestamp) async throws -> Bool {
        try await look()
        return try await base.remove(digest, storedBefore: moment)
    }

    func digests(after digest: ContentDigest?, limit: Int) async throws -> [ContentDigest] {
        try await look()
        return try await base.digests(after: digest, limit: limit)
    }

    var handsOutLinks: Bool { base.handsOutLinks }

    func link(to digest: ContentDigest, mediaType: String, disposition: String, lifetime: Duration) -> String? {
        base.link(to: digest, mediaType: mediaType, disposition: disposition, lifetime: lifetime)
    }

    private func look() async throws {
        let now = clock.uptime
        if let last = lastAnswer.withLock({ $0 }), now - last < Self.trust { return }
        try await require()
        lastAnswer.withLock { $0 = now }
    }
}
