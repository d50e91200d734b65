import AppBackend
import AuditTrail
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess
import Testing

@Suite("The audit as a chain")
struct AuditChainTests {
    @Test("an audit that nothing changed verifies, sealed and signed by the keeper")
    func untouched() async throws {
        let bench = try await AuditBench()
        let keeper = try bench.keeper()
        #expect(try await keeper.checkpoint() != nil)
        #expect(try await keeper.checkpoint() == nil)
        try await bench.backend.setRole(.admin, ofUser: "bob", by: bench.root)
        try await keeper.seal()
        let report = try await bench.report()
        #expect(report.problems == [])
        #expect(report.entries == bench.last + 1)
        #expect(report.size == bench.last + 1)
        #expect(report.checkpoints == 1)
        #expect(report.prunedTo == 0)
    }

    @Test(
        "a row that was changed in the database is found",
        arguments: [
            ("UPDATE audit_entries SET action = 'user.removed' WHERE number = 2", "entry 2 was changed or inserted"),
            ("UPDATE audit_entries SET happened_at = happened_at + 1 WHERE number = 2", "entry 2 was changed or inserted"),
            ("UPDATE audit_entries SET actor_kind = 'installation' WHERE number = 2", "entry 2 was changed or inserted"),
            ("UPDATE audit_entries SET object = '999' WHERE number = 2", "entry 2 was changed or inserted"),
            ("UPDATE audit_entries SET subject = 'zoe' WHERE number = 2", "a text of entry 2 was replaced"),
            ("UPDATE audit_entries SET details = 'role=none' WHERE number = 2", "a text of entry 2 was replaced"),
            ("UPDATE audit_entries SET actor_name = 'zoe' WHERE number = 2", "entry 2 was changed or inserted"),
            ("UPDATE audit_entries SET subject_name = 'zoe' WHERE number = 2", "entry 2 was changed or inserted"),
            ("UPDATE audit_entries SET action = 'no.such' WHERE number = 2", "entry 2 was changed or inserted"),
            ("UPDATE audit_entries SET details_salt = NULL WHERE number = 2", "entry 2 was changed or inserted"),
            ("DELETE FROM audit_entries WHERE number = 2", "entry 2 is missing"),
            ("DELETE FROM audit_entries WHERE number IN (2, 3)", "entries 2 to 3 are missing"),
        ])
    func changedRow(statement: String, problem: String) async throws {
        let bench = try await AuditBench()
        _ = try await bench.keeper().checkpoint()
        try await bench.change(statement)
        #expect(try await bench.report().problems == [problem])
    }

    @Test("an audit whose end was cut off is found by the checkpoint over it")
    func cutOff() async throws {
        let bench = try await AuditBench()
        _ = try await bench.keeper().checkpoint()
        try await bench.change("DELETE FROM audit_entries WHERE number > 2")
        #expect(try await bench.report().problems == ["a checkpoint or the head counts \(bench.last) entries, and there are 2"])
    }

    @Test("an audit that was rewritten is found by a checkpoint that was kept elsewhere")
    func kept() async throws {
        let bench = try await AuditBench()
        let note = try #require(try await bench.keeper().checkpoint())
        try await bench.change("DELETE FROM audit_checkpoints")
        try await bench.change(
            "UPDATE audit_heads SET size = 2, hash = (SELECT hash FROM audit_entries WHERE app_id = 1 AND number = 2)")
        try await bench.change("DELETE FROM audit_entries WHERE number > 2")
        #expect(try await bench.report().problems == [])
        let found = try await bench.backend.audit.verify(with: try AuditBench.signingKey().publicKey, foreign: [note])
        #expect(found.problems == ["a checkpoint or the head counts \(bench.last) entries, and there are 2"])
    }

    @Test("pruning leaves an audit that verifies, and an entry that says what went")
    func pruned() async throws {
        let bench = try await AuditBench()
        let keeper = try bench.keeper(retention: .seconds(86_400))
        _ = try await keeper.checkpoint()
        #expect(try await keeper.prune() == 0)
        bench.test.clock.advance(by: .seconds(86_401))
        #expect(try await keeper.prune() == Int(bench.last))
        #expect(try await keeper.prune() == 0)
        let entries = try await bench.test.audit()
        #expect(entries.map(\.action) == ["audit.pruned"])
        #expect(entries.first?.actorKind == "server")
        #expect(entries.first?.object == "\(bench.last)")
        let report = try await bench.report()
        #expect(report.problems == [])
        #expect(report.prunedTo == bench.last)
        #expect(report.entries == 1)
    }

    @Test("an audit that was cut off at a checkpoint is not taken for a pruned one, and its old entries are listed no more")
    func cutAtCheckpoint() async throws {
        let bench = try await AuditBench()
        let note = try #require(try await bench.keeper().checkpoint())
        try await bench.backend.setRole(.admin, ofUser: "bob", by: bench.root)
        while try await bench.test.store.sealAudit(limit: 100) > 0 {}
        try await bench.change(
            "UPDATE audit_heads SET anchor_size = \(bench.last), anchor_hash = (SELECT hash FROM audit_entries WHERE number = \(bench.last))"
        )
        let found = try await bench.report()
        #expect(
            found.problems == [
                "the audit begins after entry \(note.head.size), and no signed entry says that it was pruned to there"
            ])
        #expect(try await bench.backend.audit.page().entries.map(\.action) == ["user.changed"])
    }

    @Test("a checkpoint from elsewhere of entries that were pruned is counted, and is no problem")
    func prunedCheckpoint() async throws {
        let bench = try await AuditBench()
        let keeper = try bench.keeper(retention: .seconds(86_400))
        let old = try #require(try await keeper.checkpoint())
        try await bench.backend.setRole(.admin, ofUser: "bob", by: bench.root)
        try await keeper.seal()
        _ = try await keeper.checkpoint()
        bench.test.clock.advance(by: .seconds(86_401))
        _ = try await keeper.prune()
        let found = try await bench.backend.audit.verify(with: try AuditBench.signingKey().publicKey, foreign: [old])
        #expect(found.problems == [])
        #expect(found.prunedCheckpoints == 1)
    }

    @Test("an audit that is pruned while it is read is read anew, and verifies")
    func prunedMeanwhile() async throws {
        let bench = try await AuditBench()
        let keeper = try bench.keeper(retention: .seconds(86_400))
        _ = try await keeper.checkpoint()
        bench.test.clock.advance(by: .seconds(86_401))
        let reader = AuditReader(store: PrunedStore(inner: bench.test.store, keeper: keeper))
        let report = try await reader.verify(with: try AuditBench.signingKey().publicKey)
        #expect(report.problems == [])
        #expect(report.prunedTo == bench.last)
    }

    @Test("an erased user is in no entry any more, and the audit verifies")
    func erased() async throws {
        let bench = try await AuditBench()
        _ = try await bench.keeper().checkpoint()
        try await bench.backend.setRole(.sender, ofUser: "ann", by: bench.root)
        _ = try await bench.test.send(bench.root, to: "beta || username:ann")
        _ = await code {
            _ = try await bench.backend.authenticate(.basic(user: "Ann", password: "wrong"), from: TestBackend.source)
        }
        try await bench.backend.eraseUser(name: "ann", by: bench.root)
        _ = try await bench.test.audit()
        let text = try await bench.columns()
        #expect(!text.lowercased().contains("ann"))
        #expect(text.contains("bob"))
        #expect(try await bench.report().problems == [])
        #expect(try await bench.entries().contains { $0.action == "user.erased" })
    }

    @Test("an erasure that was cut off has its entry, and its repetition leaves no name")
    func cutOffErasure() async throws {
        let bench = try await AuditBench()
        bench.test.hub.failCancels(times: 1)
        #expect(await code { try await bench.backend.eraseUser(name: "ann", by: bench.root) } != nil)
        #expect(try await bench.entries().map(\.action) == ["user.erased"])
        try await bench.backend.eraseUser(name: "ann", by: bench.root)
        #expect(try await bench.entries().map(\.action).filter { $0 != "send.ended" } == ["user.erased", "user.erased"])
        #expect(try await !bench.columns().lowercased().contains("ann"))
    }

    @Test("keys and tokens that an erased user made stay, without the name")
    func maker() async throws {
        let bench = try await AuditBench()
        try await bench.backend.addUser(name: "Zoe", password: TestBackend.password(of: "Zoe"), role: .admin)
        let zoe = try await bench.test.signIn("Zoe")
        _ = try await bench.test.key("late", "send", by: zoe)
        _ = try await bench.backend.mintSignInToken(SignInTokenRequest(user: "bob"), by: zoe)
        try await bench.backend.eraseUser(name: "zoe", by: bench.root)
        #expect(try await bench.backend.keys().keys.map(\.createdBy) == ["a command", "user"])
        #expect(try await bench.test.rows(of: "sign_in_tokens WHERE created_by = 'user'") == 1)
    }

    @Test("a user who is locked out with other changes is so although the hub cannot be reached for those")
    func lockedOutFirst() async throws {
        let bench = try await AuditBench()
        bench.test.hub.failDevices(times: 9)
        let gold = try #require(Tag("gold"))
        let found = await code {
            try await bench.backend.changeUser(
                name: "ann", role: nil, tags: [gold], password: nil, isDisabled: true, by: bench.root)
        }
        #expect(found != nil)
        #expect(try await bench.backend.user("ann").disabledAt != nil)
    }

    @Test("an export leaves one entry, which names the user")
    func exported() async throws {
        let bench = try await AuditBench()
        try await bench.backend.exportUser(name: "ann", by: bench.root, line: { _ in }, content: { _, _, _ in })
        #expect(try await bench.entries().map(\.subject) == ["ann"])
    }

    @Test("a page examines a bounded number of entries, and the next one goes on")
    func windows() async throws {
        let bench = try await AuditBench()
        for number in 0..<45 {
            try await bench.backend.addUser(name: "user-\(number)", password: nil, role: .user, by: bench.root)
        }
        while try await bench.test.store.sealAudit(limit: 100) > 0 {}
        let reader = AuditReader(store: bench.test.store, window: 3)
        var filter = AuditFilter()
        filter.action = .keyCreated
        let first = try await reader.page(filter)
        #expect(first.entries.isEmpty)
        #expect(first.next == bench.last + 45 + 1 - 30)
        var (found, next) = (first.entries, first.next)
        while next != nil {
            let page = try await reader.page(filter, before: next)
            (found, next) = (found + page.entries, page.next)
        }
        #expect(found.map(\.subject) == ["shop"])
        #expect(try await reader.page(limit: 50).entries.count == 50, "without a condition none is passed over")
        filter.subject = "shop"
        #expect(try await reader.page(filter).next == first.next, "a name and another condition have no index")
        filter.action = nil
        #expect(try await reader.page(filter).entries.map(\.subject) == ["shop"])
    }

    @Test("a list from a moment on ends where older entries begin")
    func endsAtMoment() async throws {
        let bench = try await AuditBench()
        bench.test.clock.advance(by: .seconds(48 * 3600))
        var filter = AuditFilter()
        filter.from = bench.test.clock.now
        try await bench.backend.addUser(name: "zoe", password: nil, role: .user, by: bench.root)
        while try await bench.test.store.sealAudit(limit: 100) > 0 {}
        let page = try await AuditReader(store: bench.test.store, window: 1).page(filter)
        #expect(page.entries.map(\.subject) == ["zoe"])
        #expect(page.next == nil)
    }

    @Test("who manages users alone erases nothing from before the user was created, however often; an administrator does")
    func earlierUser() async throws {
        let bench = try await AuditBench()
        let desk = try await bench.test.signIn(with: try await bench.test.key("desk", "users", by: bench.root))
        try await bench.backend.addUser(name: "zoe", password: TestBackend.password(of: "zoe"), role: .admin, by: bench.root)
        try await bench.backend.setRole(.admin, ofUser: "bob", by: try await bench.test.signIn("zoe"))
        try await bench.backend.removeUser(name: "zoe", by: bench.root)
        func texts() async throws -> [String] {
            try await bench.test.audit(after: bench.last).filter { $0.actor?.hasPrefix("zoe ") == true || $0.subject == "zoe" }
                .map(\.action)
        }
        bench.test.clock.advance(by: .milliseconds(1))
        let before = try await texts()
        #expect(before.sorted() == ["user.changed", "user.created", "user.removed"])
        // The removal is not sealed the first time, and the second time follows an erasure.
        for _ in 0..<2 {
            try await bench.backend.addUser(name: "zoe", password: nil, role: .user, by: desk)
            try await bench.backend.eraseUser(name: "zoe", by: desk)
            #expect(try await texts() == before)
        }
        try await bench.backend.addUser(name: "zoe", password: nil, role: .user, by: bench.root)
        try await bench.backend.eraseUser(name: "zoe", by: bench.root)
        #expect(try await texts() == [])
    }

    @Test("the audit is read in pages, newest first, and by filters")
    func pages() async throws {
        let bench = try await AuditBench()
        let first = try await bench.backend.audit.page(limit: 2)
        #expect(first.entries.map(\.number) == [bench.last, bench.last - 1])
        let second = try await bench.backend.audit.page(before: first.next, limit: 500)
        #expect(second.entries.map(\.number) == Array((1...(bench.last - 2)).reversed()))
        #expect(second.next == nil)
        var filter = AuditFilter()
        (filter.action, filter.subject) = (.userCreated, "BOB")
        #expect(try await bench.backend.audit.page(filter).entries.map(\.subject) == ["bob"])
    }
}

/// A store whose audit is pruned as soon as its ends were read.
private struct PrunedStore: AuditStore {
    let inner: any AuditStore
    let keeper: AuditKeeper

    func auditEnds() async throws -> AuditEnds {
        let ends = try await inner.auditEnds()
        _ = try await keeper.prune()
        return ends
    }

    func record(_ entry: AuditEntry) async throws { try await inner.record(entry) }
    func sealAudit(limit: Int) async throws -> Int { try await inner.sealAudit(limit: limit) }
    func keep(_ checkpoint: AuditCheckpoint, at now: Timestamp) async throws { try await inner.keep(checkpoint, at: now) }

    func auditEntries(_ filter: AuditFilter, after: Int64, before: Int64, limit: Int) async throws -> [SealedAuditEntry] {
        try await inner.auditEntries(filter, after: after, before: before, limit: limit)
    }

    func auditEntries(after number: Int64, limit: Int) async throws -> [SealedAuditEntry] {
        try await inner.auditEntries(after: number, limit: limit)
    }

    func auditCheckpoints(after size: Int64, limit: Int) async throws -> [AuditCheckpoint] {
        try await inner.auditCheckpoints(after: size, limit: limit)
    }

    func pruneAudit(
        madeBefore moment: Timestamp, at now: Timestamp, signedBy key: AuditSigningKey, limit: Int
    ) async throws -> Int {
        try await inner.pruneAudit(madeBefore: moment, at: now, signedBy: key, limit: limit)
    }

    func eraseAudit(_ erasure: AuditErasure, batch: Int) async throws {
        try await inner.eraseAudit(erasure, batch: batch)
    }
}
