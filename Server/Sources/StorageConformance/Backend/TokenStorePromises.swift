import AppBackend
import PushHub
import RichPushModel
import ServiceErrors
import Testing

import struct RichPushModel.Tag

/// What the storage of one-time sign-in tokens and of identities promises.
public enum TokenStorePromises {
    /// Every promise.
    public static let all: [StoragePromise<any BackendStore>] = [
        keepsTokens, consumesOnce, refusesOthers, endsWithTheUser, sweepsTokens, keepsIdentities, createsOnce, adopts,
        adoptsOnce, buries, countsFromSessions,
    ]

    private typealias Sample = BackendSample

    private static func token(
        _ digest: UInt8, for user: String, installation: String? = nil, tags: [Tag]? = nil, expires: Timestamp = Sample.time(600)
    ) throws -> SignInToken {
        SignInToken(
            digest: Array(repeating: digest, count: 32), user: try Sample.name(user),
            installation: try installation.map { try #require(InstallationID($0)) }, tags: tags, createsUser: true,
            createdBy: "key shop", createdAt: Sample.start, expiresAt: expires)
    }

    private static func exchange(
        _ token: SignInToken, _ installation: String, of user: User, digest: UInt8 = 1, at now: Timestamp = Sample.start,
        in store: any BackendStore
    ) async throws -> BindingOutcome {
        try await store.bind(
            try Sample.device(installation, handle: nil), to: user.id,
            with: .exchange(try Sample.credential(installation, of: user, digest: digest), token: token.digest), devices: 100,
            mark: 1, at: now, audit: nil)
    }

    private static func refusal(_ work: () async throws -> Void) async -> ServiceErrorCode? {
        do {
            try await work()
            return nil
        } catch { return (error as? ServiceError)?.code }
    }

    private static let keepsTokens = StoragePromise<any BackendStore>("a one-time token comes back as stored, with its user") {
        store in
        let tags = try ["gold", "north"].map { try #require(Tag($0)) }
        let full = try token(1, for: "Ada", installation: "phone", tags: tags)
        let (empty, plain) = (try token(2, for: "ada", tags: []), try token(3, for: "bob"))
        for token in [full, empty, plain] { try await store.mint(token, audit: nil) }
        #expect(try await store.signInToken(digest: full.digest)?.user == nil)
        let ada = try await Sample.user("ada", in: store)
        for token in [full, empty] {
            let found = try #require(try await store.signInToken(digest: token.digest))
            #expect(found.token == token && found.user == ada)
        }
        #expect(try await store.signInToken(digest: plain.digest)?.token.tags == nil)
        #expect(try await store.signInToken(digest: [9]) == nil)
    }

    private static let consumesOnce = StoragePromise<any BackendStore>(
        "a one-time token signs one installation in, again until it expires, and no other"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        let token = try token(1, for: "ADA")
        try await store.mint(token, audit: nil)
        _ = try await exchange(token, "phone", of: ada, in: store)
        _ = try await exchange(token, "phone", of: ada, digest: 2, at: Sample.time(5), in: store)
        let used = try #require(try await store.signInToken(digest: token.digest)?.token)
        #expect(used.usedBy?.text == "phone" && used.usedAt == Sample.start)
        #expect(await refusal { _ = try await exchange(token, "tablet", of: ada, in: store) } == .unauthenticated)
        #expect(
            await refusal { _ = try await exchange(token, "phone", of: ada, at: Sample.time(600), in: store) } == .unauthenticated
        )
        let (phone, tablet) = (try #require(InstallationID("phone")), try #require(InstallationID("tablet")))
        #expect(try await store.credential(of: phone)?.0.digest.first == 2)
        #expect(try await store.credential(of: tablet) == nil)
        #expect(try await store.bindings(of: ada.id, since: .last, limit: 10).count == 1)
    }

    private static let refusesOthers = StoragePromise<any BackendStore>(
        "a one-time token holds for its user and its installation alone, and a refused installation spends none"
    ) { store in
        let (ada, bob) = (try await Sample.user("ada", in: store), try await Sample.user("bob", in: store))
        let token = try token(1, for: "ada", installation: "phone")
        try await store.mint(token, audit: nil)
        #expect(await refusal { _ = try await exchange(token, "phone", of: bob, in: store) } == .unauthenticated)
        #expect(await refusal { _ = try await exchange(token, "tablet", of: ada, in: store) } == .unauthenticated)
        let taken = try Sample.device("phone", handle: 1)
        _ = try await store.bind(
            taken, to: bob.id, with: .password(version: 1), devices: 100, mark: 1, at: Sample.start, audit: nil)
        #expect(try await exchange(token, "phone", of: ada, in: store) == .heldByAnother)
        #expect(try await store.signInToken(digest: token.digest)?.token.usedBy == nil)
    }

    private static let endsWithTheUser = StoragePromise<any BackendStore>(
        "one-time tokens end with the password, the sessions and the user, and those of others stay"
    ) { store in
        for (number, name) in ["ada", "bob", "cid", "dan", "eve"].enumerated() {
            _ = try await Sample.user(name, in: store)
            try await store.mint(try token(UInt8(number), for: name), audit: nil)
        }
        func id(_ name: String) async throws -> UserID {
            try #require(try await store.user(named: try Sample.name(name))).user.id
        }
        let hash = try Sample.hash("new")
        _ = try await store.setPassword(hash, of: try await id("ada"), at: Sample.time(1), audit: nil)
        _ = try await store.endSessions(of: try await id("bob"), isDisabled: nil, at: Sample.time(1), audit: nil)
        _ = try await store.removeUser(try await id("cid"), mark: 1, at: Sample.time(1), audit: nil)
        try await store.lockOut(try await id("dan"), at: Sample.time(1), audit: nil)
        for number in UInt8(0)...3 {
            #expect(try await store.signInToken(digest: Array(repeating: number, count: 32)) == nil)
        }
        #expect(try await store.signInToken(digest: Array(repeating: 4, count: 32)) != nil)
    }

    private static let sweepsTokens = StoragePromise<any BackendStore>("expired one-time tokens go in pieces, others stay") {
        store in
        for number in UInt8(1)...3 {
            try await store.mint(try token(number, for: "ada", expires: Sample.time(Int64(number))), audit: nil)
        }
        #expect(try await store.removeSignInTokens(expiredBefore: Sample.time(3), limit: 1) == 1)
        #expect(try await store.removeSignInTokens(expiredBefore: Sample.time(3), limit: 5) == 1)
        #expect(try await store.removeSignInTokens(expiredBefore: Sample.time(3), limit: 5) == 0)
        #expect(try await store.signInToken(digest: Array(repeating: 3, count: 32)) != nil)
    }

    private static func find(
        _ subject: String, _ new: String? = nil, issuedAt: Timestamp = Sample.start, at now: Timestamp = Sample.start,
        issuer: String = "https://id.example", in store: any BackendStore
    ) async throws -> IdentityOutcome {
        try await store.user(
            of: TokenIdentity(issuer: issuer, subject: subject), issuedAt: issuedAt,
            claim: IdentityClaim(creating: try new.map { NewUser(name: try Sample.name($0), role: .sender, password: nil) }),
            at: now)
    }

    private static func adopt(_ subject: String, _ name: String, in store: any BackendStore) async throws -> IdentityOutcome {
        try await store.user(
            of: TokenIdentity(issuer: "https://id.example", subject: subject), issuedAt: Sample.start,
            claim: IdentityClaim(adopting: try Sample.name(name)), at: Sample.time(1))
    }

    private static let adopts = StoragePromise<any BackendStore>(
        "an identity adopts a plain user without password and identity, and no other"
    ) { store in
        #expect(try await adopt("s1", "ada", in: store) == .unknown)
        let ada = try await Sample.user("Ada", .user, in: store)
        #expect(try await adopt("s1", "ada", in: store) == .user(ada))
        #expect(try await find("s1", in: store) == .user(ada))
        #expect(try await adopt("s2", "ada", in: store) == .nameTaken)
        _ = try await Sample.user("bob", .sender, in: store)
        #expect(try await adopt("s2", "bob", in: store) == .nameTaken)
        let cy = try await Sample.user("cy", .user, in: store)
        _ = try await store.setPassword(try Sample.hash("new"), of: cy.id, at: Sample.start, audit: nil)
        #expect(try await adopt("s2", "cy", in: store) == .nameTaken)
        #expect(try await find("s2", in: store) == .unknown)
    }

    private static let adoptsOnce = StoragePromise<any BackendStore>(
        "of several identities that come for one user at once, one adopts them"
    ) { store in
        _ = try await Sample.user("ada", .user, in: store)
        let found: [IdentityOutcome] = await withTaskGroup(of: IdentityOutcome?.self) { group in
            for number in 0..<6 { group.addTask { try? await adopt("s\(number)", "ada", in: store) } }
            return await group.reduce(into: []) { if let outcome = $1 { $0.append(outcome) } }
        }
        #expect(found.count { $0 != .nameTaken } == 1)
    }

    private static let keepsIdentities = StoragePromise<any BackendStore>(
        "an identity is its issuer and subject, byte for byte, and a name belongs to one"
    ) { store in
        #expect(try await find("s1", in: store) == .unknown)
        guard case .user(let ada) = try await find("s1", "ada", in: store) else {
            throw Sample.Unexpected(what: "the user was not created")
        }
        #expect(ada.role == .sender)
        #expect(try await find("s1", in: store) == .user(ada))
        #expect(try await find("s1", "other", in: store) == .user(ada))
        for subject in ["S1", "s1 ", "é", "e\u{301}"] { #expect(try await find(subject, in: store) == .unknown) }
        #expect(try await find("s1", issuer: "https://id.example/", in: store) == .unknown)
        #expect(try await find("s2", "ADA", in: store) == .nameTaken)
        _ = try await Sample.user("bob", in: store)
        #expect(try await find("s2", "bob", in: store) == .nameTaken)
        #expect(try await find("s2", in: store) == .unknown)
    }

    private static let createsOnce = StoragePromise<any BackendStore>(
        "an identity that comes several times at once gets one user"
    ) { store in
        let found: [IdentityOutcome] = await withTaskGroup(of: IdentityOutcome?.self) { group in
            for _ in 0..<6 { group.addTask { try? await find("s1", "ada", in: store) } }
            return await group.reduce(into: []) { if let outcome = $1 { $0.append(outcome) } }
        }
        #expect(Set(found).count == 1)
        let users = try await store.users(after: nil, prefix: "", limit: 10)
        #expect(users.count == 1)
    }

    private static let buries = StoragePromise<any BackendStore>(
        "a removed user leaves no subject, and a token from before the removal makes no user for it"
    ) { store in
        guard case .user(let ada) = try await find("s1", "ada", in: store) else {
            throw Sample.Unexpected(what: "the user was not created")
        }
        #expect(try await store.records("identities", of: ada.id, after: nil, limit: 10).count == 1)
        _ = try await store.removeUser(ada.id, mark: 1, at: Sample.time(10), audit: nil)
        #expect(try await find("s1", "ada", issuedAt: Sample.time(9), in: store) == .removed)
        guard case .user(let again) = try await find("s1", "ada", issuedAt: Sample.time(10), at: Sample.time(11), in: store)
        else { throw Sample.Unexpected(what: "the user was not created again") }
        #expect(again.id != ada.id && again.tokensSince == Sample.time(10))
        #expect(try await store.user(again.id) == again)
        _ = try await store.removeUser(again.id, mark: 1, at: Sample.time(20), audit: nil)
        #expect(try await store.removeIdentities(removedBefore: Sample.time(20), limit: 5) == 0)
        #expect(try await store.removeIdentities(removedBefore: Sample.time(21), limit: 5) == 1)
        #expect(try await find("s1", issuedAt: Sample.time(9), in: store) == .unknown)
    }

    private static let countsFromSessions = StoragePromise<any BackendStore>(
        "the moment from which tokens count is that of the last password, end of sessions or lock"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        #expect(ada.tokensSince == nil)
        let hash = try Sample.hash("new")
        _ = try await store.setPassword(hash, of: ada.id, at: Sample.time(1), audit: nil)
        #expect(try await store.user(ada.id)?.tokensSince == Sample.time(1))
        _ = try await store.endSessions(of: ada.id, isDisabled: true, at: Sample.time(2), audit: nil)
        #expect(try await store.user(ada.id)?.tokensSince == Sample.time(2))
        try await store.lockOut(ada.id, at: Sample.time(3), audit: nil)
        #expect(try await store.user(ada.id)?.tokensSince == Sample.time(3))
    }
}
