import AppBackend
import AuditTrail
import CalendarTime
import PushHub
import RichPushModel
import ServiceErrors
import Testing

import struct RichPushModel.Tag

/// What a `UserStore` and a `CredentialStore` promise.
public enum UserStorePromises {
    /// Every promise.
    public static let all: [StoragePromise<any BackendStore>] = [
        keepsUsers, namesAreUnique, listsInOrder, passwordsEndCredentials, replacesHashes, removesUsers, oneCredentialEach,
        extends,
        removesExpiredCredentials, keepsTags, disables, endsSessions, upserts, protects, quietHours, tagsDevices,
        tagsDevicesOfMany,
        hasNoRoomForTags,
    ]

    private typealias Sample = BackendSample

    private static let keepsUsers = StoragePromise<any BackendStore>(
        "a user comes back as stored, by name in any case and by number"
    ) { store in
        let hash = try Sample.hash("secret")
        let ada = try await store.createUser(name: try Sample.name("Ada"), role: .admin, password: hash, at: Sample.start)
        #expect(ada.name.text == "Ada" && ada.role == .admin && ada.credentialVersion == 1 && ada.createdAt == Sample.start)
        let stored = try #require(try await store.user(named: try Sample.name("aDA")))
        #expect(stored.user == ada && stored.password == hash)
        #expect(try await store.user(ada.id) == ada)
        #expect(try await store.user(named: try Sample.name("Adah")) == nil)
        #expect(try await store.user(UserID(ada.id.number + 1)) == nil)
        let bob = try await Sample.user("bob", in: store)
        #expect(try await store.user(named: bob.name)?.password == nil && bob.id != ada.id)
        #expect(try await store.setRole(.user, of: ada.id))
        #expect(try await store.user(ada.id)?.role == .user)
        #expect(try await !store.setRole(.user, of: UserID(999)))
        #expect(try await !store.setPassword(hash, of: UserID(999)))
    }

    private static let namesAreUnique = StoragePromise<any BackendStore>(
        "a name is given once without regard to case, also to many at once"
    ) { store in
        _ = try await Sample.user("Ada", in: store)
        let error = await #expect(throws: ServiceError.self) { _ = try await Sample.user("aDA", in: store) }
        #expect(error?.code == .conflict)
        let made = await withTaskGroup(of: User?.self) { group in
            for _ in 0..<6 { group.addTask { try? await Sample.user("same", in: store) } }
            return await group.reduce(into: []) { if let user = $1 { $0.append(user) } }
        }
        #expect(made.count == 1)
    }

    private static let listsInOrder = StoragePromise<any BackendStore>("users are listed by their folded names, page by page") {
        store in
        for name in ["b", "C", "a", "B2", "_", "Z", "b-1", "b.1", "b1", "b@1"] { _ = try await Sample.user(name, in: store) }
        var listed: [String] = []
        var last: UserName?
        while let page = try await Optional(store.users(after: last, prefix: "", limit: 3)), !page.isEmpty {
            listed += page.map(\.name.text)
            last = page.last?.name
        }
        #expect(listed == ["_", "a", "b", "b-1", "b.1", "b1", "B2", "b@1", "C", "Z"])
        #expect(try await store.users(after: try Sample.name("B"), prefix: "", limit: 2).map(\.name.text) == ["b-1", "b.1"])
        #expect(try await store.users(after: nil, prefix: "b.", limit: 9).map(\.name.text) == ["b.1"])
    }

    private static let passwordsEndCredentials = StoragePromise<any BackendStore>(
        "a new password counts the version up and ends the user's credentials"
    ) { store in
        let (ada, bob) = (try await Sample.user("ada", in: store), try await Sample.user("bob", in: store))
        for (user, phone) in [(ada, "phone-1"), (ada, "phone-2"), (bob, "phone-3")] {
            try await store.issue(try Sample.credential(phone, of: user, digest: 1))
        }
        let hash = try Sample.hash("new")
        #expect(try await store.setPassword(hash, of: ada.id))
        #expect(try await store.user(ada.id)?.credentialVersion == 2)
        #expect(try await store.user(named: ada.name)?.password == hash)
        for (phone, isThere) in [("phone-1", false), ("phone-2", false), ("phone-3", true)] {
            let found = try await store.credential(of: try #require(InstallationID(phone)))
            #expect((found != nil) == isThere)
        }
    }

    private static let replacesHashes = StoragePromise<any BackendStore>(
        "a hash is replaced only while it is the stored one, and credentials and version stay"
    ) { store in
        let (old, new, other) = (try Sample.hash("word"), try Sample.hash("word"), try Sample.hash("other"))
        let ada = try await store.createUser(name: try Sample.name("ada"), role: .user, password: old, at: Sample.start)
        try await store.issue(try Sample.credential("phone", of: ada, digest: 1))
        #expect(try await !store.replaceHash(other, with: new, of: ada.id))
        #expect(try await store.replaceHash(old, with: new, of: ada.id))
        #expect(try await !store.replaceHash(old, with: other, of: ada.id))
        let stored = try #require(try await store.user(named: ada.name))
        #expect(stored.password == new && stored.user == ada)
        #expect(try await store.credential(of: try #require(InstallationID("phone"))) != nil)
    }

    private static let removesUsers = StoragePromise<any BackendStore>(
        "removing a user closes their bindings and ends their credentials; the number is not used again"
    ) { store in
        let (ada, bob) = (try await Sample.user("ada", in: store), try await Sample.user("bob", in: store))
        for (user, phone, handle) in [(ada, "phone-1", 1), (ada, "phone-2", 2), (bob, "phone-3", 3)] {
            let credential = try Sample.credential(phone, of: user, digest: 1)
            _ = try await store.bind(
                try Sample.device(phone, handle: handle), to: user.id, with: .issue(credential), mark: 1, at: Sample.start)
        }
        let removed = try #require(try await store.removeUser(bob.id, mark: 3, at: Sample.time(5)))
        #expect(removed.map(\.text) == ["phone-3"])
        try await store.endChanges(of: removed[0], begunBefore: Sample.time(1))
        #expect(try await store.unendedChanges(begunBefore: Sample.time(6), limit: 9).contains(removed[0]))
        #expect(try await store.removeUser(bob.id, mark: 3, at: Sample.time(6)) == nil)
        #expect(try await store.user(bob.id) == nil)
        #expect(try await store.user(named: bob.name) == nil)
        #expect(try await store.credential(of: try #require(InstallationID("phone-3"))) == nil)
        #expect(try await store.currentBinding(of: try #require(RecordID("phone-3"))) == nil)
        #expect(try await store.currentBinding(of: try #require(RecordID("phone-1"))) != nil)
        #expect(try await Sample.user("bob", in: store).id > bob.id)
        let last = try await store.removeUser(ada.id, mark: 3, at: Sample.time(7))
        #expect(last?.map(\.text).sorted() == ["phone-1", "phone-2"])
    }

    private static let oneCredentialEach = StoragePromise<any BackendStore>(
        "an installation has one credential, which comes with its user as they are now"
    ) { store in
        let ada = try await Sample.user("ada", .user, in: store)
        let installation = try #require(InstallationID("phone-1"))
        #expect(try await store.credential(of: installation) == nil)
        try await store.issue(try Sample.credential("phone-1", of: ada, digest: 1))
        let second = try Sample.credential("phone-1", of: ada, digest: 2)
        try await store.issue(second)
        #expect(try await store.setRole(.sender, of: ada.id))
        let (found, user) = try #require(try await store.credential(of: installation))
        #expect(found == second && user.role == .sender && user.id == ada.id)
        #expect(try await store.credential(of: try #require(InstallationID("PHONE-1"))) == nil)
    }

    private static let extends = StoragePromise<any BackendStore>(
        "the expiry moves for the credential that is there, not for one before it"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        let old = try Sample.credential("phone-1", of: ada, digest: 1)
        let new = try Sample.credential("phone-1", of: ada, digest: 2)
        try await store.issue(old)
        try await store.issue(new)
        try await store.extend(old, until: Sample.time(9999))
        #expect(try await store.credential(of: new.installation)?.0.expiresAt == new.expiresAt)
        try await store.extend(new, until: Sample.time(5000))
        #expect(try await store.credential(of: new.installation)?.0.expiresAt == Sample.time(5000))
    }

    private static let removesExpiredCredentials = StoragePromise<any BackendStore>(
        "expired credentials are returned some at a time, the oldest first, and go unless they were extended or replaced"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        for number in 0..<5 {
            try await store.issue(
                try Sample.credential("phone-\(number)", of: ada, digest: 1, expires: Sample.time(Int64(number))))
        }
        let first = try await store.expiredCredentials(before: Sample.time(3), limit: 2)
        #expect(first.map(\.installation.text) == ["phone-0", "phone-1"] && first.allSatisfy { $0.user == ada.id })
        #expect(first.first == (try Sample.credential("phone-0", of: ada, digest: 1, expires: Sample.time(0))))
        for credential in first { try await store.remove(credential) }
        let rest = try await store.expiredCredentials(before: Sample.time(4), limit: 9)
        #expect(rest.map(\.installation.text) == ["phone-2", "phone-3"])
        try await store.extend(rest[0], until: Sample.time(99))
        try await store.issue(try Sample.credential("phone-3", of: ada, digest: 2, expires: Sample.time(3)))
        for credential in rest { try await store.remove(credential) }
        for number in 0..<5 {
            let installation = try #require(InstallationID("phone-\(number)"))
            let found = try await store.credential(of: installation)
            #expect((found != nil) == (number >= 2))
        }
    }

    private static let keepsTags = StoragePromise<any BackendStore>(
        "the tags of a user come back in their order, by name, by number, in lists and with a credential; they can be replaced"
    ) { store in
        let tags = ["team:red", "beta", "Zone_7"].compactMap(Tag.init)
        let ada = try await store.createUser(
            NewUser(name: try Sample.name("ada"), role: .user, password: nil, tags: tags), at: Sample.start, audit: nil)
        try await store.issue(try Sample.credential("phone-1", of: ada, digest: 1))
        #expect(ada.tags == tags)
        #expect(try await store.user(ada.id)?.tags == tags)
        #expect(try await store.user(named: ada.name)?.user.tags == tags)
        #expect(try await store.users(after: nil, prefix: "", limit: 9).first?.tags == tags)
        #expect(try await store.credential(of: try #require(InstallationID("phone-1")))?.1.tags == tags)
        #expect(try await Sample.user("bob", in: store).tags == [])
        let others = ["gold"].compactMap(Tag.init)
        #expect(try await setTags(others, of: ada, in: store) == [])
        #expect(try await store.user(ada.id)?.tags == others)
        #expect(try await store.user(ada.id)?.credentialVersion == 1)
        #expect(try await setTags([], of: ada, in: store) == [])
        #expect(try await store.user(ada.id)?.tags == [])
        #expect(try await store.setTags(others, of: UserID(999), mark: 1, at: Sample.start, audit: nil) == nil)
    }

    private static let disables = StoragePromise<any BackendStore>(
        "a user who is disabled says since when until they are enabled again, and keeps the password"
    ) { store in
        let hash = try Sample.hash("secret")
        let ada = try await store.createUser(name: try Sample.name("ada"), role: .user, password: hash, at: Sample.start)
        #expect(ada.disabledAt == nil)
        #expect(try await store.endSessions(of: ada.id, isDisabled: true, at: Sample.time(5), audit: nil))
        let disabled = try #require(try await store.user(named: ada.name))
        #expect(disabled.user.disabledAt == Sample.time(5))
        #expect(disabled.password == hash)
        #expect(disabled.user.credentialVersion == 2)
        #expect(try await store.endSessions(of: ada.id, isDisabled: nil, at: Sample.time(6), audit: nil))
        #expect(try await store.user(ada.id)?.disabledAt == Sample.time(5))
        #expect(try await store.endSessions(of: ada.id, isDisabled: false, at: Sample.time(7), audit: nil))
        #expect(try await store.user(ada.id)?.disabledAt == nil)
    }

    private static let endsSessions = StoragePromise<any BackendStore>(
        "ending the sessions of a user counts the version up and deletes their credentials, not those of others"
    ) { store in
        let (ada, bob) = (try await Sample.user("ada", in: store), try await Sample.user("bob", in: store))
        for (user, phone) in [(ada, "phone-1"), (ada, "phone-2"), (bob, "phone-3")] {
            try await store.issue(try Sample.credential(phone, of: user, digest: 1))
        }
        #expect(try await store.endSessions(of: ada.id, isDisabled: nil, at: Sample.start, audit: nil))
        #expect(try await store.user(ada.id)?.credentialVersion == 2)
        #expect(try await store.user(ada.id)?.disabledAt == nil)
        #expect(try await store.credential(of: try #require(InstallationID("phone-1"))) == nil)
        #expect(try await store.credential(of: try #require(InstallationID("phone-2"))) == nil)
        #expect(try await store.credential(of: try #require(InstallationID("phone-3"))) != nil)
        #expect(try await !store.endSessions(of: UserID(999), isDisabled: nil, at: Sample.start, audit: nil))
    }

    private static let upserts = StoragePromise<any BackendStore>(
        "many users are created and changed at once, each in turn; what is absent stays, and the same again changes nothing"
    ) { store in
        let gold = ["gold"].compactMap(Tag.init)
        let ada = try await store.createUser(
            NewUser(name: try Sample.name("Ada"), role: .sender, password: nil, tags: gold), at: Sample.start, audit: nil)
        let given = [
            UserUpsert(name: try Sample.name("ada"), role: nil, tags: []),
            UserUpsert(name: try Sample.name("bob"), role: nil, tags: gold),
            UserUpsert(name: try Sample.name("BOB"), role: .sender, tags: nil),
            UserUpsert(name: try Sample.name("cy"), role: nil, tags: nil),
        ]
        let entry = AuditEntry(.usersImported, by: .command, at: Sample.time(5))
        let outcomes = try await store.upsertUsers(given, protecting: [], mark: 1, at: Sample.time(5)) { outcomes in
            [entry, entry.causing(.userCreated, subject: "bob", details: "")].map {
                var entry = $0
                entry.object = "\(outcomes.count)"
                return entry
            }
        }
        var bareAda = ada
        let seller = try #require(try await store.user(named: try Sample.name("bob"))?.user)
        bareAda.tags = []
        #expect(seller.role == .sender)
        #expect(seller.createdAt == Sample.time(5))
        let sellerAsNew = User(
            id: seller.id, name: seller.name, role: .user, createdAt: seller.createdAt, order: seller.order, credentialVersion: 1,
            tags: gold)
        let cy = try #require(try await store.user(named: try Sample.name("cy"))?.user)
        #expect(
            outcomes == [
                .changed(from: ada, to: bareAda, devices: []), .created(sellerAsNew),
                .changed(from: sellerAsNew, to: seller, devices: []), .created(cy),
            ])
        #expect(cy.role == .user)
        #expect(try await store.user(ada.id) == bareAda)
        #expect(try await store.user(named: cy.name)?.password == nil)
        while try await store.sealAudit(limit: 100) > 0 {}
        #expect(try await store.auditEntries(after: 0, limit: 9).map(\.entry.object) == ["4", "4"])
        let again = try await store.upsertUsers(given, protecting: [], mark: 1, at: Sample.time(9)) { _ in [] }
        #expect(again == [.unchanged(bareAda), .unchanged(seller), .unchanged(seller), .unchanged(cy)])
    }

    private static let protects = StoragePromise<any BackendStore>(
        "an upsert leaves a user alone whose role is protected, and stores the others"
    ) { store in
        let root = try await store.createUser(name: try Sample.name("root"), role: .admin, password: nil, at: Sample.start)
        let gold = ["gold"].compactMap(Tag.init)
        let given = [
            UserUpsert(name: root.name, role: .user, tags: gold), UserUpsert(name: try Sample.name("ada"), role: nil, tags: gold),
        ]
        let outcomes = try await store.upsertUsers(given, protecting: [.admin], mark: 1, at: Sample.start) { _ in [] }
        #expect(outcomes.first == .protected(root))
        #expect(try await store.user(root.id) == root)
        #expect(try await store.user(named: try Sample.name("ada"))?.user.tags == gold)
    }
}

/// Tags of users and the bindings of their devices.
extension UserStorePromises {
    private static func setTags(_ tags: [Tag], of user: User, in store: any BackendStore) async throws -> [RecordID]? {
        try await store.setTags(tags, of: user.id, mark: 7, at: Sample.time(20), audit: nil)
    }

    /// Binds a device that has `tags` beside the one of its user.
    private static func bind(
        _ phone: String, handle: Int, _ tags: [String], to user: User, in store: any BackendStore
    ) async throws {
        let device = try Sample.device(phone, handle: handle, tags: ["username:\(user.name.text)"] + tags)
        _ = try await store.bind(device, to: user.id, with: .password(version: 1), mark: 1, at: Sample.start)
        try await store.end(DeviceChange(device.record, mark: 1))
    }

    private static func tags(_ phone: String, in store: any BackendStore) async throws -> [String]? {
        try await store.currentBinding(of: try #require(RecordID(phone)))?.device.tags.map(\.text)
    }

    private static let quietHours = StoragePromise<any BackendStore>(
        "quiet hours of a user are stored with a change of each device that is bound, and of no other"
    ) { store in
        let (ada, bob) = (try await Sample.user("ada", in: store), try await Sample.user("bob", in: store))
        try await bind("phone-1", handle: 1, [], to: ada, in: store)
        try await bind("phone-2", handle: 2, [], to: bob, in: store)
        try await bind("phone-2", handle: 2, [], to: ada, in: store)
        try await bind("phone-3", handle: 3, [], to: bob, in: store)
        let hours = try #require(QuietHours("22:00-07:30"))
        func set(_ hours: QuietHours?, of user: UserID) async throws -> [RecordID]? {
            try await store.setQuietHours(hours, of: user, mark: 7, at: Sample.time(20), audit: nil)
        }
        #expect(try await set(hours, of: ada.id)?.map(\.text).sorted() == ["phone-1", "phone-2"])
        #expect(try await store.unendedChanges(begunBefore: Sample.time(99), limit: 9).map(\.text) == ["phone-1", "phone-2"])
        #expect(try await store.user(ada.id)?.quietHours == hours)
        #expect(try await store.users(after: nil, prefix: "", limit: 9).map(\.quietHours) == [hours, nil])
        #expect(try await set(nil, of: ada.id)?.count == 2)
        #expect(try await store.user(named: ada.name)?.user.quietHours == nil)
        #expect(try await set(hours, of: UserID(999)) == nil)
    }

    private static let tagsDevices = StoragePromise<any BackendStore>(
        "tags of a user reach the bindings in the same transaction: former ones go, a device's own stay, and the change is noted"
    ) { store in
        let (ada, bob) = (try await Sample.user("ada", in: store), try await Sample.user("bob", in: store))
        try await bind("phone-1", handle: 1, ["own"], to: ada, in: store)
        try await bind("phone-2", handle: 2, ["gold", "own"], to: ada, in: store)
        try await bind("phone-3", handle: 3, ["own"], to: bob, in: store)
        let first = try await setTags(["gold", "berlin"].compactMap(Tag.init), of: ada, in: store)
        #expect(first?.map(\.text).sorted() == ["phone-1", "phone-2"])
        #expect(try await tags("phone-1", in: store) == ["username:ada", "gold", "berlin", "own"])
        #expect(try await tags("phone-2", in: store) == ["username:ada", "gold", "berlin", "own"])
        #expect(try await tags("phone-3", in: store) == ["username:bob", "own"])
        #expect(try await store.unendedChanges(begunBefore: Sample.time(99), limit: 9).map(\.text) == ["phone-1", "phone-2"])
        #expect(try await setTags(["gold", "berlin"].compactMap(Tag.init), of: ada, in: store) == [])
        let second = try await setTags(["berlin"].compactMap(Tag.init), of: ada, in: store)
        #expect(second?.count == 2)
        #expect(try await tags("phone-1", in: store) == ["username:ada", "berlin", "own"])
        for record in second ?? [] { try await store.end(DeviceChange(record, mark: 7)) }
        #expect(try await store.unendedChanges(begunBefore: Sample.time(99), limit: 9).isEmpty)
        let all = try await store.bindings(of: ada.id, since: OrderNumber(0), limit: 9)
        #expect(all.filter { $0.until == nil }.count == 2)
        #expect(all.count == 6)
    }

    private static let tagsDevicesOfMany = StoragePromise<any BackendStore>(
        "an upsert with other tags reaches the bindings in the same transaction, and one with the same tags leaves them alone"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        let own = (1...50).map { "own-\($0)" }
        try await bind("phone-1", handle: 1, own, to: ada, in: store)
        func upsert(_ texts: [String]) async throws -> [String]? {
            let given = UserUpsert(name: ada.name, role: nil, tags: texts.compactMap(Tag.init))
            let outcomes = try await store.upsertUsers([given], protecting: [], mark: 7, at: Sample.time(20)) { _ in [] }
            guard case .changed(_, _, let devices) = outcomes.first else { return nil }
            return devices.map(\.text)
        }
        let given = (1...20).map { "tag-\($0)" }
        #expect(try await upsert(given) == ["phone-1"])
        // A device has at most 60.
        #expect(try await tags("phone-1", in: store) == ["username:ada"] + given + own.prefix(39))
        #expect(try await store.unendedChanges(begunBefore: Sample.time(99), limit: 9).map(\.text) == ["phone-1"])
        let binding = try await store.currentBinding(of: try #require(RecordID("phone-1")))?.number
        #expect(try await upsert(given) == nil)
        #expect(try await store.currentBinding(of: try #require(RecordID("phone-1")))?.number == binding)
        #expect(try await upsert([]) == ["phone-1"])
        #expect(try await tags("phone-1", in: store) == ["username:ada"] + own.prefix(39))
    }

    private static let hasNoRoomForTags = StoragePromise<any BackendStore>(
        "tags for whose devices there is no room change nothing, and others of the same upsert are stored"
    ) { store in
        let (ada, bob) = (try await Sample.user("ada", in: store), try await Sample.user("bob", in: store))
        try await bind("phone-1", handle: 1, [], to: ada, in: store)
        func upsert(_ round: Int) async throws -> [UserUpsertOutcome] {
            let tags = (0..<20).compactMap { Tag("t\(round)-\($0)") }
            let given = [ada, bob].map { UserUpsert(name: $0.name, role: nil, tags: tags) }
            return try await store.upsertUsers(given, protecting: [], mark: 7, at: Sample.time(20)) { _ in [] }
        }
        // The user's own tag and that of the installation are among those that are remembered.
        let rounds = (BindingLimits.tags - 2) / 20
        for round in 0..<rounds { _ = try await upsert(round) }
        let before = try #require(try await store.user(ada.id))
        let outcomes = try await upsert(rounds)
        #expect(outcomes.first == .overfull(before))
        #expect(try await store.user(ada.id) == before)
        #expect(try await tags("phone-1", in: store) == ["username:ada"] + before.tags.map(\.text))
        #expect(try await store.user(bob.id)?.tags.first?.text == "t\(rounds)-0")
        let error = await #expect(throws: ServiceError.self) {
            _ = try await setTags(["gold"].compactMap(Tag.init) + (0..<19).compactMap { Tag("x-\($0)") }, of: ada, in: store)
        }
        #expect(error?.code == .quotaExceeded)
        #expect(try await store.user(ada.id) == before)
    }
}
