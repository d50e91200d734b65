import AppBackend
import NIOCore
import RichPushModel

/// How contents come and go on a store that has no locks, so that bytes that arrive again while somebody removes them are not lost.
///
/// Who removes a content writes a note that it is about to, then looks how old the content is, removes it if it is old, and takes the
/// note back. Who stores a content looks for such notes afterwards, waits until they are gone, and then looks whether the content is
/// still there. Of a note that comes later than that look the writer sees a content that is fresh; one that was there before is seen. It
/// needs a store on which reads and lists show what was written before, which Amazon's is and the others are.
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
        // Without an answer to the removal nobody knows whether it is still to come: the note stays until it is stale.
        guard let state = try await client.state(of: key) else {
            try await client.delete(note)
            return true
        }
        let isOld = Self.isOlder(state, than: moment)
        // Once: of two that are asked for, the one that seemed lost may come after the note is gone, and take what is new.
        if isOld { try await client.once.delete(key) }
        try await client.delete(note)
        return isOld
    }

    /// Puts a content in its place by `place`, as often as it takes, so that no removal under way can take it away.
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

    /// The store tells whole seconds, so a content may be up to a second younger than it seems.
    private static func isOlder(_ state: S3ObjectState, than moment: Timestamp) -> Bool {
        state.writtenAt + .seconds(1) <= moment
    }
}
