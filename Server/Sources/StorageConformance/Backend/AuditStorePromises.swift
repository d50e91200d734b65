import AppBackend
import AuditTrail
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess
import Testing

/// What an `AuditStore` promises.
public enum AuditStorePromises {
    /// Every promise.
    public static let all: [StoragePromise<any BackendStore>] = [
        keepsEntries, withTheAct, withTheUser, withTheSend, oneEnd, sealsWithoutGaps, sealsByTwo, pages, filters,
        keepsCheckpoints,
        prunes, prunesNothingUnsigned, erases, erasesAudiences, sparesEarlier, readsOnce, erasesInPieces,
    ]

    private typealias Sample = BackendSample

    /// An entry of a user, some seconds after the start.
    private static func entry(
        _ action: AuditAction = .userChanged, by actor: AuditActor = .user("Ann"), at seconds: Int64 = 0,
        subject: String = "", object: String = "", details: String = ""
    ) -> AuditEntry {
        AuditEntry(
            action, by: actor, from: actor == .command ? "" : "192.0.2.0/24", at: Sample.time(seconds), subject: subject,
            object: object, details: details)
    }

    private static func key() throws -> AuditSigningKey { try AuditSigningKey(seed: Array(repeating: 7, count: 32)) }

    private static func erasure(
        of name: String, installations: [InstallationID] = [], since: Timestamp = Sample.start, readTo: Int64 = 0
    ) throws -> AuditErasure {
        AuditErasure(of: try Sample.name(name), installations: installations, since: since, readTo: readTo)
    }

    /// Every sealed entry, after a seal of what there is.
    private static func sealed(_ store: any BackendStore) async throws -> [SealedAuditEntry] {
        while try await store.sealAudit(limit: 100) > 0 {}
        return try await store.auditEntries(after: 0, limit: 1000)
    }

    /// What a verifier finds from the anchor on, after a seal of what there is.
    private static func problems(_ store: any BackendStore) async throws -> [AuditProblem] {
        _ = try await sealed(store)
        let anchor = try await store.auditEnds().anchor
        let checkpoints = try await store.auditCheckpoints(after: -1, limit: 100)
        var verifier = AuditVerifier(anchor: anchor, checkpoints: checkpoints, key: try key().publicKey)
        for entry in try await store.auditEntries(after: anchor.size, limit: 1000) { verifier.read(entry) }
        return verifier.finish()
    }

    private static let keepsEntries = StoragePromise<any BackendStore>(
        "an entry comes back as it was made, with its texts, once it is sealed"
    ) { store in
        let made = entry(.keyCreated, at: 3, subject: "shop 😀", object: "17", details: "scopes=send,status")
        try await store.record(made)
        #expect(try await store.auditEntries(after: 0, limit: 9).isEmpty)
        #expect(try await store.auditEntries(AuditFilter(), after: 0, before: .max, limit: 9).isEmpty)
        #expect(try await store.sealAudit(limit: 9) == 1)
        let found = try #require(try await store.auditEntries(after: 0, limit: 9).first)
        #expect(found.number == 1)
        #expect(found.entry == made)
        #expect(found.entry.actor.content?.text == "Ann 192.0.2.0/24")
        #expect(found.hash == AuditHead.empty.appending(made).hash)
        #expect(try await store.sealAudit(limit: 9) == 0)
    }

    private static let withTheAct = StoragePromise<any BackendStore>(
        "the entry of an act is written with the act, and not when the act fails"
    ) { store in
        let new = NewUser(name: try Sample.name("bob"), role: .user, password: nil)
        _ = try await store.createUser(new, at: Sample.start, audit: entry(.userCreated, subject: "bob"))
        _ = try? await store.createUser(new, at: Sample.start, audit: entry(.userCreated, subject: "bob"))
        #expect(try await store.sealAudit(limit: 9) == 1)
        let key = try await store.createKey(
            try Sample.keyDraft("shop", digest: 1), at: Sample.start, audit: entry(.keyCreated, subject: "shop"))
        _ = try? await store.createKey(
            try Sample.keyDraft("shop", digest: 2), at: Sample.start, audit: entry(.keyCreated, subject: "shop"))
        _ = try? await store.replaceKey(
            key.id + 1, with: try Sample.keyDraft("shop", digest: 3), end: Sample.time(1), at: Sample.start,
            audit: entry(.keyRolled))
        _ = try await store.revokeKey(key.id + 1, at: Sample.start, audit: entry(.keyRevoked))
        let after = try await sealed(store)
        #expect(after.map(\.entry.action) == [.userCreated, .keyCreated])
        #expect(after.last?.entry.object == "\(key.id)")
    }

    private static let withTheUser = StoragePromise<any BackendStore>(
        "each change of a user writes its entry, and none for a user who does not exist"
    ) { store in
        let bob = try await Sample.user("bob", in: store)
        let hash = try Sample.hash("new")
        for id in [bob.id, UserID(999)] {
            _ = try await store.setRole(.user, of: id, audit: entry(object: "role"))
            for object in ["tags", "the same tags"] {
                _ = try await store.setTags(
                    ["gold"].compactMap(Tag.init), of: id, mark: 1, at: Sample.start, audit: entry(object: object))
            }
            _ = try await store.setPassword(hash, of: id, at: Sample.start, audit: entry(object: "password"))
            _ = try await store.endSessions(of: id, isDisabled: true, at: Sample.start, audit: entry(object: "disabled"))
            _ = try await store.removeUser(id, mark: 1, at: Sample.start, audit: entry(object: "removed"))
        }
        let objects = try await sealed(store).map(\.entry.object)
        #expect(objects.sorted() == ["disabled", "password", "removed", "role", "tags"])
    }

    private static let withTheSend = StoragePromise<any BackendStore>(
        "a send writes one entry with its number, and a repeat of it none; a recall writes one, and a second recall none"
    ) { store in
        let ann = try await Sample.user("ann", in: store)
        let draft = try Sample.draft(from: ann, to: "news", key: Sample.key("k"))
        guard case .accepted(let send) = try await store.accept(draft, at: Sample.start, audit: entry(.sendAccepted)) else {
            throw Sample.Unexpected(what: "the draft was not accepted as new")
        }
        _ = try await store.accept(draft, at: Sample.start, audit: entry(.sendAccepted))
        for seconds in [Int64(5), 6] {
            _ = try await store.recall(
                send.id, at: Sample.time(seconds), contentExpiry: Sample.time(seconds),
                audit: entry(.sendRecalled, at: seconds, object: "\(send.id)"))
        }
        let found = try await sealed(store)
        #expect(found.map(\.entry.action) == [.sendAccepted, .sendRecalled])
        #expect(found.map(\.entry.object) == ["\(send.id)", "\(send.id)"])
    }

    private static let oneEnd = StoragePromise<any BackendStore>(
        "a send has one entry of its end: a recall after it, or a hand-over while it is recalled, writes no second one"
    ) { store in
        let ann = try await Sample.user("ann", in: store)
        func end(_ id: RichID) -> AuditEntry { entry(.sendEnded, by: .server, object: "\(id)") }
        var ids: [RichID] = []
        for _ in 0..<3 { ids.append(try await Sample.send(try Sample.draft(from: ann, to: "a"), in: store).id) }
        try await store.markCompleted(ids[0], at: Sample.time(1), order: nil, audit: end(ids[0]))
        try await store.markRefused(ids[1], at: Sample.time(1), audit: end(ids[1]))
        for id in ids {
            _ = try await store.recall(id, at: Sample.time(2), contentExpiry: Sample.time(2), audit: nil)
            for seconds in [Int64(3), 4] {
                try await store.markCancelled(id, at: Sample.time(seconds), audit: end(id))
                _ = try await store.markSent(id, trackingID: NotificationID(), check: Sample.time(5))
            }
        }
        let ends = try await sealed(store).map(\.entry).filter { $0.action == .sendEnded }
        #expect(ends.map(\.object).sorted() == ids.map { "\($0)" }.sorted())
        #expect(try await store.notification(ids[2])?.completedAt == Sample.time(3))
    }

    private static let sealsWithoutGaps = StoragePromise<any BackendStore>(
        "entries get numbers without a gap in the order of their moments, some at a time, and the chain verifies"
    ) { store in
        #expect(try await store.auditEnds() == AuditEnds(anchor: .empty, head: .empty))
        for seconds in [Int64(4), 1, 3, 0, 2] { try await store.record(entry(at: seconds, object: "\(seconds)")) }
        #expect(try await store.sealAudit(limit: 2) == 2)
        #expect(try await store.auditEnds().head.size == 2)
        let found = try await sealed(store)
        #expect(found.map(\.number) == [1, 2, 3, 4, 5])
        #expect(found.map(\.entry.object) == ["0", "1", "2", "3", "4"])
        let ends = try await store.auditEnds()
        #expect(ends.head == AuditHead(size: 5, hash: found.last?.hash ?? []))
        #expect(ends.anchor == .empty)
        #expect(try await problems(store) == [])
        try await store.record(entry(at: 0, object: "late"))
        #expect(try await sealed(store).last?.entry.object == "late")
    }

    private static let sealsByTwo = StoragePromise<any BackendStore>(
        "two that seal at once, while entries come, give each entry one number in one order"
    ) { store in
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<2 {
                group.addTask {
                    for number in 0..<20 { try await store.record(entry(at: Int64(number), object: "\(writer)-\(number)")) }
                }
            }
            for _ in 0..<2 { group.addTask { for _ in 0..<10 { _ = try await store.sealAudit(limit: 3) } } }
            try await group.waitForAll()
        }
        let found = try await sealed(store)
        #expect(found.map(\.number) == Array(1...40))
        #expect(Set(found.map(\.entry.id)).count == 40)
        #expect(try await problems(store) == [])
    }

    private static let pages = StoragePromise<any BackendStore>(
        "sealed entries are read forward after a number, and backward before one, in pages"
    ) { store in
        for seconds in Int64(1)...5 { try await store.record(entry(at: seconds)) }
        _ = try await sealed(store)
        #expect(try await store.auditEntries(after: 0, limit: 2).map(\.number) == [1, 2])
        #expect(try await store.auditEntries(after: 2, limit: 9).map(\.number) == [3, 4, 5])
        #expect(try await store.auditEntries(after: 5, limit: 9).isEmpty)
        #expect(try await store.auditEntries(AuditFilter(), after: 0, before: .max, limit: 2).map(\.number) == [5, 4])
        #expect(try await store.auditEntries(AuditFilter(), after: 0, before: 4, limit: 9).map(\.number) == [3, 2, 1])
    }

    private static let filters = StoragePromise<any BackendStore>(
        "entries are found by action, by the name of the actor or subject in any case, by moment, and by all of them"
    ) { store in
        try await store.record(entry(.userCreated, by: .user("Ann"), at: 1, subject: "Bob"))
        try await store.record(entry(.userChanged, by: .user("ann"), at: 2, subject: "cid"))
        try await store.record(entry(.userChanged, by: .key("shop"), at: 3, subject: "bob"))
        try await store.record(entry(.userRemoved, by: .command, at: 4, subject: "bobby"))
        _ = try await sealed(store)
        func numbers(_ change: (inout AuditFilter) -> Void) async throws -> [Int64] {
            var filter = AuditFilter()
            change(&filter)
            return try await store.auditEntries(filter, after: 0, before: .max, limit: 9).map(\.number)
        }
        #expect(try await numbers { $0.action = .userChanged } == [3, 2])
        #expect(try await numbers { $0.actor = "ANN" } == [2, 1])
        #expect(try await numbers { $0.subject = "bOb" } == [3, 1])
        #expect(try await numbers { $0.from = Sample.time(3) } == [4, 3])
        #expect(try await numbers { $0.until = Sample.time(3) } == [2, 1])
        let both = try await numbers { ($0.actor, $0.subject) = ("ann", "bob") }
        #expect(both == [1])
        #expect(try await numbers { ($0.actor, $0.action) = ("ann", .userChanged) } == [2])
        #expect(try await numbers { ($0.actor, $0.from) = ("ann", Sample.time(2)) } == [2])
        #expect(try await numbers { ($0.subject, $0.until) = ("bob", Sample.time(2)) } == [1])
        var ofBob = AuditFilter()
        ofBob.subject = "bob"
        #expect(try await store.auditEntries(ofBob, after: 0, before: 3, limit: 9).map(\.number) == [1])
        #expect(try await store.auditEntries(ofBob, after: 0, before: .max, limit: 1).map(\.number) == [3])
        #expect(try await numbers { ($0.actor, $0.subject) = ("shop", "cid") } == [])
        #expect(try await numbers { $0.actor = "192.0.2.0/24" } == [])
    }

    private static let keepsCheckpoints = StoragePromise<any BackendStore>(
        "of the checkpoints of one size the first stays; they come in the order of their sizes, in pages"
    ) { store in
        let heads = (1...3).map { AuditHead(size: $0, hash: Sample.bytes(UInt8($0))) }
        let notes = try heads.map { try AuditCheckpoint($0, with: try key()) }
        for note in [notes[2], notes[0], notes[1]] { try await store.keep(note, at: Sample.start) }
        try await store.keep(
            try AuditCheckpoint(AuditHead(size: 2, hash: Sample.bytes(9)), with: try key()), at: Sample.time(1))
        #expect(try await store.auditCheckpoints(after: -1, limit: 9) == notes)
        #expect(try await store.auditCheckpoints(after: 1, limit: 1) == [notes[1]])
        #expect(try await store.auditCheckpoints(after: 3, limit: 9).isEmpty)
    }

    private static let prunes = StoragePromise<any BackendStore>(
        "pruning removes entries up to the newest checkpoint that is old enough, which becomes the anchor, and the rest verifies"
    ) { store in
        var last: AuditHead?
        for hour in Int64(1)...3 {
            for second in Int64(0)..<4 { try await store.record(entry(at: hour * 100 + second)) }
            _ = try await sealed(store)
            let head = try await store.auditEnds().head
            try await store.keep(try AuditCheckpoint(head, with: try key()), at: Sample.time(hour * 100 + 50))
            if hour == 2 { last = head }
        }
        #expect(
            try await store.pruneAudit(madeBefore: Sample.time(251), at: Sample.time(990), signedBy: try key(), limit: 5) == 5)
        #expect(try await store.auditEnds().anchor == last)
        #expect(try await problems(store) == [])
        #expect(
            try await store.pruneAudit(madeBefore: Sample.time(251), at: Sample.time(990), signedBy: try key(), limit: 5) == 3)
        #expect(
            try await store.pruneAudit(madeBefore: Sample.time(251), at: Sample.time(990), signedBy: try key(), limit: 5) == 0)
        #expect(try await store.auditEntries(after: 0, limit: 99).map(\.number) == [9, 10, 11, 12, 13])
        #expect(try await store.auditCheckpoints(after: -1, limit: 9).map(\.head.size) == [8, 12])
        #expect(try await store.auditEnds().head.size == 13)
        #expect(try await problems(store) == [])
        try await store.record(entry(at: 999))
        let after = try await sealed(store).suffix(2)
        #expect(after.map(\.number) == [13, 14])
        #expect(after.map(\.entry.action) == [.auditPruned, .userChanged], "the move of the anchor left one entry")
        #expect(after.first?.entry.object == "8")
        #expect(try await problems(store) == [])
    }

    private static let prunesNothingUnsigned = StoragePromise<any BackendStore>(
        "without a checkpoint that is old enough nothing is pruned"
    ) { store in
        try await store.record(entry())
        _ = try await sealed(store)
        #expect(
            try await store.pruneAudit(madeBefore: Sample.time(1000), at: Sample.time(990), signedBy: try key(), limit: 9) == 0)
        try await store.keep(try AuditCheckpoint(try await store.auditEnds().head, with: try key()), at: Sample.time(50))
        #expect(try await store.pruneAudit(madeBefore: Sample.time(50), at: Sample.time(990), signedBy: try key(), limit: 9) == 0)
        #expect(try await store.auditEnds().anchor == .empty)
        #expect(try await store.auditEntries(after: 0, limit: 9).count == 1)
    }

    private static let erases = StoragePromise<any BackendStore>(
        "erasing a user leaves no text of theirs, sealed or not, nothing of others is lost, and the chain verifies"
    ) { store in
        try await store.record(entry(by: .user("Bob"), at: 1, subject: "ann", details: "role=user"))
        try await store.record(entry(by: .user("ann"), at: 2, subject: "BOB", details: "tags=team:bobs"))
        try await store.record(entry(by: .user("bobby"), at: 3, subject: "ann", details: "role=admin"))
        _ = try await sealed(store)
        try await store.keep(try AuditCheckpoint(try await store.auditEnds().head, with: try key()), at: Sample.start)
        try await store.record(entry(.signInRefused, by: .unknown("bob"), at: 4))
        // A key and a rule of a hub may have the name too.
        try await store.record(entry(by: .key("bob"), at: 5, subject: "ann", details: "role=user"))
        try await store.record(entry(.keyCreated, by: .hubKey("bob"), at: 6, subject: "bob", details: "scopes=send"))
        try await store.eraseAudit(try erasure(of: "bob"), batch: 9)
        let found = try await sealed(store).map(\.entry)
        let keys = ["bob 192.0.2.0/24", "bob 192.0.2.0/24"]
        #expect(found.map(\.actor.content?.text) == [nil, "ann 192.0.2.0/24", "bobby 192.0.2.0/24", nil] + keys)
        #expect(found.map(\.subject.content?.text) == ["ann", nil, "ann", "", "ann", "bob"])
        #expect(found.map(\.details.content?.text) == ["role=user", nil, "role=admin", "", "role=user", "scopes=send"])
        var filter = AuditFilter()
        filter.actor = "bob"
        let left = try await store.auditEntries(filter, after: 0, before: .max, limit: 9)
        #expect(left.map(\.entry.actorKind) == ["hub-key", "key"])
        #expect(try await problems(store) == [])
    }

    private static let erasesAudiences = StoragePromise<any BackendStore>(
        "erasing a user erases the audiences that name them or their installation, and leaves other audiences"
    ) { store in
        let others = ["username:axb", "username:a_bc", "beta", "$InstallationId:{phone-2}"]
        let audiences = ["username:a_b", "beta && !username:A_B", "$InstallationId:{phone}"] + others
        for (second, audience) in audiences.enumerated() {
            try await store.record(entry(.sendAccepted, at: Int64(second), details: "kind=text audience=\(audience)"))
        }
        let phone = try #require(InstallationID("phone"))
        try await store.eraseAudit(try erasure(of: "a_b", installations: [phone]), batch: 1)
        let details = try await sealed(store).map(\.entry.details.content?.text)
        #expect(details == [nil, nil, nil] + others.map { "kind=text audience=\($0)" })
        #expect(try await problems(store) == [])
    }

    private static let readsOnce = StoragePromise<any BackendStore>(
        "an erasure that goes on behind a number reads no audience before it, and every name"
    ) { store in
        for second in Int64(0)..<2 {
            try await store.record(entry(by: .user("bob"), at: second))
            try await store.record(entry(.sendAccepted, at: second, details: "kind=text audience=username:bob"))
            _ = try await sealed(store)
        }
        try await store.eraseAudit(try erasure(of: "bob", readTo: 2), batch: 9)
        let found = try await sealed(store).map(\.entry)
        #expect(found.filter { $0.action == .sendAccepted }.map { $0.details.content == nil } == [false, true])
        #expect(found.filter { $0.action == .userChanged }.allSatisfy { $0.actor.content == nil })
    }

    private static let sparesEarlier = StoragePromise<any BackendStore>(
        "an erasure with a beginning leaves what happened before it"
    ) { store in
        for second in Int64(0)..<4 {
            try await store.record(entry(by: .user("bob"), at: second, subject: "bob"))
            try await store.record(entry(.sendAccepted, at: second, details: "kind=text audience=username:bob"))
        }
        try await store.eraseAudit(try erasure(of: "bob", since: Sample.time(2)), batch: 9)
        let found = try await sealed(store).map(\.entry)
        #expect(found.filter { $0.action == .userChanged }.map { $0.subject.content == nil } == [false, false, true, true])
        #expect(found.filter { $0.action == .sendAccepted }.map { $0.details.content == nil } == [false, false, true, true])
    }

    private static let erasesInPieces = StoragePromise<any BackendStore>("erasure works through any number of entries in pieces")
    {
        store in
        for second in Int64(0)..<7 { try await store.record(entry(by: .user("bob"), at: second, subject: "bob")) }
        try await store.eraseAudit(try erasure(of: "bob"), batch: 2)
        let found = try await sealed(store).map(\.entry)
        #expect(found.allSatisfy { $0.actor.content == nil && $0.subject.content == nil && $0.details.content == nil })
        #expect(found.count == 7)
        #expect(try await problems(store) == [])
    }
}
