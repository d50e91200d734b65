import AuditTrail
import PushHub
import RichPushModel
import Synchronization

/// Removes what its time has passed: one kind after the other, in small transactions, and so many of each at most that the rest
/// of the upkeep gets its turn.
struct BackendSweep {
    /// The most rows of one transaction.
    static let batch = 100
    /// The most transactions for one kind in one run.
    static let mostBatches = 20
    /// Bytes younger than this stay: an upload of the same bytes may be on its way to its catalogue row.
    static let freshness: Duration = .seconds(3600)
    /// How far back a binding must have been closed, whatever is kept: a send may be on its way to its row.
    static let bindingMargin: Duration = .seconds(3600)

    /// How long the identity of a removed user is kept.
    static let tombstoneLife: Duration = .seconds(8 * 86_400)

    let parts: BackendParts
    let orphanSweep: OrphanSweep

    /// What one run did.
    struct Report {
        /// Whether there is more to remove.
        var isMore = false
        /// Rows that were removed.
        var removed = 0
    }

    /// Runs once. A kind that fails keeps none of the others from its turn; the first failure is
    /// thrown at the end.
    func run() async throws -> Report {
        var report = Report()
        var failure: (any Error)?
        do { try await parts.store.noteSweep(at: parts.clock.now) } catch { failure = error }
        for step in steps {
            do { try await run(step, &report) } catch { failure = failure ?? error }
        }
        do { try await removeOrphans() } catch { failure = failure ?? error }
        if let failure { throw failure }
        return report
    }

    private typealias Step = (_ limit: Int) async throws -> Int

    private var steps: [Step] {
        let (store, settings, now) = (parts.store, parts.settings, parts.clock.now)
        let retention = settings.retention
        return [
            { limit in
                try await store.removeNotifications(
                    endedBefore: now - retention.content - retention.grace, expiredBefore: now - retention.grace, at: now,
                    limit: limit)
            },
            { try await store.removeSchedules(endedBefore: now - retention.content - retention.grace, limit: $0) },
            { try await store.endActivities(createdBefore: now - LiveActivity.lifetime, at: now, limit: $0) },
            { try await store.removeActivities(endedBefore: now - retention.content - retention.grace, limit: $0) },
            { try await store.removeDeliveries(before: now - retention.content, limit: $0) },
            { try await store.removeBindings(closedBefore: now - Self.bindingMargin, limit: $0) },
            { try await store.removeExpiredContents(before: now, limit: $0) },
            { try await endExpired(before: now, limit: $0) },
            { try await store.removeIdempotencyKeys(before: now - settings.idempotencyKeyLifetime, limit: $0) },
            { try await store.removeIdle(before: now, limit: $0) },
            { try await store.removeSignInTokens(expiredBefore: now, limit: $0) },
            { try await store.removeConsoleSessions(expiredBefore: now, limit: $0) },
            // No token of an issuer lives longer than a week, so none that is older than the removal holds after that.
            { try await store.removeIdentities(removedBefore: now - Self.tombstoneLife, limit: $0) },
        ]
    }

    private func run(_ step: Step, _ report: inout Report) async throws {
        for _ in 0..<Self.mostBatches {
            let removed = try await step(Self.batch)
            guard removed > 0 else { return }
            report.removed += removed
        }
        report.isMore = true
    }

    /// A device is removed with its credential: it could no longer sign out, and would get its user's pushes forever.
    private func endExpired(before now: Timestamp, limit: Int) async throws -> Int {
        let expired = try await parts.store.expiredCredentials(before: now, limit: limit)
        for credential in expired {
            if let record = RecordID(credential.installation.text) {
                let seen = try await parts.store.bindingState(of: record)
                if seen.credential == credential.digest {
                    let name = try await parts.store.user(credential.user)?.name.text ?? ""
                    try await parts.signOut(
                        record, of: credential.user, ifStill: seen,
                        audit: AuditEntry(
                            .signedOut, by: .server, at: now, subject: name,
                            details: "\(AuditEntry.installation(record.text)) reason=expired"))
                }
            }
            try await parts.store.remove(credential)
        }
        return expired.count
    }

    /// The bytes go last: first the row, with the digest noted as an orphan in the same transaction, then the file, then the
    /// note. A crash in between leaves a note or, at worst, a file that the walk finds.
    func removeOrphans() async throws {
        try await orphanSweep.step(parts)
        var next: ContentDigest?
        for _ in 0..<Self.mostBatches {
            let page = try await parts.store.orphans(after: next, limit: Self.batch)
            for digest in page.digests {
                if try await parts.contentStore.remove(digest, storedBefore: parts.clock.now - Self.freshness) {
                    try await parts.store.forgetOrphan(digest)
                }
            }
            next = page.next
            if next == nil { return }
        }
    }
}

/// Walks through the stored bytes, a piece at every sweep, and notes those that no row names: what a crash between the bytes and
/// their row left behind.
final class OrphanSweep: Sendable {
    /// How many digests one step looks at.
    static let piece = 500

    private let position = Mutex<ContentDigest?>(nil)

    /// Looks at the next piece; begins again after the last.
    func step(_ parts: BackendParts) async throws {
        let stored = try await parts.contentStore.digests(after: position.withLock { $0 }, limit: Self.piece)
        try await parts.store.noteOrphans(among: stored)
        position.withLock { $0 = stored.count < Self.piece ? nil : stored.last }
    }
}
