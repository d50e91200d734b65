import AppBackend
import RichPushModel
import ServiceErrors
import SharedAccess
import Testing

/// What a `ServiceKeyStore` promises.
public enum KeyStorePromises {
    /// Every promise.
    public static let all: [StoragePromise<any BackendStore>] = [
        keepsKeys, makesAccounts, namesHoldOnce, namesOfUsersAreRefused, replaces, replacesOnlyWhatHolds, revokes, lists,
        notesUse,
    ]

    private typealias Sample = BackendSample

    private static let keepsKeys = StoragePromise<any BackendStore>("a key comes back as stored, by its digest") { store in
        let draft = try Sample.keyDraft(
            "shop", digest: 1, scopes: ["send:shop:", "status"], networks: ["10.0.0.0/8", "fd00::/8"], perMinute: 9)
        let made = try await store.createKey(draft, at: Sample.start, audit: nil)
        let (key, account) = try #require(try await store.key(digest: Sample.bytes(1)))
        #expect(key == made)
        #expect(key.name == "shop")
        #expect(key.hint == "clk_…0001")
        #expect(key.scopes.map(\.text) == ["send:shop:", "status"])
        #expect(key.networks.map(\.description) == ["10.0.0.0/8", "fd00::/8"])
        #expect(key.requestsPerMinute == 9)
        #expect(key.createdBy == "user root")
        #expect(key.createdAt == Sample.start)
        #expect(key.expiresAt == Sample.time(1000))
        #expect(key.revokedAt == nil)
        #expect(key.lastUsedAt == nil)
        #expect(key.account == account.id)
        #expect(try await store.key(digest: Sample.bytes(2)) == nil)
    }

    private static let makesAccounts = StoragePromise<any BackendStore>(
        "the account of a key is a user of role service without a password, and later keys of the name act for the same"
    ) { store in
        let first = try await store.createKey(try Sample.keyDraft("shop", digest: 1), at: Sample.start, audit: nil)
        let stored = try #require(try await store.user(named: try Sample.name("@shop")))
        #expect(stored.user.id == first.account)
        #expect(stored.user.role == .service)
        #expect(stored.password == nil)
        let other = try await store.createKey(try Sample.keyDraft("news", digest: 2), at: Sample.start, audit: nil)
        #expect(other.account != first.account)
        #expect(try await store.revokeKey(first.id, at: Sample.time(1), audit: nil))
        let second = try await store.createKey(try Sample.keyDraft("shop", digest: 3), at: Sample.time(2), audit: nil)
        #expect(second.account == first.account)
        #expect(second.id > other.id)
        #expect(try await store.endSessions(of: first.account, isDisabled: true, at: Sample.time(3), audit: nil))
        #expect(try await store.key(digest: Sample.bytes(3))?.1.disabledAt == Sample.time(3))
    }

    private static let namesHoldOnce = StoragePromise<any BackendStore>(
        "a key's name is given once among the keys that hold, also to many at once, and again when it ended"
    ) { store in
        _ = try await store.createKey(try Sample.keyDraft("shop", digest: 1), at: Sample.start, audit: nil)
        let taken = await #expect(throws: ServiceError.self) {
            _ = try await store.createKey(try Sample.keyDraft("SHOP", digest: 2), at: Sample.start, audit: nil)
        }
        #expect(taken?.code == .conflict)
        #expect(try await store.key(digest: Sample.bytes(2)) == nil)
        let later = try await store.createKey(
            try Sample.keyDraft("shop", digest: 3, expires: 2000), at: Sample.time(1000), audit: nil)
        #expect(later.createdAt == Sample.time(1000))
        let made = await withTaskGroup(of: ServiceKey?.self) { group in
            for number in 10..<16 {
                group.addTask {
                    try? await store.createKey(
                        try Sample.keyDraft("same", digest: UInt8(number)), at: Sample.start, audit: nil)
                }
            }
            return await group.reduce(into: []) { if let key = $1 { $0.append(key) } }
        }
        #expect(made.count == 1)
    }

    private static let namesOfUsersAreRefused = StoragePromise<any BackendStore>(
        "a key whose account has the name of a user who is no service account is refused, and nothing is stored"
    ) { store in
        let user = try await Sample.user("@shop", in: store)
        let error = await #expect(throws: ServiceError.self) {
            _ = try await store.createKey(try Sample.keyDraft("shop", digest: 1), at: Sample.start, audit: nil)
        }
        #expect(error?.code == .conflict)
        #expect(try await store.keys(after: 0, limit: 9).isEmpty)
        #expect(try await store.user(user.id)?.role == .sender)
    }

    private static let replaces = StoragePromise<any BackendStore>(
        "a key that replaces another has its account, and the old one ends when the overlap does, or sooner"
    ) { store in
        let old = try await store.createKey(try Sample.keyDraft("shop", digest: 1), at: Sample.start, audit: nil)
        let new = try await store.replaceKey(
            old.id, with: try Sample.keyDraft("shop", digest: 2, expires: 5000), end: Sample.time(60), at: Sample.time(10),
            audit: nil)
        #expect(new.id > old.id)
        #expect(new.account == old.account)
        let ending = try #require(try await store.key(digest: Sample.bytes(1))?.0)
        #expect(ending.holds(at: Sample.time(59)))
        #expect(!ending.holds(at: Sample.time(60)))
        #expect(try await store.key(digest: Sample.bytes(2))?.0.holds(at: Sample.time(4999)) == true)
        let third = try await store.replaceKey(
            new.id, with: try Sample.keyDraft("shop", digest: 3, expires: 9000), end: Sample.time(8000), at: Sample.time(100),
            audit: nil)
        #expect(third.id > new.id)
        #expect(try await store.key(digest: Sample.bytes(2))?.0.expiresAt == Sample.time(5000))
    }

    private static let replacesOnlyWhatHolds = StoragePromise<any BackendStore>(
        "a key is replaced while it alone of its name holds; one that is unknown is not found, and nothing is stored"
    ) { store in
        let old = try await store.createKey(try Sample.keyDraft("shop", digest: 1), at: Sample.start, audit: nil)
        func replace(_ id: Int64, digest: UInt8, at seconds: Int64) async -> ServiceErrorCode? {
            do {
                _ = try await store.replaceKey(
                    id, with: try Sample.keyDraft("shop", digest: digest, expires: 5000), end: Sample.time(60),
                    at: Sample.time(seconds), audit: nil)
                return nil
            } catch { return (error as? ServiceError)?.code }
        }
        #expect(await replace(old.id + 1, digest: 2, at: 10) == .notFound)
        #expect(await replace(old.id, digest: 3, at: 10) == nil)
        #expect(await replace(old.id, digest: 4, at: 20) == .conflict)
        #expect(await replace(old.id, digest: 5, at: 60) == .conflict)
        #expect(try await store.keys(after: 0, limit: 9).count == 2)
        let revoked = try await store.createKey(try Sample.keyDraft("news", digest: 6), at: Sample.start, audit: nil)
        #expect(try await store.revokeKey(revoked.id, at: Sample.time(1), audit: nil))
        #expect(await replace(revoked.id, digest: 7, at: 2) == .conflict)
        let orphan = try await store.createKey(try Sample.keyDraft("lost", digest: 8), at: Sample.start, audit: nil)
        _ = try await store.removeUser(orphan.account, mark: 1, at: Sample.time(1), audit: nil)
        #expect(await replace(orphan.id, digest: 9, at: 2) == .conflict)
    }

    private static let revokes = StoragePromise<any BackendStore>(
        "a key is revoked once, at the moment of the first call, and stays in the list"
    ) { store in
        let key = try await store.createKey(try Sample.keyDraft("shop", digest: 1), at: Sample.start, audit: nil)
        #expect(try await store.revokeKey(key.id, at: Sample.time(5), audit: nil))
        #expect(try await !store.revokeKey(key.id, at: Sample.time(6), audit: nil))
        #expect(try await !store.revokeKey(key.id + 1, at: Sample.time(6), audit: nil))
        let found = try #require(try await store.key(digest: Sample.bytes(1))?.0)
        #expect(found.revokedAt == Sample.time(5))
        #expect(!found.holds(at: Sample.time(5)))
        #expect(try await store.keys(after: 0, limit: 9) == [found])
    }

    private static let lists = StoragePromise<any BackendStore>("keys are listed in the order of their ids, page by page") {
        store in
        for (number, name) in ["c", "a", "e", "b", "d"].enumerated() {
            _ = try await store.createKey(try Sample.keyDraft(name, digest: UInt8(number)), at: Sample.start, audit: nil)
        }
        var listed: [ServiceKey] = []
        while let page = try await Optional(store.keys(after: listed.last?.id ?? 0, limit: 2)), !page.isEmpty {
            #expect(page.count <= 2)
            listed += page
        }
        #expect(listed.map(\.name) == ["c", "a", "e", "b", "d"])
        #expect(listed.map(\.id) == listed.map(\.id).sorted())
    }

    private static let notesUse = StoragePromise<any BackendStore>("of the uses of a key the last one stays noted") { store in
        let key = try await store.createKey(try Sample.keyDraft("shop", digest: 1), at: Sample.start, audit: nil)
        try await store.noteUse(ofKey: key.id, at: Sample.time(20), from: "192.0.2.0/24")
        try await store.noteUse(ofKey: key.id, at: Sample.time(10), from: "10.0.0.0/24")
        let early = try #require(try await store.key(digest: Sample.bytes(1))?.0)
        #expect(early.lastUsedAt == Sample.time(20))
        #expect(early.lastUsedFrom == "192.0.2.0/24")
        try await store.noteUse(ofKey: key.id, at: Sample.time(30), from: "10.0.0.0/24")
        let late = try #require(try await store.key(digest: Sample.bytes(1))?.0)
        #expect(late.lastUsedAt == Sample.time(30))
        #expect(late.lastUsedFrom == "10.0.0.0/24")
        try await store.noteUse(ofKey: key.id + 1, at: Sample.time(40), from: "10.0.0.0/24")
    }
}

extension BackendSample {
    static func bytes(_ digest: UInt8) -> [UInt8] { Array(repeating: digest, count: 32) }

    /// A draft of a key whose account is `@NAME`; it ends after so many seconds.
    static func keyDraft(
        _ name: String, digest: UInt8, scopes: [String] = ["send"], networks: [String] = [], perMinute: Int? = nil,
        expires: Int64 = 1000
    ) throws -> ServiceKeyDraft {
        ServiceKeyDraft(
            name: name, account: try self.name("@" + name), digest: bytes(digest), hint: "clk_…000\(digest)",
            scopes: try scopes.map { try #require(ServiceKeyScope($0)) },
            networks: try networks.map { try #require(AddressRange($0)) }, requestsPerMinute: perMinute,
            createdBy: "user root", expiresAt: time(expires))
    }
}
