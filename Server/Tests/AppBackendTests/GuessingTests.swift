import RichPushModel
import SQLStorage
import ServiceErrors
import SharedAccess
import Testing

@testable import AppBackend

@Suite("Guessing passwords")
struct GuessingTests {
    private func attempt(
        _ test: TestBackend, _ user: String, _ password: String, from source: String,
        at authenticator: (any UserAuthenticator)? = nil
    ) async -> ServiceErrorCode? {
        await code {
            _ = try await (authenticator ?? test.backend.parts.authenticator).authenticate(
                user: user, password: password, from: SourceAddress(source), refused: {})
        }
    }

    /// Another node on the same database.
    private func otherNode(_ test: TestBackend) async throws -> any UserAuthenticator {
        try await PasswordAuthenticator(
            users: test.store, counts: test.store, hasher: test.hasher, clock: test.clock)
    }

    @Test("at one account from forty networks ends after thirty guesses, on all nodes together")
    func manyNetworks() async throws {
        let test = try await TestBackend()
        try await test.backend.addUser(name: "root", password: TestBackend.password(of: "root"), role: .admin)
        let nodes = [test.backend.parts.authenticator, try await otherNode(test)]
        var tried = 0
        for number in 0..<240 {
            let found = await attempt(test, "root", "guess \(number)", from: "10.0.\(number % 40).1", at: nodes[number % 2])
            if found == .unauthenticated { tried += 1 } else { #expect(found == .tooManyAttempts) }
        }
        #expect(tried == SignInCounts.account.freeFailures)
        // A node that starts now knows it as well.
        let restarted = try await otherNode(test)
        #expect(await attempt(test, "root", "guess", from: "10.9.9.9", at: restarted) == .tooManyAttempts)
    }

    @Test("at an account keeps out neither who signed in from there lately, nor an installation, nor a remembered success")
    func knownCallers() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let (phone, credential) = try await test.install(ann, "phone", handle: 1)
        for number in 0..<200 {
            _ = await attempt(test, "ann", "guess \(number)", from: "10.0.\(number % 40).1")
            test.clock.advance(by: .milliseconds(10))
        }
        let password = TestBackend.password(of: "ann")
        #expect(await attempt(test, "ann", password, from: "10.1.1.1") == nil, "remembered")
        test.backend.parts.authenticator.forget()
        #expect(await attempt(test, "ann", password, from: "10.1.1.1") == .tooManyAttempts, "a network that is new to ann waits")
        #expect(await attempt(test, "ann", password, from: "192.0.2.99") == nil, "the network that she signed in from")
        let node = try await otherNode(test)
        #expect(await attempt(test, "ann", password, from: "192.0.2.1", at: node) == nil, "the same at another node")
        let caller = try await test.backend.authenticate(.bearer(credential), from: SourceAddress("10.1.1.1"))
        #expect(caller.installation == phone.installation)
    }

    @Test("with many names from one network ends after fifty guesses, and those who are known there sign in")
    func manyNames() async throws {
        let test = try await TestBackend()
        _ = try await test.user("ann")
        var tried = 0
        for number in 0..<300 {
            let found = await attempt(test, "name\(number)", "guess", from: "192.0.2.\(number % 200)")
            if found == .unauthenticated { tried += 1 } else { #expect(found == .tooManyAttempts) }
        }
        #expect(tried == SignInCounts.source.freeFailures)
        test.backend.parts.authenticator.forget()
        #expect(await attempt(test, "ann", TestBackend.password(of: "ann"), from: "192.0.2.7") == nil)
        #expect(await attempt(test, "bob", "guess", from: "198.51.100.1") == .unauthenticated, "other networks are not touched")
    }

    @Test("from a network for hours makes its neighbours wait a minute at most, and no other network at all")
    func neighbour() async throws {
        let test = try await TestBackend()
        try await test.backend.addUser(name: "ann", password: TestBackend.password(of: "ann"), role: .user)
        for number in 0..<3_000 {
            _ = await attempt(test, "ann", "guess \(number)", from: "192.0.2.66")
            test.clock.advance(by: .seconds(1))
        }
        do {
            _ = try await test.signIn("ann")
        } catch let error as ServiceError {
            #expect(error.code == .tooManyAttempts)
            let wait = try #require(error.retryAfter)
            #expect((1...60).contains(wait))
            test.clock.advance(by: .seconds(wait))
            _ = try await test.signIn("ann")
        }
        test.backend.parts.authenticator.forget()
        #expect(await attempt(test, "ann", TestBackend.password(of: "ann"), from: "198.51.100.1") == nil)
    }

    @Test("before a step back of the clock keeps a user out for the wait after it and no longer", arguments: [30, 7_200, 86_400])
    func stepBack(seconds: Int) async throws {
        let test = try await TestBackend()
        try await test.backend.addUser(name: "ann", password: TestBackend.password(of: "ann"), role: .user)
        var failures = 0
        while failures < 7 {
            if await attempt(test, "ann", "guess", from: "192.0.2.66") == .unauthenticated { failures += 1 }
            test.clock.advance(by: .seconds(1))
        }
        test.clock.jump(by: .seconds(-seconds))
        // As the upkeep of a node does within a second.
        _ = try await SQLWaitRepair(test.database, lease: .seconds(60)).run(at: test.clock.now)
        #expect(await attempt(test, "ann", TestBackend.password(of: "ann"), from: "192.0.2.7") == .tooManyAttempts)
        test.clock.advance(by: .seconds(4))
        #expect(await attempt(test, "ann", TestBackend.password(of: "ann"), from: "192.0.2.7") == nil)
    }

    @Test("leaves no name in the database, and counts that say nothing any more go")
    func traces() async throws {
        let test = try await TestBackend()
        _ = try await test.user("ann")
        #expect(await attempt(test, "my secret typed as a name", "x", from: "10.0.0.1") == .unauthenticated)
        #expect(try await test.rows(of: "sign_in_counts WHERE account LIKE '%secret%'") == 0)
        #expect(try await test.rows(of: "sign_in_counts WHERE failures > 0") == 3)
        test.clock.advance(by: SignInCounts.memory + .seconds(1))
        try await test.upkeep.sweep()
        #expect(try await test.rows(of: "sign_in_counts") == 1, "that ann is known where she signed in")
        try await test.backend.eraseUser(name: "ann")
        #expect(try await test.rows(of: "sign_in_counts") == 0)
    }

    @Test("a hash of a lower cost is verified and replaced at the next sign-in, and sessions stay")
    func raisesCost() async throws {
        let test = try await TestBackend()
        let old = try PasswordHash(
            of: "an old password", cost: PasswordHash.Cost(logarithmOfRounds: 3, blockSize: 1, parallelism: 1))
        let name = try #require(UserName("ann"))
        let ann = try await test.store.createUser(name: name, role: .user, password: old, at: test.clock.now)
        #expect(await attempt(test, "ann", "a wrong password", from: "192.0.2.7") == .unauthenticated)
        #expect(try await test.store.user(named: name)?.password == old)
        #expect(await attempt(test, "ann", "an old password", from: "192.0.2.7") == nil)
        let raised = try #require(try await test.store.user(named: name))
        #expect(raised.password?.cost == TestBackend.cheap)
        #expect(raised.user == ann, "the credential version stays, and with it what is signed in")
        test.backend.parts.authenticator.forget()
        #expect(await attempt(test, "ann", "an old password", from: "192.0.2.7") == nil)
        #expect(try await test.store.user(named: name)?.password == raised.password, "once is enough")
    }
}
