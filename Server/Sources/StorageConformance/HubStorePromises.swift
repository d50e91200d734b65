import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess
import Testing

/// What every store of hubs promises.
public enum HubStorePromises {
    /// All of them.
    public static let all: [StoragePromise<HubStorage>] = [
        createsOnce, ignoresCase, pages, updates, refusesOldVersions, replacesRules, keepsRulesApart, countsVersions,
        changesOneKey,
        rollsAtOnce, removesAtOnce, neverGivesAnIDTwice, clears, ensuresWithoutRules, wakes,
    ]

    private static func name(_ text: String) throws -> HubName { try #require(HubName(text)) }

    private static func rule(_ name: String, _ rights: Set<AccessRight> = [.listen]) -> SealedAccessRule {
        SealedAccessRule(
            name: name, rights: rights, primary: "sealed \(name) 1", secondary: "sealed \(name) 2", createdAt: Sample.start,
            updatedAt: Sample.start)
    }

    private static func content(_ text: String) -> StoredHubChange {
        StoredHubChange(
            details: HubDetails(userMetadata: "of \(text)", registrationLifetime: .seconds(86_400), allowsProtectedTags: true),
            credentials: [.apns: "sealed credential"], rules: [rule("b"), rule("a", [.send, .manage])])
    }

    private static let createsOnce = StoragePromise<HubStorage>("a hub is created once and comes back as it was given") {
        storage in
        let made = try #require(try await storage.hubs.create(try name("News.App"), with: content("News.App"), at: Sample.start))
        #expect(made.name.text == "News.App" && made.version == 1 && made.createdAt == Sample.start)
        #expect(made.details.userMetadata == "of News.App" && made.details.registrationLifetime == .seconds(86_400))
        #expect(made.details.allowsProtectedTags && made.sealedCredentials == [.apns: "sealed credential"])
        #expect(try await storage.hubs.record(named: try name("News.App")) == made)
        #expect(try await storage.hubs.record(of: made.id) == made)
        #expect(try await storage.hubs.rules(of: made.id).map(\.name) == ["a", "b"])
        #expect(try await storage.hubs.create(try name("News.App"), with: content("News.App"), at: Sample.time(1)) == nil)
    }

    private static let ignoresCase = StoragePromise<HubStorage>("names that differ in case are one name, kept as first spelled") {
        storage in
        let made = try await storage.hubs.create(try name("News"), with: content("News"), at: Sample.start)
        #expect(try await storage.hubs.create(try name("nEWS"), with: content("nEWS"), at: Sample.start) == nil)
        #expect(try await storage.hubs.record(named: try name("NEWS"))?.name.text == "News")
        #expect(try await storage.hubs.hub(named: "news") == made?.id)
        #expect(try await storage.hubs.ensureHub(named: "news", at: Sample.start) == made?.id)
    }

    private static let pages = StoragePromise<HubStorage>("hubs are listed by name, page by page") { storage in
        for text in ["c", "A", "b", "D"] {
            _ = try await storage.hubs.create(try name(text), with: content(text), at: Sample.start)
        }
        let first = try await storage.hubs.records(after: nil, limit: 3)
        #expect(first.map(\.name.text) == ["A", "b", "c"])
        #expect(try await storage.hubs.records(after: first.last?.name, limit: 3).map(\.name.text) == ["D"])
    }

    private static let updates = StoragePromise<HubStorage>("an update changes what it names and nothing else") { storage in
        let made = try #require(try await storage.hubs.create(try name("news"), with: content("news"), at: Sample.start))
        let renamed = try await storage.hubs.update(
            made.id, with: StoredHubChange(details: HubDetails(userMetadata: "new")), at: Sample.time(5))
        #expect(renamed?.details == HubDetails(userMetadata: "new") && renamed?.sealedCredentials[.apns] == "sealed credential")
        #expect(renamed?.version == 2 && renamed?.updatedAt == Sample.time(5) && renamed?.createdAt == Sample.start)
        #expect(try await storage.hubs.rules(of: made.id).count == 2)
        let change = StoredHubChange(credentials: [.apns: "other", .browser: "pair"])
        let other = try await storage.hubs.update(made.id, with: change, at: Sample.time(6))
        #expect(other?.sealedCredentials == [.apns: "other", .browser: "pair"] && other?.details.userMetadata == "new")
        let removed = try await storage.hubs.update(made.id, with: StoredHubChange(credentials: [.apns: nil]), at: Sample.time(7))
        #expect(removed?.sealedCredentials == [.browser: "pair"])
        #expect(try await storage.hubs.update(HubID(99), with: StoredHubChange(), at: Sample.start) == nil)
    }

    private static let refusesOldVersions = StoragePromise<HubStorage>(
        "an update for another version than the hub has changes nothing"
    ) { storage in
        let made = try #require(try await storage.hubs.create(try name("news"), with: content("news"), at: Sample.start))
        _ = try await storage.hubs.put(rule("a", [.listen]), of: made.id, at: Sample.time(1))
        let late = await #expect(throws: ServiceError.self) {
            _ = try await storage.hubs.update(
                made.id, with: StoredHubChange(details: HubDetails(), rules: [rule("b")]), ifVersion: made.version,
                at: Sample.time(2), audit: nil)
        }
        #expect(late?.code == .conflict)
        let kept = try #require(try await storage.hubs.record(of: made.id))
        #expect(kept.version == 2)
        #expect(kept.updatedAt == Sample.time(1))
        #expect(kept.details == made.details)
        #expect(try await storage.hubs.rules(of: made.id).map(\.name) == ["a", "b"])
        let changed = try await storage.hubs.update(
            made.id, with: StoredHubChange(details: HubDetails()), ifVersion: kept.version, at: Sample.time(3), audit: nil)
        #expect(changed?.version == 3)
    }

    private static let replacesRules = StoragePromise<HubStorage>("an update with rules replaces all rules of that hub") {
        storage in
        let one = try #require(try await storage.hubs.create(try name("one"), with: content("one"), at: Sample.start))
        let two = try #require(try await storage.hubs.create(try name("two"), with: content("two"), at: Sample.start))
        _ = try await storage.hubs.update(one.id, with: StoredHubChange(rules: [rule("c", [.manage])]), at: Sample.time(1))
        #expect(try await storage.hubs.rules(of: one.id) == [rule("c", [.manage])])
        #expect(try await storage.hubs.rules(of: two.id).count == 2)
    }

    private static let keepsRulesApart = StoragePromise<HubStorage>("rules of a hub, of another and of all hubs do not mix") {
        storage in
        let made = try #require(try await storage.hubs.create(try name("news"), with: content("news"), at: Sample.start))
        #expect(try await storage.hubs.put(rule("root", [.manage]), of: nil, at: Sample.start))
        #expect(try await storage.hubs.rules(of: nil).map(\.name) == ["root"])
        #expect(try await storage.hubs.rules(of: made.id).map(\.name) == ["a", "b"])
        var changed = rule("a", [.listen])
        changed.primary = "another"
        #expect(try await storage.hubs.put(changed, of: made.id, at: Sample.time(1)))
        #expect(try await storage.hubs.rules(of: made.id).first?.primary == "another")
        #expect(try await storage.hubs.removeRule(named: "a", of: nil, at: Sample.start) == false)
        #expect(try await storage.hubs.removeRule(named: "a", of: made.id, at: Sample.start))
        #expect(try await storage.hubs.rules(of: made.id).map(\.name) == ["b"])
        #expect(try await storage.hubs.put(rule("a"), of: HubID(99), at: Sample.start) == false)
    }

    private static let countsVersions = StoragePromise<HubStorage>("each change of a rule counts the hub's version up") {
        storage in
        let made = try #require(try await storage.hubs.create(try name("news"), with: content("news"), at: Sample.start))
        _ = try await storage.hubs.put(rule("c"), of: made.id, at: Sample.time(1))
        _ = try await storage.hubs.removeRule(named: "a", of: made.id, at: Sample.time(2))
        _ = try await storage.hubs.removeRule(named: "a", of: made.id, at: Sample.time(3))
        let found = try await storage.hubs.record(of: made.id)
        #expect(found?.version == 3 && found?.updatedAt == Sample.time(2))
    }

    private static let changesOneKey = StoragePromise<HubStorage>(
        "a new key takes the place of one key of one rule, and brings no rule back"
    ) { storage in
        let made = try #require(try await storage.hubs.create(try name("news"), with: content("news"), at: Sample.start))
        _ = try await storage.hubs.put(rule("a"), of: nil, at: Sample.start)
        var expected = try #require(try await storage.hubs.rules(of: made.id).first)
        (expected.secondary, expected.updatedAt) = ("new", Sample.time(1))
        let changed = try await storage.hubs.setKey(
            "new", in: .secondary, ofRule: "a", of: made.id, at: Sample.time(1), audit: nil)
        #expect(changed == expected)
        #expect(try await storage.hubs.rules(of: made.id) == [expected, rule("b")])
        #expect(try await storage.hubs.rules(of: nil) == [rule("a")])
        #expect(try await storage.hubs.record(of: made.id)?.version == 2)
        _ = try await storage.hubs.removeRule(named: "a", of: made.id, at: Sample.time(2))
        let late = try await storage.hubs.setKey(
            "late", in: .primary, ofRule: "a", of: made.id, at: Sample.time(3), audit: nil)
        #expect(late == nil)
        #expect(try await storage.hubs.rules(of: made.id) == [rule("b")])
        #expect(try await storage.hubs.record(of: made.id)?.version == 3)
    }

    private static let rollsAtOnce = StoragePromise<HubStorage>("of two keys that are rolled at once both are new") { storage in
        let registry = HubRegistry(store: storage.hubs, box: SecretBox(.random()), clock: .system)
        let hub = try name("news")
        _ = try await registry.create(hub)
        for _ in 0..<20 {
            async let primary = registry.rotate(.primary, ofRule: AccessRule.fullName, of: hub)
            async let secondary = registry.rotate(.secondary, ofRule: AccessRule.fullName, of: hub)
            let expected = (try await primary.primary, try await secondary.secondary)
            let stored = try await registry.rule(named: AccessRule.fullName, of: hub)
            #expect(stored.primary == expected.0)
            #expect(stored.secondary == expected.1)
        }
    }

    private static let removesAtOnce = StoragePromise<HubStorage>("a removed hub is gone at once with its rules and credential") {
        storage in
        let made = try #require(try await storage.hubs.create(try name("news"), with: content("news"), at: Sample.start))
        #expect(try await storage.hubs.removeHub(named: try name("NEWS"), at: Sample.time(9)) == made.id)
        #expect(try await storage.hubs.removeHub(named: try name("news"), at: Sample.time(9)) == nil)
        #expect(try await storage.hubs.record(named: made.name) == nil)
        #expect(try await storage.hubs.record(of: made.id) == nil)
        #expect(try await storage.hubs.rules(of: made.id).isEmpty)
        #expect(try await storage.hubs.records(after: nil, limit: 10).isEmpty)
        #expect(try await storage.hubs.update(made.id, with: StoredHubChange(), at: Sample.start) == nil)
        #expect(try await storage.hubs.put(rule("x"), of: made.id, at: Sample.start) == false)
        let late = await #expect(throws: ServiceError.self) {
            _ = try await storage.intake.accept(try Sample.send(hub: made.id, key: .init(key: "k", digest: [1])))
        }
        #expect(late?.code == .notFound)
        #expect(try await storage.intake.notification(key: "k", in: made.id) == nil)
        #expect(try await storage.hubs.removedHubs() == [RemovedHub(id: made.id, removedAt: Sample.time(9))])
        try await storage.hubs.forget(made.id)
        #expect(try await storage.hubs.removedHubs().isEmpty)
    }

    private static let neverGivesAnIDTwice = StoragePromise<HubStorage>("the id of a removed hub is never given again") {
        storage in
        let first = try #require(try await storage.hubs.create(try name("news"), with: content("news"), at: Sample.start))
        _ = try await storage.hubs.removeHub(named: first.name, at: Sample.start)
        try await storage.hubs.forget(first.id)
        let second = try #require(try await storage.hubs.create(try name("news"), with: content("news"), at: Sample.start))
        #expect(second.id > first.id)
    }

    private static let clears = StoragePromise<HubStorage>("what a hub holds is deleted in pieces, and nothing of another hub") {
        storage in
        let made = try #require(try await storage.hubs.create(try name("news"), with: content("news"), at: Sample.start))
        let other = try #require(try await storage.hubs.create(try name("other"), with: content("other"), at: Sample.start))
        for id in [made.id, other.id] {
            for number in 1...7 {
                _ = try await storage.devices.upsert(
                    try Sample.device("d\(number)", handle: number, tags: ["a", "b"]), in: id, at: Sample.start)
            }
            _ = try await storage.intake.accept(try Sample.send(hub: id, key: .init(key: "k", digest: [1])))
        }
        let cap = try #require(FrequencyCap("news", limit: 1, window: .seconds(600)))
        var sends: [HubID: NotificationID] = [:]
        for lease in try await storage.queue.lease(Sample.lease(10)) {
            sends[lease.id.hub] = lease.id.notification
            _ = try await storage.queue.count([try Self.key("d1")], for: cap, of: lease.id, at: Sample.start)
            var checkpoint = SliceCheckpoint(lease: lease, now: Sample.start, disposition: .release(notBefore: Sample.start))
            checkpoint.groupTallies = [1: [.accepted: 1]]
            checkpoint.report = [OutcomeReport.Group(outcome: .accepted, devices: [try #require(RecordID("d1"))])]
            _ = try await storage.queue.checkpoint(checkpoint)
        }
        var steps = 0
        while try await storage.hubs.clear(made.id, limit: 3) > 0 { steps += 1 }
        #expect(steps > 2)
        #expect(try await storage.devices.count(in: made.id) == 0)
        #expect(try await storage.devices.count(in: other.id) == 7)
        for id in [made.id, other.id] {
            let send = try #require(sends[id])
            #expect(try await storage.telemetry.groupOutcomes(of: send, in: id).isEmpty == (id == made.id))
            let reports = try await storage.telemetry.outcomeReports(of: send, limit: 9, in: id)
            #expect(reports.isEmpty == (id == made.id))
            _ = try await storage.devices.upsert(try Sample.device("d1", handle: 1), in: id, at: Sample.time(1))
            let next = SliceID(hub: id, notification: NotificationID(), number: 0)
            let held = try await storage.queue.count([try Self.key("d1")], for: cap, of: next, at: Sample.time(1))
            #expect(held.isEmpty == (id == made.id), "what was counted")
        }
        let leases = try await storage.queue.lease(Sample.lease(10, at: Sample.time(1)))
        #expect(leases.map(\.id.hub) == [other.id])
    }

    private static func key(_ device: String) throws -> SliceKey { SliceKey(of: try Sample.record(device)) }

    private static let wakes = StoragePromise<HubStorage>(
        "a new credential makes what waits after a failure due soon, and nothing else"
    ) { storage in
        let made = try #require(try await storage.hubs.create(try name("news"), with: content("news"), at: Sample.start))
        let other = try #require(try await storage.hubs.create(try name("other"), with: content("other"), at: Sample.start))
        // Failed, failed with a target of its own, failed in another hub, paced, scheduled.
        let sends = [
            try Sample.send(hub: made.id), try Sample.send(hub: made.id), try Sample.send(hub: other.id),
            try Sample.send(hub: made.id),
        ]
        for send in sends { _ = try await storage.intake.accept(send) }
        for lease in try await storage.queue.lease(Sample.lease(10)) {
            var checkpoint = SliceCheckpoint(
                lease: lease, now: Sample.time(1), disposition: .release(notBefore: Sample.time(600)))
            switch sends.firstIndex(where: { $0.id == lease.id.notification }) {
            case 1:
                checkpoint.pending = [
                    PendingTarget(
                        key: SliceKey(7), cause: .notSent, attempts: 1, firstAt: Sample.time(1), notBefore: Sample.time(600))
                ]
            case 0, 2: checkpoint.lease.failures = 3
            default: break
            }
            #expect(try await storage.queue.checkpoint(checkpoint) == .stored(ended: nil))
        }
        _ = try await storage.intake.accept(try Sample.send(hub: made.id, due: Sample.time(500)))
        _ = try await storage.hubs.update(made.id, with: StoredHubChange(details: HubDetails()), at: Sample.time(9))
        #expect(try await storage.queue.lease(Sample.lease(10, at: Sample.time(16))).isEmpty)
        _ = try await storage.hubs.update(made.id, with: StoredHubChange(credentials: [.apns: "new"]), at: Sample.time(10))
        #expect(try await storage.queue.lease(Sample.lease(10, at: Sample.time(14))).isEmpty, "not before all have read it")
        let woken = try await storage.queue.lease(Sample.lease(10, at: Sample.time(16)))
        #expect(Set(woken.map(\.id.notification)) == Set(sends.prefix(2).map(\.id)))
    }

    private static let ensuresWithoutRules = StoragePromise<HubStorage>(
        "a hub that is made sure of has no rules and keeps its name"
    ) { storage in
        let id = try await storage.hubs.ensureHub(named: "hub", at: Sample.start)
        #expect(try await storage.hubs.rules(of: id).isEmpty)
        #expect(try await storage.hubs.record(of: id)?.name.text == "hub")
        #expect(try await storage.hubs.record(of: id)?.updatedAt == Sample.start)
    }
}

/// The calls of the store without an audit entry, as tests make them that are about something else.
extension HubStore {
    public func create(_ name: HubName, with content: StoredHubChange, at now: Timestamp) async throws -> HubRecord? {
        try await create(name, with: content, at: now, audit: nil)
    }

    public func update(_ id: HubID, with change: StoredHubChange, at now: Timestamp) async throws -> HubRecord? {
        try await update(id, with: change, ifVersion: nil, at: now, audit: nil)
    }

    public func put(_ rule: SealedAccessRule, of hub: HubID?, at now: Timestamp) async throws -> Bool {
        try await put(rule, of: hub, at: now, audit: nil)
    }

    public func removeHub(named name: HubName, at now: Timestamp) async throws -> HubID? {
        try await removeHub(named: name, at: now, audit: nil)
    }
}
