import ClarionTesting
import RichPushModel
import SQLStorage
import ServiceErrors
import SharedAccess
import Testing

@testable import PushHub
@testable import SQLiteDatabase

@Suite("Hubs with keys and credentials")
struct HubRegistryTests {
    private static let credential = HubAPNsCredential(
        identity: .token(key: "-----BEGIN PRIVATE KEY-----secret", keyID: "KEYKEYKEY0", teamID: "TEAMTEAM00"),
        topic: "com.example.app",
        environment: .sandbox)

    private struct Fixture {
        let store: TemporaryStore
        let clock = ManualClock()
        let key = MasterKey.random()
        let registry: HubRegistry
        let catalog: HubCatalog

        init() async throws {
            store = try await TemporaryStore()
            let hubs = SQLHubStore(store.database)
            let box = SecretBox(key)
            let kept = try #require(HubName("own"))
            registry = HubRegistry(store: hubs, box: box, clock: clock, kept: [kept])
            catalog = HubCatalog(store: hubs, box: box, clock: clock)
        }

        func name(_ text: String) throws -> HubName { try #require(HubName(text)) }
    }

    private func code(_ work: () async throws -> Void) async -> ServiceErrorCode? {
        do { try await work() } catch { return (error as? ServiceError)?.code }
        return nil
    }

    @Test("a new hub has the two default rules, and its keys come back from sealed storage")
    func create() async throws {
        let fixture = try await Fixture()
        let name = try fixture.name("News")
        _ = try await fixture.registry.create(name)
        let rules = try await fixture.registry.rules(of: name)
        #expect(rules.map(\.name) == [AccessRule.fullName, AccessRule.listenName])
        let stored = try await SQLHubStore(fixture.store.database).rules(of: HubID(1))
        for (rule, sealed) in zip(rules, stored) {
            #expect(sealed.primary.hasPrefix("v1."))
            #expect(!sealed.primary.contains(rule.primary.text))
            #expect(sealed.secondary.hasPrefix("v1."))
            #expect(sealed.secondary != sealed.primary)
        }
        #expect(await code { _ = try await fixture.registry.create(try fixture.name("NEWS")) } == .conflict)
    }

    @Test("rules that cannot work are refused before anything is written")
    func badRules() async throws {
        let fixture = try await Fixture()
        let name = try fixture.name("news")
        let bad: [[AccessRule]] = [
            [AccessRule(name: "a b", rights: [.listen])], [AccessRule(name: "a", rights: [])],
            [AccessRule(name: "a", rights: [.listen]), AccessRule(name: "a", rights: [.send])],
            (0...12).map { AccessRule(name: "a\($0)", rights: [.listen]) },
        ]
        for rules in bad {
            #expect(await code { _ = try await fixture.registry.create(name, HubChange(rules: rules)) } == .invalidField)
        }
        let long = HubDetails(userMetadata: String(repeating: "a", count: 1025))
        #expect(await code { _ = try await fixture.registry.create(name, HubChange(details: long)) } == .invalidField)
        #expect(try await fixture.registry.hubs().isEmpty)
    }

    @Test("a rotated key is another one, and the rule's other key stays")
    func rotate() async throws {
        let fixture = try await Fixture()
        let name = try fixture.name("news")
        _ = try await fixture.registry.create(name)
        let before = try await fixture.registry.rule(named: AccessRule.fullName, of: name)
        let after = try await fixture.registry.rotate(.primary, ofRule: AccessRule.fullName, of: name)
        #expect(after.primary != before.primary)
        #expect(after.secondary == before.secondary)
        #expect(after.rights == before.rights)
        #expect(try await fixture.registry.rule(named: AccessRule.fullName, of: name) == after)
        #expect(await code { _ = try await fixture.registry.rotate(.primary, ofRule: "none", of: name) } == .notFound)
    }

    @Test("a sealed key or credential that was copied to another hub does not open there")
    func bound() async throws {
        let fixture = try await Fixture()
        let (one, two) = (try fixture.name("one"), try fixture.name("two"))
        _ = try await fixture.registry.create(one, HubChange(credentials: [.set(.apns(Self.credential))]))
        _ = try await fixture.registry.create(two)
        try await fixture.store.database.write {
            try $0.script(
                "UPDATE hub_rules SET primary_key = (SELECT primary_key FROM hub_rules WHERE hub_id = 1) WHERE hub_id = 2")
            try $0.script(
                "UPDATE hubs SET apns_credential = (SELECT apns_credential FROM hubs WHERE hub_id = 1) WHERE hub_id = 2")
        }
        #expect(await code { _ = try await fixture.registry.rules(of: two) } == .notReady)
        #expect(await code { _ = try await fixture.catalog.credential(of: HubID(2), for: .apns) } == .notReady)
        #expect(try await fixture.catalog.credential(of: HubID(1), for: .apns)?.value.apns == Self.credential)
    }

    @Test("under another master key nothing opens, and the error names neither key nor secret")
    func otherMasterKey() async throws {
        let fixture = try await Fixture()
        let name = try fixture.name("news")
        _ = try await fixture.registry.create(name)
        let other = HubRegistry(
            store: SQLHubStore(fixture.store.database), box: SecretBox(.random()), clock: fixture.clock)
        do {
            _ = try await other.rules(of: name)
            Issue.record("it opened")
        } catch let error as ServiceError {
            #expect(error.code == .notReady)
            #expect(error.description.contains(fixture.key.id))
            #expect(!error.description.contains(fixture.key.text))
        }
    }

    @Test("a change made elsewhere counts after five seconds, also for a hub that did not exist and one that went")
    func freshness() async throws {
        let fixture = try await Fixture()
        let name = try fixture.name("News")
        #expect(try await fixture.catalog.hub(named: "news") == nil)
        _ = try await fixture.registry.create(name)
        #expect(try await fixture.catalog.hub(named: "news") == nil)
        fixture.clock.advance(by: .seconds(5))
        let first = try #require(try await fixture.catalog.hub(named: "NEWS"))
        let rotated = try await fixture.registry.rotate(.secondary, ofRule: AccessRule.listenName, of: name)
        #expect(try await fixture.catalog.hub(named: "news") == first)
        fixture.clock.advance(by: .seconds(5))
        let second = try #require(try await fixture.catalog.hub(named: "news"))
        #expect(second.rules.contains(rotated))
        #expect(second.record.version == first.record.version + 1)
        try await fixture.registry.remove(name)
        #expect(try await fixture.catalog.hub(named: "news") != nil)
        fixture.catalog.forget()
        #expect(try await fixture.catalog.hub(named: "news") == nil)
        #expect(try await fixture.catalog.hub(named: "no hub/../") == nil)
    }

    @Test("a credential that was replaced or removed differs from the one before")
    func credentials() async throws {
        let fixture = try await Fixture()
        let name = try fixture.name("news")
        let hub = try await fixture.registry.create(name, HubChange(credentials: [.set(.apns(Self.credential))]))
        let first = try #require(try await fixture.catalog.credential(of: hub.id, for: .apns))
        #expect(first.value.apns == Self.credential)
        _ = try await fixture.registry.update(name, with: HubChange(credentials: [.set(.apns(Self.credential))]))
        fixture.catalog.forget()
        let second = try #require(try await fixture.catalog.credential(of: hub.id, for: .apns))
        #expect(second.value == first.value)
        #expect(second.sealed != first.sealed)
        _ = try await fixture.registry.update(name, with: HubChange(credentials: [.remove(.apns)]))
        fixture.catalog.forget()
        #expect(try await fixture.catalog.credential(of: hub.id, for: .apns) == nil)
        #expect(try await fixture.catalog.credential(of: HubID(77), for: .apns) == nil)
        #expect(!"\(Self.credential)".contains("PRIVATE"))
    }

    @Test("a node makes sure of its hub and of a rule for all hubs once, and its hub cannot be removed")
    func ensure() async throws {
        let fixture = try await Fixture()
        let own = try fixture.name("own")
        let id = try await fixture.registry.ensure(own)
        let rules = try await fixture.registry.rules(of: own)
        let common = try await fixture.registry.rules(of: nil)
        #expect(rules.count == 2)
        #expect(common.map(\.name) == [HubRegistry.rootRuleName])
        #expect(common.first?.rights.count == 3)
        #expect(try await fixture.registry.ensure(own) == id)
        #expect(try await fixture.registry.rules(of: own) == rules)
        #expect(try await fixture.catalog.commonRules() == common)
        #expect(await code { try await fixture.registry.remove(own) } == .conflict)
    }

    @Test(
        "rules are begun once and together: a process with another master key finds those of the first and adds none of its own")
    func begunTogether() async throws {
        let fixture = try await Fixture()
        let own = try fixture.name("own")
        let store = SQLHubStore(fixture.store.database)
        let id = try await store.ensureHub(named: own.folded, at: fixture.clock.now)
        let other = HubSecrets(SecretBox(MasterKey.random()))
        func begin(_ secrets: HubSecrets) async throws {
            func sealed(_ rule: AccessRule, _ name: HubName?) throws -> SealedAccessRule {
                try secrets.seal(rule, of: name, createdAt: fixture.clock.now, at: fixture.clock.now)
            }
            try await store.beginRules(
                try AccessRule.defaults().map { try sealed($0, own) }, of: id,
                forAll: try sealed(AccessRule(name: HubRegistry.rootRuleName, rights: [.manage]), nil))
        }
        try await begin(HubSecrets(SecretBox(fixture.key)))
        let (rules, common) = (try await store.rules(of: id), try await store.rules(of: nil))
        try await begin(other)
        #expect(try await store.rules(of: id) == rules)
        #expect(try await store.rules(of: nil) == common)
        #expect(rules.count == 2)
        #expect(common.count == 1)
        #expect(try await fixture.registry.ensure(own) == id)
        #expect(try await fixture.registry.rules(of: own).count == 2)
    }

    @Test("a removed hub is cleared in steps and forgotten when no node can write into it any more")
    func clearing() async throws {
        let fixture = try await Fixture()
        let name = try fixture.name("news")
        let hub = try await fixture.registry.create(name)
        let devices = SQLDeviceStore(fixture.store.database)
        let record = try #require(RecordID("phone"))
        func register() async throws {
            let upsert = DeviceUpsert(
                id: record, kind: .installation, handle: DeviceToken(canonical: String(repeating: "A", count: 64)))
            _ = try await devices.upsert(upsert, in: hub.id, at: fixture.clock.now)
        }
        try await register()
        try await fixture.registry.remove(name)
        while try await fixture.registry.clearStep() {}
        #expect(try await devices.count(in: hub.id) == 0)
        // A request that still knew the hub.
        try await register()
        fixture.clock.advance(by: .seconds(121))
        while try await fixture.registry.clearStep() {}
        #expect(try await devices.count(in: hub.id) == 0)
        #expect(try await SQLHubStore(fixture.store.database).removedHubs().isEmpty)
        #expect(await code { try await fixture.registry.remove(name) } == .notFound)
    }
}
