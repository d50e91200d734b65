import PushHub
import RichPushModel

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

    let parts: BackendParts
    let strays: StrayWalk

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
        for step in steps {
            do { try await run(step, &report) } catch { failure = failure ?? error }
        }
        do { try await removeOrphans() } catch { failure = failure ?? error }
        if let failure { throw failure }
        return report
    }

    private typealias Step = (_ limit: Int) async throws -> Int

    private var steps: [Step] {
        let (stores, settings, now) = (parts.stores, parts.settings, parts.clock.now)
        let retention = settings.retention
        return [
            { limit in
                try await stores.retention.removeNotifications(
                    endedBefore: now - retention.content - retention.grace, expiredBefore: now - retention.grace, at: now,
                    limit: limit)
            },
            { try await stores.retention.removeBindings(closedBefore: now - Self.bindingMargin, limit: $0) },
            { try await stores.retention.removeAuditEntries(before: now - retention.audit, limit: $0) },
            { try await stores.contents.removeExpired(before: now, limit: $0) },
            { try await endExpired(before: now, limit: $0) },
            { try await stores.notifications.removeIdempotencyKeys(before: now - settings.idempotencyKeyLifetime, limit: $0) },
            { try await stores.signInCounts.removeIdle(before: now, limit: $0) },
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

    /// A device goes with its credential: it could not sign out any more, and would be sent what is for its user for ever.
    private func endExpired(before now: Timestamp, limit: Int) async throws -> Int {
        let expired = try await parts.stores.credentials.expired(before: now, limit: limit)
        for credential in expired {
            if let record = RecordID(credential.installation.text) {
                let seen = try await parts.stores.bindings.state(of: record)
                if seen.credential == credential.digest {
                    try await parts.signOut(record, of: credential.user, ifStill: seen)
                }
            }
            try await parts.stores.credentials.remove(credential)
        }
        return expired.count
    }

    /// The bytes go last: first the row, with the digest noted as an orphan in the same transaction, then the file, then the
    /// note. A crash in between leaves a note or, at worst, a file that the walk finds.
    func removeOrphans() async throws {
        try await strays.step(parts)
        var next: ContentDigest?
        for _ in 0..<Self.mostBatches {
            let page = try await parts.stores.contents.orphans(after: next, limit: Self.batch)
            for digest in page.digests {
                if try await parts.contentStore.remove(digest, storedBefore: parts.clock.now - Self.freshness) {
                    try await parts.stores.contents.forgetOrphan(digest)
                }
            }
            next = page.next
            if next == nil { return }
        }
    }
}
