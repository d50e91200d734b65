import AppBackend
import PushHub
import RichPushModel
import ServiceErrors
import Testing

/// What a `UserStore` and a `CredentialStore` promise.
public enum UserStorePromises {
    /// Every promise.
    public static let all: [StoragePromise<BackendStores>] = [
        keepsUsers, namesAreUnique, listsInOrder, passwordsEndCredentials, replacesHashes, removesUsers, oneCredentialEach,
        extends,
        removesExpiredCredentials,
    ]

    private typealias Sample = BackendSample

    private static let keepsUsers = StoragePromise<BackendStores>(
        "a user comes back as stored, by name in any case and by number"
    ) { stores in
        let hash = try Sample.hash("secret")
        let ada = try await stores.users.create(name: try Sample.name("Ada"), role: .admin, password: hash, at: Sample.start)
        #expect(ada.name.text == "Ada" && ada.role == .admin && ada.credentialVersion == 1 && ada.createdAt == Sample.start)
        let stored = try #require(try await stores.users.user(named: try Sample.name("aDA")))
        #expect(stored.user == ada && stored.password == hash)
        #expect(try await stores.users.user(ada.id) == ada)
        #expect(try await stores.users.user(named: try Sample.name("Adah")) == nil)
        #expect(try await stores.users.user(UserID(ada.id.number + 1)) == nil)
        let bob = try await Sample.user("bob", in: stores)
        #expect(try await stores.users.user(named: bob.name)?.password == nil && bob.id != ada.id)
        #expect(try await stores.users.setRole(.user, of: ada.id))
        #expect(try await stores.users.user(ada.id)?.role == .user)
        #expect(try await !stores.users.setRole(.user, of: UserID(999)))
        #expect(try await !stores.users.setPassword(hash, of: UserID(999)))
    }

    private static let namesAreUnique = StoragePromise<BackendStores>(
        "a name is given once without regard to case, also to many at once"
    ) { stores in
        _ = try await Sample.user("Ada", in: stores)
        let error = await #expect(throws: ServiceError.self) { _ = try await Sample.user("aDA", in: stores) }
        #expect(error?.code == .conflict)
        let made = await withTaskGroup(of: User?.self) { group in
            for _ in 0..<6 { group.addTask { try? await Sample.user("same", in: stores) } }
            return await group.reduce(into: []) { if let user = $1 { $0.append(user) } }
        }
        #expect(made.count == 1)
    }

    private static let listsInOrder = StoragePromise<BackendStores>("users are listed by their folded names, page by page") {
        stores in
        for name in ["b", "C", "a", "B2", "_", "Z", "b-1", "b.1", "b1", "b@1"] { _ = try await Sample.user(name, in: stores) }
        var listed: [String] = []
        var last: UserName?
        while let page = try await Optional(stores.users.users(after: last, limit: 3)), !page.isEmpty {
            listed += page.map(\.name.text)
            last = page.last?.name
        }
        #expect(listed == ["_", "a", "b", "b-1", "b.1", "b1", "B2", "b@1", "C", "Z"])
        #expect(try await stores.users.users(after: try Sample.name("B"), limit: 2).map(\.name.text) == ["b-1", "b.1"])
    }

    private static let passwordsEndCredentials = StoragePromise<BackendStores>(
        "a new password counts the version up and ends the user's credentials"
    ) { stores in
        let (ada, bob) = (try await Sample.user("ada", in: stores), try await Sample.user("bob", in: stores))
        for (user, phone) in [(ada, "phone-1"), (ada, "phone-2"), (bob, "phone-3")] {
            try await stores.credentials.issue(try Sample.credential(phone, of: user, digest: 1))
        }
        let hash = try Sample.hash("new")
        #expect(try await stores.users.setPassword(hash, of: ada.id))
        #expect(try await stores.users.user(ada.id)?.credentialVersion == 2)
        #expect(try await stores.users.user(named: ada.name)?.password == hash)
        for (phone, isThere) in [("phone-1", false), ("phone-2", false), ("phone-3", true)] {
            let found = try await stores.credentials.credential(of: try #require(InstallationID(phone)))
            #expect((found != nil) == isThere)
        }
    }

    private static let replacesHashes = StoragePromise<BackendStores>(
        "a hash is replaced only while it is the stored one, and credentials and version stay"
    ) { stores in
        let (old, new, other) = (try Sample.hash("word"), try Sample.hash("word"), try Sample.hash("other"))
        let ada = try await stores.users.create(name: try Sample.name("ada"), role: .user, password: old, at: Sample.start)
        try await stores.credentials.issue(try Sample.credential("phone", of: ada, digest: 1))
        #expect(try await !stores.users.replaceHash(other, with: new, of: ada.id))
        #expect(try await stores.users.replaceHash(old, with: new, of: ada.id))
        #expect(try await !stores.users.replaceHash(old, with: other, of: ada.id))
        let stored = try #require(try await stores.users.user(named: ada.name))
        #expect(stored.password == new && stored.user == ada)
        #expect(try await stores.credentials.credential(of: try #require(InstallationID("phone"))) != nil)
    }

    private static let removesUsers = StoragePromise<BackendStores>(
        "who removes a user closes their bindings and ends their credentials; the number is not used again"
    ) { stores in
        let (ada, bob) = (try await Sample.user("ada", in: stores), try await Sample.user("bob", in: stores))
        for (user, phone, handle) in [(ada, "phone-1", 1), (ada, "phone-2", 2), (bob, "phone-3", 3)] {
            let credential = try Sample.credential(phone, of: user, digest: 1)
            _ = try await stores.bindings.bind(
                try Sample.device(phone, handle: handle), to: user.id, with: .issue(credential), mark: 1, at: Sample.start)
        }
        let removed = try #require(try await stores.users.remove(bob.id, mark: 3, at: Sample.time(5)))
        #expect(removed.map(\.text) == ["phone-3"])
        try await stores.bindings.endAll(of: removed[0], begunBefore: Sample.time(1))
        #expect(try await stores.bindings.unended(begunBefore: Sample.time(6), limit: 9).contains(removed[0]))
        #expect(try await stores.users.remove(bob.id, mark: 3, at: Sample.time(6)) == nil)
        #expect(try await stores.users.user(bob.id) == nil)
        #expect(try await stores.users.user(named: bob.name) == nil)
        #expect(try await stores.credentials.credential(of: try #require(InstallationID("phone-3"))) == nil)
        #expect(try await stores.bindings.current(try #require(RecordID("phone-3"))) == nil)
        #expect(try await stores.bindings.current(try #require(RecordID("phone-1"))) != nil)
        #expect(try await Sample.user("bob", in: stores).id > bob.id)
        let last = try await stores.users.remove(ada.id, mark: 3, at: Sample.time(7))
        #expect(last?.map(\.text).sorted() == ["phone-1", "phone-2"])
    }

    private static let oneCredentialEach = StoragePromise<BackendStores>(
        "an installation has one credential, which comes with its user as they are now"
    ) { stores in
        let ada = try await Sample.user("ada", .user, in: stores)
        let installation = try #require(InstallationID("phone-1"))
        #expect(try await stores.credentials.credential(of: installation) == nil)
        try await stores.credentials.issue(try Sample.credential("phone-1", of: ada, digest: 1))
        let second = try Sample.credential("phone-1", of: ada, digest: 2)
        try await stores.credentials.issue(second)
        #expect(try await stores.users.setRole(.sender, of: ada.id))
        let (found, user) = try #require(try await stores.credentials.credential(of: installation))
        #expect(found == second && user.role == .sender && user.id == ada.id)
        #expect(try await stores.credentials.credential(of: try #require(InstallationID("PHONE-1"))) == nil)
    }

    private static let extends = StoragePromise<BackendStores>(
        "the expiry moves for the credential that is there, not for one before it"
    ) { stores in
        let ada = try await Sample.user("ada", in: stores)
        let old = try Sample.credential("phone-1", of: ada, digest: 1)
        let new = try Sample.credential("phone-1", of: ada, digest: 2)
        try await stores.credentials.issue(old)
        try await stores.credentials.issue(new)
        try await stores.credentials.extend(old, until: Sample.time(9999))
        #expect(try await stores.credentials.credential(of: new.installation)?.0.expiresAt == new.expiresAt)
        try await stores.credentials.extend(new, until: Sample.time(5000))
        #expect(try await stores.credentials.credential(of: new.installation)?.0.expiresAt == Sample.time(5000))
    }

    private static let removesExpiredCredentials = StoragePromise<BackendStores>(
        "expired credentials are told some at a time, the oldest first, and go unless they were extended or replaced"
    ) { stores in
        let ada = try await Sample.user("ada", in: stores)
        for number in 0..<5 {
            try await stores.credentials.issue(
                try Sample.credential("phone-\(number)", of: ada, digest: 1, expires: Sample.time(Int64(number))))
        }
        let first = try await stores.credentials.expired(before: Sample.time(3), limit: 2)
        #expect(first.map(\.installation.text) == ["phone-0", "phone-1"] && first.allSatisfy { $0.user == ada.id })
        #expect(first.first == (try Sample.credential("phone-0", of: ada, digest: 1, expires: Sample.time(0))))
        for credential in first { try await stores.credentials.remove(credential) }
        let rest = try await stores.credentials.expired(before: Sample.time(4), limit: 9)
        #expect(rest.map(\.installation.text) == ["phone-2", "phone-3"])
        try await stores.credentials.extend(rest[0], until: Sample.time(99))
        try await stores.credentials.issue(try Sample.credential("phone-3", of: ada, digest: 2, expires: Sample.time(3)))
        for credential in rest { try await stores.credentials.remove(credential) }
        for number in 0..<5 {
            let installation = try #require(InstallationID("phone-\(number)"))
            let found = try await stores.credentials.credential(of: installation)
            #expect((found != nil) == (number >= 2))
        }
    }
}
