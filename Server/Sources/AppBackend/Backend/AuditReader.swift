import AuditTrail
import RichPushModel
import ServiceErrors
import WireText

/// What a verification found.
public struct AuditReport: Sendable, Codable {
    /// How many entries were read.
    public var entries: Int64
    /// The number after which the audit begins: entries up to it were pruned.
    public var prunedTo: Int64
    /// The last number, and the hash of its entry in hexadecimal.
    public var size: Int64
    public var hash: String
    /// How many checkpoints were compared, those from elsewhere too.
    public var checkpoints: Int
    /// How many checkpoints from elsewhere sign entries that were pruned, so that only their signatures were verified.
    public var prunedCheckpoints: Int
    /// How many entries have a text that was erased.
    public var erased: Int64
    /// What is wrong, in words; empty for an intact audit.
    public var problems: [String]
}

/// Reads and verifies the audit. The command line and the HTTP layer call this.
public struct AuditReader: Sendable {
    private let store: any AuditStore
    private let window: Int64

    /// Creates a reader. `window` is how many entries one statement examines for a filter that no index serves.
    public init(store: any AuditStore, window: Int64 = 20_000) {
        self.store = store
        self.window = window
    }

    /// The most entries of one page.
    public static let pageLimit = 500

    /// How many windows one page examines.
    private static let pageWindows = 10

    /// Sealed entries, newest first, with numbers below `number`; `next` continues towards older ones. While there is a `next`, a page may
    /// have fewer entries than `limit`, also none: a page examines a bounded number of them.
    public func page(
        _ filter: AuditFilter = AuditFilter(), before number: Int64? = nil, limit: Int = 100
    ) async throws -> AuditPage {
        let limit = min(max(limit, 1), Self.pageLimit)
        let ends = try await store.auditEnds()
        let window = filter.isServedByIndex ? .max : window
        var before = min(number ?? .max, ends.head.size + 1)
        var found: [SealedAuditEntry] = []
        for _ in 0..<Self.pageWindows where found.count <= limit && before > ends.anchor.size + 1 {
            if let from = filter.from, try await areAll(below: before, olderThan: from) { before = ends.anchor.size + 1; break }
            // Entries up to the anchor count for nothing: they are being pruned.
            let after = max(ends.anchor.size, before - window - 1)
            found += try await store.auditEntries(filter, after: after, before: before, limit: limit + 1 - found.count)
            before = after + 1
        }
        let page = found.prefix(limit)
        let next = found.count > limit ? page.last?.number : before > ends.anchor.size + 1 ? before : nil
        return AuditPage(entries: page.map { AuditAnswer($0) }, next: next)
    }

    /// Whether no entry below a number can be of this moment. Entries are sealed in the order of their moments, but nodes may have clocks
    /// that differ and acts that take their time.
    private func areAll(below number: Int64, olderThan moment: Timestamp) async throws -> Bool {
        let newest = try await store.auditEntries(AuditFilter(), after: 0, before: number, limit: 1).first
        return newest.map { $0.entry.at < moment - .seconds(24 * 3600) } ?? true
    }

    /// The newest checkpoint that is kept.
    public func lastCheckpoint() async throws -> AuditCheckpoint? {
        var last: AuditCheckpoint?
        while let next = try await store.auditCheckpoints(after: last?.head.size ?? -1, limit: Self.pageLimit).last {
            last = next
        }
        return last
    }

    /// Seals what is committed, and reads the whole chain, anew when it is pruned meanwhile. `foreign` are notes of checkpoints that were
    /// kept elsewhere.
    public func verify(with key: AuditPublicKey, foreign: [AuditCheckpoint] = []) async throws -> AuditReport {
        var ends = try await store.auditEnds()
        // Nodes prune hours apart, so a second reading is undisturbed unless it takes that long.
        for _ in 0..<3 {
            // The entry that explains the anchor may be the last one.
            while try await store.sealAudit(limit: Self.pageLimit) == Self.pageLimit {}
            let report = try await verify(ends, with: key, foreign: foreign)
            let now = try await store.auditEnds()
            if now.anchor.size == ends.anchor.size { return report }
            ends = now
        }
        throw ServiceError(.notReady, "the audit was pruned while it was read, three times; verify it again", retryAfter: 60)
    }

    private func verify(
        _ ends: AuditEnds, with key: AuditPublicKey, foreign: [AuditCheckpoint]
    ) async throws -> AuditReport {
        var checkpoints: [AuditCheckpoint] = foreign
        while true {
            let after = checkpoints.dropFirst(foreign.count).last?.head.size ?? -1
            let page = try await store.auditCheckpoints(after: after, limit: Self.pageLimit)
            checkpoints += page
            if page.count < Self.pageLimit { break }
        }
        var verifier = AuditVerifier(anchor: ends.anchor, checkpoints: checkpoints, key: key)
        var count: Int64 = 0
        var last = ends.anchor.size
        while true {
            let page = try await store.auditEntries(after: last, limit: Self.pageLimit)
            for entry in page { verifier.read(entry) }
            count += Int64(page.count)
            last = page.last?.number ?? last
            if page.count < Self.pageLimit { break }
        }
        let problems = verifier.finish(expecting: ends.head.size)
        return AuditReport(
            entries: count, prunedTo: ends.anchor.size, size: verifier.head.size, hash: Hexadecimal.text(of: verifier.head.hash),
            checkpoints: checkpoints.count - verifier.prunedCheckpoints, prunedCheckpoints: verifier.prunedCheckpoints,
            erased: verifier.erasedEntries, problems: problems.map(\.description))
    }
}

extension AuditFilter {
    /// Whether entries are found by an index, however far apart they are: those of one name, or all.
    fileprivate var isServedByIndex: Bool {
        action == nil && from == nil && until == nil && (actor == nil || subject == nil)
    }
}

/// A page of the audit.
public struct AuditPage: Sendable, Codable {
    public var entries: [AuditAnswer]
    /// `before` of the next page; absent on the last page.
    public var next: Int64?
}

/// One entry as callers see it.
public struct AuditAnswer: Sendable, Codable {
    public var number: Int64
    public var at: Timestamp
    public var action: String
    /// `user`, `installation`, `key`, `hub-key`, `command`, `server` or `unknown`.
    public var actorKind: String
    /// The name, and behind a blank the network; absent when it was erased.
    public var actor: String?
    public var subject: String?
    public var object: String?
    public var details: String?
    /// In hexadecimal.
    public var hash: String

    init(_ sealed: SealedAuditEntry) {
        let entry = sealed.entry
        number = sealed.number
        at = entry.at
        action = entry.action.rawValue
        actorKind = entry.actorKind
        actor = entry.actor.content?.text
        subject = Self.shown(entry.subject)
        object = entry.object.isEmpty ? nil : entry.object
        details = Self.shown(entry.details)
        hash = Hexadecimal.text(of: sealed.hash)
    }

    private static func shown(_ text: AuditText) -> String? { text.content.flatMap { $0.text.isEmpty ? nil : $0.text } }
}
