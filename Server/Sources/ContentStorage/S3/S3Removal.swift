import AppBackend
import NIOCore
import RichPushModel

/// Stores and removes contents on a store without locks, so that bytes stored again during their removal are not lost.
///
/// A remover writes a note, then checks the age of the content, removes it if it is old, and deletes the note. A writer checks for notes
/// after storing, waits until they are gone, and then checks whether the content is still there. A remover whose note comes after the
/// writer's check sees a fresh content; an earlier note is seen by the writer. This needs a store with strong read-after-write
/// consistency of reads and lists, such as Amazon's.
struct S3Removal: Sendable {
    /// Notes that are older were left behind by a crash: a removal takes less than two minutes.
    static let staleness: Duration = .seconds(600)
    private static let pause: Duration = .milliseconds(200)
    private static let deadline: Duration = .seconds(30)
    private static let rounds = 5

    let client: S3Client

    /// Removes a content that was stored before the moment; whether it is gone.
    func remove(_ digest: ContentDigest, storedBefore moment: Timestamp) async throws -> Bool {
        let key = S3Keys.object(digest)
        guard let state = try await client.state(of: key) else { return true }
        guard Self.isOlder(state, than: moment) else { return false }
        let note = S3Keys.removal(of: digest)
        try await client.put(ByteBuffer(), at: note)
        // Without an answer the removal may still happen: the note stays until it is stale.
        guard let state = try await client.state(of: key) else {
            try await client.delete(note)
            return true
        }
        let isOld = Self.isOlder(state, than: moment)
        // No retry: a first attempt that seemed lost could run after the note is gone and remove a new content.
        if isOld { try await client.once.delete(key) }
        try await client.delete(note)
        return isOld
    }

    /// Stores a content by `place`, again if needed, so that no removal under way leaves it missing.
    func settle(_ digest: ContentDigest, place: () async throws -> Void) async throws {
        let end = client.clock.uptime + Self.deadline
        for _ in 0..<Self.rounds {
            try await place()
            while try await isBeingRemoved(digest) {
                guard client.clock.uptime < end else { throw S3Fault.timedOut }
                try await client.clock.sleep(for: Self.pause)
            }
            if try await client.state(of: S3Keys.object(digest)) != nil { return }
        }
        throw S3Fault.timedOut
    }

    private func isBeingRemoved(_ digest: ContentDigest) async throws -> Bool {
        let notes = try await client.list(S3Keys.removals(of: digest), limit: 10)
        for note in notes {
            // Both by the clock of the store.
            guard let state = try await client.state(of: note.key) else { continue }
            guard let now = state.storeTime, now - Self.staleness > state.writtenAt else { return true }
        }
        return false
    }

    /// The store reports whole seconds, so a content may be up to a second younger than it seems.
    private static func isOlder(_ state: S3ObjectState, than moment: Timestamp) -> Bool {
        state.writtenAt + .seconds(1) <= moment
    }
}

/// The keys of contents, below the prefix. Only a `ContentDigest` and numbers by chance become keys.
///
/// `objects/{digest}` are the contents. `incoming/{chance}` are large uploads under way: their digest is known only at their end.
/// `removing/{digest}/{chance}` says that a node is about to remove a content, see `S3Removal`. `files/` is `S3FileKeys`.
/// `owner` is `S3OwnerMark`.
enum S3Keys {
    static let objects = "objects/"
    static let incoming = "incoming/"
    static let removing = "removing/"
    static let owner = "owner"
    /// Nothing lies there: who asks for it learns whether the store answers.
    static let probe = "incoming/probe"

    static func object(_ digest: ContentDigest) -> String { objects + digest.text }

    static func upload() -> String { incoming + RandomName.next() }

    static func removals(of digest: ContentDigest) -> String { "\(removing)\(digest.text)/" }

    static func removal(of digest: ContentDigest) -> String { removals(of: digest) + RandomName.next() }

    /// Whether a key is one of these.
    static func isOurs(_ key: String) -> Bool { [objects, incoming, removing, S3FileKeys.files].contains { key.hasPrefix($0) } }
}
