import RichPushModel
import ServiceErrors
import SharedAccess
import Synchronization
import Testing

@testable import AppBackend

@Suite("Signing in while the database keeps no writes")
struct SignInWithoutWritesTests {
    /// The store of a test, whose writes fail when the test says so, and are counted.
    private final class Counts: SignInCountStore {
        struct State: Sendable {
            var writes = 0
            /// So many writes pass, and then all fail; `nil` for none.
            var passing: Int?
        }

        let store: any SignInCountStore
        let state = Mutex(State())

        init(_ store: any SignInCountStore) { self.store = store }

        func counts(for attempt: SignInAttempt) async throws -> SignInCounts { try await store.counts(for: attempt) }

        func change<Result: Sendable>(
            _ attempt: SignInAttempt, onlyHere: Bool, at now: Timestamp,
            _ body: @escaping @Sendable (inout SignInCounts) -> Result
        ) async throws -> Result {
            let fails = state.withLock { state in
                state.writes += 1
                guard let passing = state.passing else { return false }
                state.passing = max(0, passing - 1)
                return passing == 0
            }
            if fails { throw ServiceError(.storageUnavailable) }
            return try await store.change(attempt, onlyHere: onlyHere, at: now, body)
        }

        func forget(account: String) async throws { try await store.forget(account: account) }

        func removeIdle(before moment: Timestamp, limit: Int) async throws -> Int {
            try await store.removeIdle(before: moment, limit: limit)
        }

        func pass(_ writes: Int?) { state.withLock { $0.passing = writes } }
        var writes: Int { state.withLock { $0.writes } }
    }

    private func make() async throws -> (test: TestBackend, counts: Counts, authenticator: PasswordAuthenticator) {
        let test = try await TestBackend()
        let counts = Counts(test.store)
        let authenticator = try await PasswordAuthenticator(
            users: test.store, counts: counts, hasher: test.hasher, clock: test.clock)
        for name in ["ann", "bob"] {
            try await test.backend.addUser(name: name, password: TestBackend.password(of: name), role: .user)
        }
        return (test, counts, authenticator)
    }

    private func attempt(_ authenticator: PasswordAuthenticator, _ user: String, _ password: String? = nil) async
        -> ServiceErrorCode?
    {
        await code {
            _ = try await authenticator.authenticate(
                user: user, password: password ?? TestBackend.password(of: user), from: TestBackend.source, refused: {})
        }
    }

    @Test("a right password signs in, and wrong ones are counted in memory")
    func inMemory() async throws {
        let (test, counts, authenticator) = try await make()
        counts.pass(0)
        #expect(await attempt(authenticator, "ann") == nil)
        for number in 0..<SignInCounts.here.freeFailures {
            #expect(await attempt(authenticator, "bob", "guess \(number)") == .unauthenticated)
        }
        #expect(await attempt(authenticator, "bob", "one more guess") == .tooManyAttempts)
        #expect(try await test.rows(of: "sign_in_counts") == 0)
        counts.pass(nil)
        #expect(await attempt(authenticator, "bob") == nil, "the database decides again")
    }

    @Test("a success that could not be stored fails no sign-in, and is settled when writes are kept again")
    func owed() async throws {
        let (test, counts, authenticator) = try await make()
        counts.pass(1)
        #expect(await attempt(authenticator, "ann") == nil)
        #expect(try await test.rows(of: "sign_in_counts WHERE failures > 0") == 3, "counted as failed until then")
        counts.pass(nil)
        #expect(await attempt(authenticator, "bob") == nil)
        #expect(try await test.rows(of: "sign_in_counts WHERE failures > 0") == 0)
        #expect(try await test.rows(of: "sign_in_counts WHERE known_until > 0") == 2)
    }

    @Test("a user who is known in a network writes nothing to sign in there, but for once a day or after a failure")
    func known() async throws {
        let (test, counts, authenticator) = try await make()
        #expect(await attempt(authenticator, "ann") == nil)
        let first = counts.writes
        #expect(first == 2)
        for _ in 0..<3 {
            authenticator.forget()
            #expect(await attempt(authenticator, "ann") == nil)
        }
        #expect(counts.writes == first)
        #expect(await attempt(authenticator, "ann", "a wrong password") == .unauthenticated)
        #expect(counts.writes == first + 1)
        authenticator.forget()
        #expect(await attempt(authenticator, "ann") == nil)
        #expect(counts.writes == first + 2)
        test.clock.advance(by: .seconds(25 * 3600))
        authenticator.forget()
        #expect(await attempt(authenticator, "ann") == nil)
        #expect(counts.writes == first + 3)
    }
}
