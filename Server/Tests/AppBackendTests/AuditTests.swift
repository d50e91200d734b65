import AppBackend
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess
import Testing

@Suite("The audit of acts")
struct AuditTests {
    @Test("an act of an administrator leaves one entry with actor, network and subject", arguments: AuditedAct.all)
    func acts(act: AuditedAct) async throws {
        let bench = try await AuditBench()
        try await act.run(bench)
        // A recall ends the send, and the server says so.
        let entries = try await bench.entries().filter { $0.action != "send.ended" }
        #expect(entries.map(\.action) == [act.action.rawValue])
        let entry = try #require(entries.first)
        #expect(entry.actorKind == "user")
        #expect(entry.actor == "root 192.0.2.0/24")
        #expect(entry.subject == act.subject)
        if let details = act.details { #expect(entry.details == details) }
        #expect(entry.at == bench.test.clock.now)
    }

    @Test("an act that is refused leaves none")
    func refusedActs() async throws {
        let bench = try await AuditBench()
        #expect(
            await code { try await bench.backend.addUser(name: "bob", password: nil, role: .user, by: bench.root) } == .conflict)
        #expect(await code { _ = try await bench.test.key("shop", "send", by: bench.root) } == .conflict)
        #expect(await code { try await bench.backend.removeUser(name: "zoe", by: bench.root) } == .notFound)
        #expect(await code { try await bench.backend.revokeKey(999, by: bench.root) } == .notFound)
        #expect(await code { _ = try await bench.test.send(bench.ann, to: "beta") } == .forbidden)
        #expect(await code { try await bench.backend.recall(bench.send, for: bench.ann) } == .notFound)
        #expect(try await bench.entries().map(\.action) == [])
    }

    @Test("an act of a command names no user")
    func commands() async throws {
        let bench = try await AuditBench()
        try await bench.backend.setRole(.admin, ofUser: "bob")
        let entry = try #require(try await bench.entries().first)
        #expect(entry.actorKind == "command")
        #expect(entry.actor == "")
        #expect(entry.subject == "bob")
    }

    @Test("a send of a key names the key, and the number of the send")
    func sendOfKey() async throws {
        let bench = try await AuditBench()
        let id = try await bench.test.send(try await bench.test.signIn(with: bench.key), to: "news || beta")
        let entries = try await bench.entries()
        #expect(entries.map(\.action) == ["send.accepted"])
        #expect(entries.first?.actorKind == "key")
        #expect(entries.first?.actor == "shop 192.0.2.0/24")
        #expect(entries.first?.object == "\(id)")
        #expect(entries.first?.details?.contains("audience=news || beta") == true)
    }

    @Test("a retry of a send leaves no second entry")
    func repeats() async throws {
        let bench = try await AuditBench()
        for _ in 0..<2 { _ = try await bench.test.send(bench.root, to: "beta", key: "k") }
        #expect(try await bench.entries().map(\.action) == ["send.accepted"])
    }

    @Test("the end of a send says how many devices it was for, once")
    func endOfSend() async throws {
        let bench = try await AuditBench()
        bench.test.hub.completeAll()
        for _ in 0..<3 {
            bench.test.clock.advance(by: .seconds(120))
            _ = try await bench.test.upkeep.work()
        }
        let entries = try await bench.entries()
        #expect(entries.map(\.action) == ["send.ended"])
        #expect(entries.first?.actorKind == "server")
        #expect(entries.first?.object == "\(bench.send)")
        #expect(entries.first?.details?.hasPrefix("state=completed targets=1") == true)
    }

    @Test("the end of a send that was recalled, and of one that the hub refused, has its entry")
    func otherEnds() async throws {
        let bench = try await AuditBench()
        try await bench.backend.recall(bench.send, for: bench.root)
        let recalled = try #require(try await bench.entries().first { $0.action == "send.ended" })
        #expect(recalled.object == "\(bench.send)")
        #expect(recalled.details?.hasPrefix("state=cancelled targets=1") == true)
        for _ in 0..<2 {
            bench.test.hub.failNext(.before(ServiceError(.invalidField)))
            #expect(await code { _ = try await bench.test.send(bench.root, to: "beta", key: "k") } != nil)
        }
        let ends = try await bench.entries().filter { $0.action == "send.ended" }.map(\.details)
        #expect(ends == [recalled.details, "state=refused targets=0"])
    }

    @Test("a phone that signs in and out with its user's password leaves an entry of each, with its id")
    func signInAndOut() async throws {
        let bench = try await AuditBench()
        _ = try await bench.test.install(bench.ann, "tablet", handle: 2)
        try await bench.backend.deleteInstallation(id: try #require(InstallationID("tablet")), for: bench.ann)
        let entries = try await bench.entries()
        #expect(entries.map(\.action).sorted() == ["sign-in.accepted", "sign-in.ended"])
        #expect(entries.map(\.actor) == ["ann 192.0.2.0/24", "ann 192.0.2.0/24"])
        #expect(entries.map(\.subject) == ["ann", "ann"])
        #expect(entries.map(\.details) == ["installation=tablet", "installation=tablet"])
    }

    @Test("a phone whose credential has expired is signed out by the server, with an entry")
    func expiredCredential() async throws {
        let bench = try await AuditBench()
        bench.test.clock.advance(by: .seconds(91 * 86_400))
        try await bench.test.upkeep.sweep()
        let entry = try #require(try await bench.entries().first { $0.action == "sign-in.ended" })
        #expect(entry.actorKind == "server")
        #expect(entry.subject == "ann")
        #expect(entry.details == "installation=phone reason=expired")
    }

    @Test("a device of the tutorial leaves one entry when it comes to its user, and none when it is registered again")
    func tutorialDevice() async throws {
        let bench = try await AuditBench()
        let id = try await bench.test.register(bench.ann, handle: 5)
        try await bench.test.register(bench.ann, handle: 6, id: id)
        try await bench.backend.setTags(["gold"].compactMap(Tag.init), ofUser: "ann", by: bench.root)
        let entries = try await bench.entries()
        #expect(entries.map(\.action).sorted() == ["sign-in.accepted", "user.changed"])
        #expect(entries.first { $0.action == "sign-in.accepted" }?.details == "installation=\(id)")
    }

    @Test("a phone that signs itself out is the actor of the entry")
    func ownSignOut() async throws {
        let bench = try await AuditBench()
        try await bench.backend.deleteInstallation(id: try #require(InstallationID("phone")), for: bench.phone.principal)
        let entries = try await bench.entries()
        #expect(entries.map(\.action) == ["sign-in.ended"])
        #expect(entries.first?.actorKind == "installation")
        #expect(entries.first?.actor == "ann 192.0.2.0/24")
    }

    @Test("a key that signs out a user's phone leaves one entry, about the user")
    func signOutByKey() async throws {
        let bench = try await AuditBench()
        let caller = try await bench.test.signIn(with: try await bench.test.key("desk", "devices", by: bench.root))
        try await bench.backend.deleteInstallation(id: try #require(InstallationID("phone")), for: caller)
        let ended = try await bench.entries().filter { $0.action == "sign-in.ended" }
        #expect(ended.count == 1)
        #expect(ended.first?.actor == "desk 192.0.2.0/24")
        #expect(ended.first?.subject == "ann")
        #expect(ended.first?.details == "installation=phone")
    }

    @Test("an update that a phone makes with its credential leaves no entry")
    func ownUpdate() async throws {
        let bench = try await AuditBench()
        _ = try await bench.backend.putInstallation(
            id: try #require(InstallationID("phone")), update: InstallationUpdate(handle: Sample.handle(7), tags: []),
            for: bench.phone.principal)
        #expect(try await bench.entries().map(\.action) == [])
    }

    @Test("a device that goes to another user leaves an entry about the one who loses it")
    func deviceTaken() async throws {
        let bench = try await AuditBench()
        _ = try await bench.test.install(bench.root, "root-phone", handle: 1)
        let entries = try await bench.entries()
        #expect(entries.map(\.action).sorted() == ["device.taken", "sign-in.accepted"])
        let taken = try #require(entries.first { $0.action == "device.taken" })
        #expect(taken.actor == "root 192.0.2.0/24")
        #expect(taken.subject == "ann")
        #expect(taken.details == "installation=phone")
    }

    @Test(
        "a refused password leaves one entry with the name that was given",
        arguments: ["ann", "zoe", "no name at all", "a\nb", ""])
    func refusedPassword(name: String) async throws {
        let bench = try await AuditBench()
        let refused = await code {
            _ = try await bench.backend.authenticate(
                .basic(user: name, password: AuditBench.secret), from: SourceAddress("10.1.2.3"))
        }
        #expect(refused == .unauthenticated)
        let entries = try await bench.entries()
        #expect(entries.map(\.action) == ["sign-in.refused"])
        #expect(entries.first?.actorKind == "unknown")
        #expect(entries.first?.actor == "\(name.replacing("\n", with: "?")) 10.1.2.0/24")
    }

    @Test("a right password leaves no entry, and a long name is cut")
    func names() async throws {
        let bench = try await AuditBench()
        _ = try await bench.test.signIn("ann")
        #expect(try await bench.entries().map(\.action) == [])
        _ = await code {
            _ = try await bench.backend.authenticate(
                .basic(user: String(repeating: "x", count: 5_000), password: "y"), from: TestBackend.source)
        }
        #expect(try await bench.entries().first?.actor == String(repeating: "x", count: 64) + " 192.0.2.0/24")
    }

    @Test("no entry has a password, a secret of a key, a credential, a device token, or a word of a message")
    func nothingSecret() async throws {
        let bench = try await AuditBench()
        for act in AuditedAct.all where ![.userRemoved, .userErased, .keyRevoked].contains(act.action) {
            _ = await code { try await act.run(bench) }
        }
        let rolled = try await bench.test.key("late", "send")
        _ = await code {
            _ = try await bench.backend.authenticate(
                .basic(user: "bob", password: "wrong \(AuditBench.secret)"), from: TestBackend.source)
        }
        let text = try await bench.columns()
        let secrets = [
            AuditBench.secret, TestBackend.password(of: "root"), try #require(rolled.key), try #require(bench.key.key),
            bench.phone.credential, Sample.handle(1), Sample.handle(9),
        ]
        for secret in secrets { #expect(!text.contains(secret)) }
        #expect(text.contains("clk_") == false)
        #expect(text.contains("root"))
    }
}
