import AppBackend
import ClarionTesting
import RichPushModel

/// A content store whose opening a test can hold up and count.
final class GatedContentStore: ContentStore {
    let opening = Gate()
    private let base: any ContentStore

    init(_ base: any ContentStore) { self.base = base }

    func open(_ digest: ContentDigest) async throws -> (any ContentReader)? {
        await opening.pass()
        return try await base.open(digest)
    }

    func beginUpload(limit: Int64) async throws -> any ContentUpload { try await base.beginUpload(limit: limit) }

    func remove(_ digest: ContentDigest, storedBefore moment: Timestamp) async throws -> Bool {
        try await base.remove(digest, storedBefore: moment)
    }

    func digests(after digest: ContentDigest?, limit: Int) async throws -> [ContentDigest] {
        try await base.digests(after: digest, limit: limit)
    }
}
