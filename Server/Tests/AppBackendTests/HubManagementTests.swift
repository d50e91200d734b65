import AppBackend
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess
import Testing

@Suite("The management of hubs")
struct HubManagementTests {
    @Test("a new hub answers with the keys of its two rules, which are those that sign, and shows them never again")
    func create() async throws {
        let test = try await TestBackend()
        let made = try await test.backend.createHub(
            HubCreation(name: "News", metadata: "for tests", registrationSeconds: 86_400, allowsProtectedTags: true))
        let name = try #require(HubName("news"))
        let stored = try await test.hubs.rules(of: name)
        let rules = try #require(made.rules).sorted { $0.name < $1.name }
        #expect(rules.map(\.name) == [AccessRule.fullName, AccessRule.listenName])
        #expect(rules.map(\.rights) == [["Listen", "Send", "Manage"], ["Listen"]])
        #expect(rules.map(\.primaryKey) == stored.map(\.primary.text))
        #expect(rules.map(\.secondaryKey) == stored.map(\.secondary.text))
        let shown = try await test.backend.hub("NEWS")
        #expect(shown.name == "News")
        #expect(shown.metadata == "for tests")
        #expect(shown.registrationSeconds == 86_400)
        #expect(shown.allowsProtectedTags)
        #expect(!shown.hasOwnAPNsCredential)
        #expect(shown.rules?.map(\.name) == rules.map(\.name))
        #expect(shown.rules?.compactMap(\.primaryKey) == [])
        #expect(shown.rules?.compactMap(\.secondaryKey) == [])
        #expect(await code { _ = try await test.backend.createHub(HubCreation(name: "nEWS")) } == .conflict)
    }

    @Test(
        "what a hub cannot be is refused with the field",
        arguments: [("api", 60, "name:"), ("a b", 60, "name:"), ("a", 59, "registrationSeconds:")])
    func refused(name: String, seconds: Int, field: String) async throws {
        let test = try await TestBackend()
        let error = await refusal {
            _ = try await test.backend.createHub(HubCreation(name: name, registrationSeconds: Int64(seconds)))
        }
        #expect(error?.code == .invalidField)
        #expect(error?.detail?.hasPrefix(field) == true)
        #expect(try await test.backend.hubs().hubs.isEmpty)
    }

    @Test("hubs are listed by name in pages, without rules")
    func list() async throws {
        let test = try await TestBackend()
        for name in ["c", "A", "b"] { _ = try await test.backend.createHub(HubCreation(name: name)) }
        let first = try await test.backend.hubs(limit: 2)
        #expect(first.hubs.map(\.name) == ["A", "b"])
        #expect(first.hubs.compactMap(\.rules).isEmpty)
        let second = try await test.backend.hubs(after: first.next, limit: 2)
        #expect(second.hubs.map(\.name) == ["c"])
        #expect(second.next == nil)
    }

    @Test("a last page that is full has no next one, also the longest")
    func fullLastPage() async throws {
        let test = try await TestBackend()
        for number in 100..<200 { _ = try await test.backend.createHub(HubCreation(name: "n\(number)")) }
        let longest = try await test.backend.hubs(limit: 100)
        #expect(longest.hubs.count == 100)
        #expect(longest.next == nil)
        let last = try await test.backend.hubs(after: "n197", limit: 2)
        #expect(last.hubs.map(\.name) == ["n198", "n199"])
        #expect(last.next == nil)
        _ = try await test.backend.createHub(HubCreation(name: "n200"))
        #expect(try await test.backend.hubs(limit: 100).next == "n199")
    }

    @Test("a place in the list that is no name of a hub is refused, and does not begin the list anew")
    func badPlace() async throws {
        let test = try await TestBackend()
        _ = try await test.backend.createHub(HubCreation(name: "news"))
        let error = await refusal { _ = try await test.backend.hubs(after: "a b") }
        #expect(error?.code == .invalidField)
        #expect(error?.detail?.hasPrefix("after:") == true)
    }

    @Test(
        "a key of the app backend's hub is rolled by who manages keys, and by no other",
        arguments: [(["hubs"], ServiceErrorCode.forbidden), (["hubs", "users", "send"], .forbidden), (["admin"], nil)])
    func ownHub(scopes: [String], expected: ServiceErrorCode?) async throws {
        let test = try await TestBackend()
        for name in ["news", "own"] { _ = try await test.backend.createHub(HubCreation(name: name)) }
        let caller = try await test.signIn(with: try await test.key("office") { $0.scopes = scopes })
        let own = try #require(HubName("own"))
        let before = try await test.hubs.rules(of: own)
        func roll(_ hub: String) async -> ServiceErrorCode? {
            await code { _ = try await test.backend.rollHubKey(.primary, ofRule: AccessRule.fullName, of: hub, by: caller) }
        }
        #expect(await roll("OWN") == expected)
        #expect(try await (test.hubs.rules(of: own) == before) == (expected != nil))
        #expect(await roll("news") == nil)
    }

    @Test("a key that is rolled is new and shown once, and the other key of the rule stays")
    func roll() async throws {
        let test = try await TestBackend()
        let made = try await test.backend.createHub(HubCreation(name: "news"))
        let before = try #require(made.rules?.first { $0.name == AccessRule.fullName })
        let rolled = try await test.backend.rollHubKey(.secondary, ofRule: AccessRule.fullName, of: "news")
        #expect(rolled.primaryKey == nil)
        #expect(rolled.secondaryKey != nil)
        #expect(rolled.secondaryKey != before.secondaryKey)
        let name = try #require(HubName("news"))
        let stored = try await test.hubs.rule(named: AccessRule.fullName, of: name)
        #expect(stored.primary.text == before.primaryKey)
        #expect(stored.secondary.text == rolled.secondaryKey)
        let unknown = await code { _ = try await test.backend.rollHubKey(.primary, ofRule: "none", of: "news") }
        #expect(unknown == .notFound)
    }

    @Test("a hub that is removed is gone with its keys; the hub of the app backend stays")
    func remove() async throws {
        let test = try await TestBackend()
        for name in ["news", "own"] { _ = try await test.backend.createHub(HubCreation(name: name)) }
        try await test.backend.removeHub("news")
        #expect(await code { _ = try await test.backend.hub("news") } == .notFound)
        #expect(await code { try await test.backend.removeHub("news") } == .notFound)
        #expect(await code { try await test.backend.removeHub("own") } == .conflict)
        #expect(try await test.backend.hubs().hubs.map(\.name) == ["own"])
    }

    @Test("each change of a hub is audited with its caller, and what was refused is not")
    func audited() async throws {
        let test = try await TestBackend()
        let caller = try await test.signIn(with: try await test.key("office", "hubs"))
        let before = try await test.audit().last?.number ?? 0
        let made = try await test.backend.createHub(HubCreation(name: "news"), by: caller)
        _ = await code { _ = try await test.backend.createHub(HubCreation(name: "news"), by: caller) }
        let rolled = try await test.backend.rollHubKey(.primary, ofRule: AccessRule.listenName, of: "news", by: caller)
        _ = await code { _ = try await test.backend.rollHubKey(.primary, ofRule: "none", of: "news", by: caller) }
        try await test.backend.removeHub("news", by: caller)
        _ = await code { try await test.backend.removeHub("news", by: caller) }
        // In the order of their numbers, which for entries of one moment is that of their ids.
        let entries = try await test.audit(after: before).sorted { $0.action < $1.action }
        #expect(entries.map(\.action) == ["hub.created", "hub.key-rolled", "hub.removed"])
        #expect(entries.map(\.object) == ["news", "news", "news"])
        #expect(entries.map(\.subject) == [nil, nil, nil])
        #expect(entries.map(\.actorKind) == ["key", "key", "key"])
        #expect(entries.map(\.details) == [nil, "rule=\(AccessRule.listenName) key=primary", nil])
        let secrets = (made.rules ?? []).flatMap { [$0.primaryKey, $0.secondaryKey] } + [rolled.primaryKey]
        for secret in secrets.compactMap(\.self) { #expect(!entries.contains { "\($0)".contains(secret) }) }
    }
}
