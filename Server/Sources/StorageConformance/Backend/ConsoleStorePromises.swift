import AppBackend
import AuditTrail
import RichPushModel
import Testing

/// What the storage of the console's sessions promises.
public enum ConsoleStorePromises {
    /// Every promise.
    public static let all: [StoragePromise<any BackendStore>] = [
        redeemsOnce, refusesOthers, keepsSessions, extends, keepsTheNewest, addsWithoutLink, endsWithTheUser, ends, sweeps,
        keepsFactors, usesCodesOnce,
    ]

    private typealias Sample = BackendSample

    private static func factor(of user: User, _ salt: UInt8, at second: Int64 = 0) -> SecondFactor {
        SecondFactor(user: user.id, salt: [salt], createdAt: Sample.time(second))
    }

    private static func confirm(_ factor: SecondFactor, step: Int64 = 7, in store: any BackendStore) async throws -> Bool {
        try await store.confirmSecondFactor(
            of: factor.user, salt: factor.salt, step: step, recovery: [digest(1), digest(2)], at: Sample.time(9), audit: nil)
    }

    private static let keepsFactors = StoragePromise<any BackendStore>(
        "a second factor counts from its confirmation on, until it is removed or its user is"
    ) { store in
        let ann = try await Sample.user("ann", in: store)
        func mark() async throws -> Timestamp? { try await store.user(ann.id)?.secondFactorAt }
        #expect(try await store.secondFactor(of: ann.id) == nil)
        let (first, second) = (factor(of: ann, 1), factor(of: ann, 2, at: 5))
        for begun in [first, second] { #expect(try await store.beginSecondFactor(begun)) }
        #expect(try await store.secondFactor(of: ann.id) == second)
        #expect(try await !confirm(first, in: store), "it was replaced")
        #expect(try await mark() == nil)
        #expect(try await !store.removeSecondFactor(of: ann.id, audit: nil), "it is not confirmed")
        #expect(try await confirm(second, in: store))
        #expect(try await mark() == Sample.time(9))
        #expect(try await store.user(named: ann.name)?.user.secondFactorAt == Sample.time(9))
        let kept = try #require(try await store.secondFactor(of: ann.id))
        #expect(kept.confirmedAt == Sample.time(9) && kept.recoveryCodes == 2 && kept.salt == [2])
        #expect(try await !store.beginSecondFactor(factor(of: ann, 3)), "one is confirmed")
        #expect(try await !confirm(second, in: store))
        #expect(try await store.removeSecondFactor(of: ann.id, audit: nil))
        #expect(try await mark() == nil)
        #expect(try await store.beginSecondFactor(first))
        _ = try await store.removeUser(ann.id, mark: 1, at: Sample.start, audit: nil)
        #expect(try await store.secondFactor(of: ann.id) == nil)
    }

    private static let usesCodesOnce = StoragePromise<any BackendStore>(
        "each code signs in once, and none before the one that was used last"
    ) { store in
        let (ann, bob) = (try await Sample.user("ann", in: store), try await Sample.user("bob", in: store))
        #expect(try await store.beginSecondFactor(factor(of: ann, 1)))
        #expect(try await !store.useTimeCode(8, of: ann.id), "it is not confirmed")
        #expect(try await confirm(factor(of: ann, 1), in: store))
        for (step, isTaken) in [(7, false), (6, false), (9, true), (9, false), (8, false), (10, true)] as [(Int64, Bool)] {
            #expect(try await store.useTimeCode(step, of: ann.id) == isTaken, "\(step)")
        }
        #expect(try await !store.useTimeCode(11, of: bob.id))
        #expect(try await !store.useRecoveryCode(digest(1), of: bob.id))
        #expect(try await !store.useRecoveryCode(digest(3), of: ann.id))
        let uses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<6 { group.addTask { try await store.useRecoveryCode(digest(2), of: ann.id) ? 1 : 0 } }
            return try await group.reduce(0, +)
        }
        #expect(uses == 1)
        #expect(try await store.secondFactor(of: ann.id)?.recoveryCodes == 1)
        #expect(try await store.useRecoveryCode(digest(1), of: ann.id))
        #expect(try await store.secondFactor(of: ann.id)?.recoveryCodes == 0)
    }

    private static func digest(_ number: UInt8) -> [UInt8] { Array(repeating: number, count: 32) }

    private static func session(
        _ number: UInt8, _ kind: ConsoleSession.Kind = .session, of user: User, at created: Int64 = 0, expires: Int64 = 100
    ) -> ConsoleSession {
        ConsoleSession(
            digest: digest(number), kind: kind, user: user.id, role: user.role, credentialVersion: user.credentialVersion,
            createdAt: Sample.time(created), expiresAt: Sample.time(expires), endsAt: Sample.time(1_000))
    }

    /// Begins the session `number` of a user with a link of its own.
    private static func begin(
        _ number: UInt8, of user: User, at created: Int64 = 0, expires: Int64 = 100, limit: Int = 9, in store: any BackendStore
    ) async throws {
        try await store.addConsoleLink(session(number + 100, .link, of: user, at: created, expires: created + 60), audit: nil)
        #expect(try await redeem(number + 100, for: number, of: user, at: created, expires: expires, limit: limit, in: store))
    }

    private static func redeem(
        _ link: UInt8, for number: UInt8, of user: User, at now: Int64 = 0, expires: Int64 = 100, limit: Int = 9,
        in store: any BackendStore
    ) async throws -> Bool {
        try await store.redeemConsoleLink(
            digest(link), for: session(number, of: user, at: now, expires: expires), limit: limit, at: Sample.time(now),
            audit: nil)
    }

    private static func find(_ number: UInt8, in store: any BackendStore) async throws -> ConsoleSession? {
        try await store.consoleSession(.session, digest: digest(number))?.session
    }

    private static let redeemsOnce = StoragePromise<any BackendStore>("a link to the console becomes one session of its user") {
        store in
        let ada = try await Sample.user("ada", .admin, in: store)
        try await store.addConsoleLink(session(1, .link, of: ada), audit: nil)
        #expect(try await redeem(1, for: 2, of: ada, in: store))
        #expect(try await redeem(1, for: 3, of: ada, in: store) == false)
        #expect(try await store.consoleSession(.session, digest: digest(3)) == nil)
    }

    private static let refusesOthers = StoragePromise<any BackendStore>(
        "a link that has expired, is none or is of an earlier role begins no session"
    ) { store in
        let ada = try await Sample.user("ada", .admin, in: store)
        for number in UInt8(1)...2 { try await store.addConsoleLink(session(number, .link, of: ada, expires: 10), audit: nil) }
        try await begin(5, of: ada, in: store)
        #expect(try await redeem(1, for: 11, of: ada, at: 10, in: store) == false)
        #expect(try await redeem(7, for: 12, of: ada, in: store) == false)
        #expect(try await redeem(5, for: 13, of: ada, in: store) == false)
        #expect(try await redeem(2, for: 15, of: try await Sample.user("bob", in: store), in: store) == false)
        _ = try await store.setRole(.user, of: ada.id, audit: nil)
        #expect(try await redeem(2, for: 14, of: ada, in: store) == false)
    }

    private static let keepsSessions = StoragePromise<any BackendStore>(
        "a session of the console comes back as stored, with its user, and a link is none"
    ) { store in
        let ada = try await Sample.user("ada", .auditor, in: store)
        try await begin(1, of: ada, in: store)
        let found = try #require(try await store.consoleSession(.session, digest: digest(1)))
        #expect(found.session == session(1, of: ada))
        #expect(found.user == ada)
        try await store.addConsoleLink(session(2, .link, of: ada), audit: nil)
        #expect(try await store.consoleSession(.session, digest: digest(2)) == nil)
    }

    private static let extends = StoragePromise<any BackendStore>("a session of the console that is used expires later") {
        store in
        let ada = try await Sample.user("ada", in: store)
        try await begin(1, of: ada, in: store)
        try await begin(2, of: ada, in: store)
        try await store.extendConsoleSession(digest(1), until: Sample.time(500))
        #expect(try await find(1, in: store)?.expiresAt == Sample.time(500))
        #expect(try await find(2, in: store)?.expiresAt == Sample.time(100))
    }

    private static let keepsTheNewest = StoragePromise<any BackendStore>(
        "of the sessions of a user the newest stay, and those of others"
    ) { store in
        let (ada, bob) = (try await Sample.user("ada", in: store), try await Sample.user("bob", in: store))
        try await begin(9, of: bob, in: store)
        for number in UInt8(1)...3 { try await begin(number, of: ada, at: Int64(number), limit: 2, in: store) }
        var holding: [UInt8] = []
        for number in [1, 2, 3, 9] as [UInt8] where try await store.consoleSession(.session, digest: digest(number)) != nil {
            holding.append(number)
        }
        #expect(holding == [2, 3, 9])
    }

    private static let addsWithoutLink = StoragePromise<any BackendStore>(
        "a session of the console that needs no link pushes out the oldest of its user alone"
    ) { store in
        let (ada, bob) = (try await Sample.user("ada", in: store), try await Sample.user("bob", in: store))
        try await store.addConsoleSession(session(9, of: bob), limit: 2, audit: nil)
        for number in UInt8(1)...3 {
            try await store.addConsoleSession(session(number, of: ada, at: Int64(number)), limit: 2, audit: nil)
        }
        var holding: [UInt8] = []
        for number in [1, 2, 3, 9] as [UInt8] where try await find(number, in: store) != nil { holding.append(number) }
        #expect(holding == [2, 3, 9])
    }

    private static let endsWithTheUser = StoragePromise<any BackendStore>(
        "sessions of the console and links to it end with the password, the sessions and the user, and those of others stay"
    ) { store in
        var users: [User] = []
        for (number, name) in ["ada", "bob", "cid", "dan", "eve"].enumerated() {
            users.append(try await Sample.user(name, in: store))
            try await begin(UInt8(number), of: users[number], in: store)
            try await store.addConsoleLink(session(UInt8(50 + number), .link, of: users[number]), audit: nil)
        }
        _ = try await store.setPassword(try Sample.hash("new"), of: users[0].id, at: Sample.time(1), audit: nil)
        _ = try await store.endSessions(of: users[1].id, isDisabled: nil, at: Sample.time(1), audit: nil)
        _ = try await store.removeUser(users[2].id, mark: 1, at: Sample.time(1), audit: nil)
        try await store.lockOut(users[3].id, at: Sample.time(1), audit: nil)
        for number in UInt8(0)...3 {
            #expect(try await store.consoleSession(.session, digest: digest(number)) == nil)
            #expect(try await redeem(50 + number, for: 70, of: users[4], in: store) == false)
        }
        #expect(try await store.consoleSession(.session, digest: digest(4)) != nil)
        #expect(try await redeem(54, for: 71, of: users[4], in: store))
    }

    private static let ends = StoragePromise<any BackendStore>("a session of the console ends once, and a link is no session") {
        store in
        let ada = try await Sample.user("ada", in: store)
        try await begin(1, of: ada, in: store)
        try await store.addConsoleLink(session(2, .link, of: ada), audit: nil)
        #expect(try await store.endConsoleSession(digest(2), audit: nil) == false)
        #expect(try await store.endConsoleSession(digest(1), audit: nil))
        #expect(try await store.endConsoleSession(digest(1), audit: nil) == false)
        #expect(try await store.consoleSession(.session, digest: digest(1)) == nil)
    }

    private static let sweeps = StoragePromise<any BackendStore>("expired sessions of the console go in pieces, others stay") {
        store in
        let ada = try await Sample.user("ada", in: store)
        for number in UInt8(1)...3 { try await begin(number, of: ada, expires: Int64(number), in: store) }
        #expect(try await store.removeConsoleSessions(expiredBefore: Sample.time(3), limit: 1) == 1)
        #expect(try await store.removeConsoleSessions(expiredBefore: Sample.time(3), limit: 5) == 1)
        #expect(try await store.removeConsoleSessions(expiredBefore: Sample.time(3), limit: 5) == 0)
        #expect(try await store.consoleSession(.session, digest: digest(3)) != nil)
    }
}
