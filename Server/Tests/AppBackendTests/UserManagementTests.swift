import AppBackend
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess
import Testing

@Suite("The management of users")
struct UserManagementTests {
    private static let tags = ["team:red", "gold"].compactMap(Tag.init)

    /// The tags that the hub has of a device.
    private func tags(_ test: TestBackend, _ record: String) throws -> [String] {
        (test.hub.devices[try #require(RecordID(record))]?.tags ?? []).map(\.text)
    }

    @Test("the tags of a user reach devices that are signed in, and their credentials stay")
    func reachDevices() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann", .user)
        let phone = try await test.install(ann, "phone", handle: 1)
        try await test.register(ann, handle: 2, id: "tablet")
        try await test.backend.setTags(Self.tags, ofUser: "ann")
        #expect(try tags(test, "phone") == ["username:ann", "team:red", "gold"])
        #expect(try tags(test, "tablet") == ["username:ann", "team:red", "gold"])
        let caller = try await test.backend.authenticate(.bearer(phone.credential), from: TestBackend.source)
        #expect(caller.installation?.text == "phone")
    }

    @Test("a change of a user's tags takes the former ones away and keeps the client's own")
    func keepOwn() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann", .user)
        _ = try await test.install(ann, "phone", handle: 1, tags: ["beta"].compactMap(Tag.init))
        try await test.backend.setTags(Self.tags, ofUser: "ann")
        #expect(try tags(test, "phone") == ["username:ann", "team:red", "gold", "beta"])
        try await test.backend.setTags(["silver"].compactMap(Tag.init), ofUser: "ann")
        #expect(try tags(test, "phone") == ["username:ann", "silver", "beta"])
        try await test.backend.setTags([], ofUser: "ann")
        #expect(try tags(test, "phone") == ["username:ann", "beta"])
    }

    @Test("a device that signs in later has the tags of its user, beside its own")
    func laterDevices() async throws {
        let test = try await TestBackend()
        try await test.backend.addUser(
            name: "ann", password: TestBackend.password(of: "ann"), role: .user, tags: Self.tags)
        let ann = try await test.signIn("ann")
        let phone = try await test.install(ann, "phone", handle: 1, tags: ["beta"].compactMap(Tag.init))
        #expect(try tags(test, "phone") == ["username:ann", "team:red", "gold", "beta"])
        _ = try await test.backend.putInstallation(
            id: try #require(InstallationID("phone")), update: InstallationUpdate(handle: Sample.handle(2), tags: []),
            for: phone.principal)
        #expect(try tags(test, "phone") == ["username:ann", "team:red", "gold"])
    }

    @Test("the tags of one user reach no device of another")
    func othersKeepTheirs() async throws {
        let test = try await TestBackend()
        _ = try await test.install(try await test.user("ann", .user), "phone", handle: 1)
        _ = try await test.install(try await test.user("bob", .user), "tablet", handle: 2)
        try await test.backend.setTags(Self.tags, ofUser: "ann")
        #expect(try tags(test, "tablet") == ["username:bob"])
    }

    @Test("a change of tags that failed at one device is complete on every device after a retry and the upkeep")
    func retriedTags() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann", .user)
        for number in 1...3 { _ = try await test.install(ann, "phone-\(number)", handle: number) }
        try await test.backend.setTags(Self.tags, ofUser: "ann")
        test.hub.failDevices(times: 1)
        #expect(await code { try await test.backend.setTags([], ofUser: "ann") } == .storageUnavailable)
        try await test.backend.setTags([], ofUser: "ann")
        test.clock.advance(by: .seconds(121))
        try await test.upkeep.endChanges()
        for number in 1...3 { #expect(try tags(test, "phone-\(number)") == ["username:ann"]) }
    }

    @Test("tags that a process stored before it died reach the hub by the upkeep, and the former ones leave it")
    func diedAfterStoring() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann", .user)
        _ = try await test.install(ann, "phone", handle: 1, tags: ["beta"].compactMap(Tag.init))
        try await test.backend.setTags(Self.tags, ofUser: "ann")
        let silver = ["silver"].compactMap(Tag.init)
        _ = try await test.store.setTags(silver, of: ann.userID, mark: 1, at: test.clock.now, audit: nil)
        try await test.backend.setTags(silver, ofUser: "ann")
        test.clock.advance(by: .seconds(121))
        try await test.upkeep.endChanges()
        #expect(try tags(test, "phone") == ["username:ann", "silver", "beta"])
    }

    @Test("a device with many tags of its own gets those of its user, and no more than a device may have")
    func manyOwnTags() async throws {
        let test = try await TestBackend()
        let own = (1...50).map { "own-\($0)" }
        _ = try await test.install(try await test.user("ann", .user), "phone", handle: 1, tags: own.compactMap(Tag.init))
        let given = (1...20).map { "tag-\($0)" }
        try await test.backend.setTags(given.compactMap(Tag.init), ofUser: "ann")
        #expect(try tags(test, "phone") == ["username:ann"] + given + own.prefix(39))
        try await test.backend.setTags([], ofUser: "ann")
        #expect(try tags(test, "phone") == ["username:ann"] + own.prefix(39))
    }

    @Test(
        "tags that a user cannot have are refused",
        arguments: [["username:bob"], ["Username:ann"], (0...20).map { "tag-\($0)" }])
    func refusedTags(texts: [String]) async throws {
        let test = try await TestBackend()
        _ = try await test.user("ann", .user)
        let error = await refusal { try await test.backend.setTags(texts.compactMap(Tag.init), ofUser: "ann") }
        #expect(error?.code == .invalidField)
        #expect(error?.detail?.hasPrefix("tags:") == true)
        #expect(try await test.backend.user("ann").tags == [])
    }

    @Test("a tag that is given twice counts once")
    func repeatedTags() async throws {
        let test = try await TestBackend()
        _ = try await test.user("ann", .user)
        try await test.backend.setTags(["gold", "gold", "gold"].compactMap(Tag.init), ofUser: "ann")
        #expect(try await test.backend.user("ann").tags.map(\.text) == ["gold"])
    }

    @Test("a user who is disabled cannot sign in, and their devices are signed out")
    func disabled() async throws {
        let test = try await TestBackend()
        let phone = try await test.install(try await test.user("ann", .user), "phone", handle: 1)
        try await test.backend.setDisabled(true, ofUser: "ann")
        #expect(await code { _ = try await test.signIn("ann") } == .unauthenticated)
        let bearer = await code { _ = try await test.backend.authenticate(.bearer(phone.credential), from: TestBackend.source) }
        #expect(bearer == .unauthenticated)
        #expect(test.hub.devices.isEmpty)
        #expect(try await test.backend.devices(ofUser: "ann").devices.isEmpty)
        #expect(try await test.backend.user("ann").disabledAt == test.clock.now)
    }

    @Test("a user who is enabled again signs in with their password, and what was signed in stays out")
    func enabled() async throws {
        let test = try await TestBackend()
        let phone = try await test.install(try await test.user("ann", .user), "phone", handle: 1)
        try await test.backend.setDisabled(true, ofUser: "ann")
        try await test.backend.setDisabled(false, ofUser: "ann")
        #expect(try await test.signIn("ann").name.text == "ann")
        let bearer = await code { _ = try await test.backend.authenticate(.bearer(phone.credential), from: TestBackend.source) }
        #expect(bearer == .unauthenticated)
        #expect(try await test.backend.user("ann").disabledAt == nil)
    }

    @Test("a disabled user is refused within five seconds on a node that knew them")
    func disabledElsewhere() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann", .user)
        let phone = try await test.install(ann, "phone", handle: 1)
        #expect(try await test.store.endSessions(of: ann.userID, isDisabled: true, at: test.clock.now, audit: nil))
        test.clock.advance(by: .seconds(5))
        #expect(await code { _ = try await test.signIn("ann") } == .unauthenticated)
        let bearer = await code { _ = try await test.backend.authenticate(.bearer(phone.credential), from: TestBackend.source) }
        #expect(bearer == .unauthenticated)
    }

    @Test("a user whose sessions another node has just ended is asked to repeat the registration, which then is done")
    func endedElsewhere() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann", .user)
        #expect(try await test.store.endSessions(of: ann.userID, isDisabled: false, at: test.clock.now, audit: nil))
        let remembered = try await test.signIn("ann")
        #expect(await code { try await test.register(remembered, handle: 1, id: "phone") } == .notReady)
        try await test.register(try await test.signIn("ann"), handle: 1, id: "phone")
        #expect(test.hub.devices.count == 1)
    }

    @Test("sessions that are ended leave the password, and no device")
    func sessions() async throws {
        let test = try await TestBackend()
        let phone = try await test.install(try await test.user("ann", .user), "phone", handle: 1)
        try await test.register(try await test.signIn("ann"), handle: 2, id: "tablet")
        try await test.backend.endSessions(ofUser: "ann")
        let bearer = await code { _ = try await test.backend.authenticate(.bearer(phone.credential), from: TestBackend.source) }
        #expect(bearer == .unauthenticated)
        #expect(test.hub.devices.isEmpty)
        #expect(try await test.signIn("ann").name.text == "ann")
    }

    @Test(
        "an auditor reads everything of the app", arguments: [BackendOperation.readUsers, .readAudit, .readSends, .listDevices])
    func auditorReads(operation: BackendOperation) async throws {
        let test = try await TestBackend()
        let eve = try await test.user("eve", .auditor)
        #expect(AccessTable.extent(of: operation, for: eve) == .all)
    }

    @Test(
        "an auditor changes nothing of others",
        arguments: [
            BackendOperation.send, .countAudience, .storeContent, .askForKeys, .recall, .changeUsers, .exportUsers,
            .mintSignInTokens,
            .manageKeys, .postReceipts,
        ])
    func auditorChanges(operation: BackendOperation) async throws {
        let test = try await TestBackend()
        let eve = try await test.user("eve", .auditor)
        #expect(AccessTable.extent(of: operation, for: eve) == .none)
    }

    @Test("an auditor sees the sends and devices of others, and can neither send nor recall")
    func auditor() async throws {
        let test = try await TestBackend()
        let (ann, eve) = (try await test.user("ann"), try await test.user("eve", .auditor))
        try await test.register(ann, handle: 1, id: "phone")
        let id = try await test.send(ann, to: "news")
        #expect(try await test.backend.sends(for: eve).sends.map(\.id) == [id])
        #expect(try await test.backend.status(of: id, for: eve).state == "dispatching")
        #expect(try await test.backend.devices(ofUser: "ann", for: eve).devices.map(\.id) == ["phone"])
        #expect(await code { _ = try await test.send(eve, to: "news") } == .forbidden)
        #expect(await code { try await test.backend.recall(id, for: eve) } == .forbidden)
        #expect(test.hub.sends.count == 1)
    }

    @Test("no person has a name that begins with @", arguments: ["@shop", "@", "@@"])
    func accountNames(name: String) async throws {
        let test = try await TestBackend()
        let error = await refusal { try await test.backend.addUser(name: name, password: nil, role: .user) }
        #expect(error?.code == .invalidField)
        #expect(error?.detail?.hasPrefix("name:") == true)
        #expect(try await test.rows(of: "users") == 0)
    }

    @Test("no person gets the role service")
    func serviceRole() async throws {
        let test = try await TestBackend()
        _ = try await test.user("ann", .user)
        #expect(await code { try await test.backend.addUser(name: "bob", password: nil, role: .service) } == .invalidField)
        #expect(await code { try await test.backend.setRole(.service, ofUser: "ann") } == .invalidField)
        #expect(try await test.backend.user("ann").role == .user)
        #expect(try await test.rows(of: "users") == 1)
    }

    @Test("the account of a key gets neither a password nor a role")
    func serviceAccount() async throws {
        let test = try await TestBackend()
        _ = try await test.key("shop", "send")
        #expect(await code { try await test.backend.setPassword("a long enough password", ofUser: "@shop") } == .conflict)
        #expect(await code { try await test.backend.setRole(.admin, ofUser: "@shop") } == .conflict)
        #expect(try await test.backend.user("@shop").role == .service)
    }

    @Test("a user without a password cannot sign in with any")
    func withoutPassword() async throws {
        let test = try await TestBackend()
        try await test.backend.addUser(name: "ann", password: nil, role: .user)
        for password in ["", "ann"] {
            let refused = await code {
                _ = try await test.backend.authenticate(.basic(user: "ann", password: password), from: TestBackend.source)
            }
            #expect(refused == .unauthenticated)
        }
    }
}
