import APNsProtocol
import ClarionTesting
import Crypto
import RichPushModel
import Synchronization
import Testing

@Suite("Provider token cache")
struct ProviderTokenCacheTests {
    private let clock = ManualClock()

    private func cache(chance: Double = 0) throws -> ProviderTokenCache {
        let key = try ProviderTokenKey(privateKey: P256.Signing.PrivateKey(), keyID: "KEY4567890", teamID: "TEAM567890")
        return ProviderTokenCache(key: key, clock: clock, chance: { chance })
    }

    @Test("every caller gets the same text until the token is old")
    func shared() throws {
        let cache = try cache()
        let first = try cache.current()
        clock.advance(by: .seconds(43 * 60 - 1))
        #expect(try cache.current() == first)
        clock.advance(by: .seconds(1))
        let second = try cache.current()
        #expect(second.generation == first.generation + 1)
        #expect(second.issuedAt == clock.now)
    }

    @Test("the jitter moves the renewal, but not beyond 47 minutes")
    func jitter() throws {
        let cache = try cache(chance: 1)
        let first = try cache.current()
        clock.advance(by: .seconds(47 * 60 - 1))
        #expect(try cache.current() == first)
        clock.advance(by: .seconds(1))
        #expect(try cache.current() != first)
    }

    @Test("a token that APNs calls expired is renewed only when it is 20 minutes old")
    func expired() throws {
        let cache = try cache()
        let first = try cache.current()
        clock.advance(by: .seconds(20 * 60 - 1))
        #expect(cache.reportExpired(generation: first.generation) == .tokenIsYoung)
        #expect(try cache.current() == first)
        clock.advance(by: .seconds(1))
        #expect(cache.reportExpired(generation: first.generation) == .renewed)
        let second = try cache.current()
        #expect(second != first)
        #expect(cache.reportExpired(generation: first.generation) == .renewed)
        #expect(try cache.current() == second)
    }

    @Test("many callers at once cause one signature")
    func singleFlight() async throws {
        let cache = try cache()
        let tokens = try await withThrowingTaskGroup(of: ProviderToken.self) { tasks in
            for _ in 0..<200 { tasks.addTask { try cache.current() } }
            return try await tasks.reduce(into: Set<ProviderToken>()) { $0.insert($1) }
        }
        #expect(tokens.count == 1)
    }

    @Test("a policy cannot renew later than 55 minutes or sooner than 20")
    func bounds() {
        #expect(ProviderTokenPolicy(renewalAge: .seconds(7200)).renewalAge == .seconds(55 * 60))
        #expect(ProviderTokenPolicy(renewalAge: .seconds(1)).renewalAge == .seconds(20 * 60))
        let slow = ProviderTokenPolicy(minimumInterval: .seconds(7200))
        #expect(slow.minimumInterval == .seconds(55 * 60))
        #expect(slow.renewalAge == .seconds(55 * 60))
        #expect(ProviderTokenPolicy(minimumInterval: .seconds(-1)).minimumInterval == .zero)
    }

    @Test("no policy keeps a token for longer than 58 minutes", arguments: [1, 43, 55, 7200])
    func longestUse(minutes: Int) throws {
        let policy = ProviderTokenPolicy(
            renewalAge: .seconds(minutes * 60), jitter: .seconds(3600), minimumInterval: .seconds(minutes * 60))
        let key = try ProviderTokenKey(privateKey: P256.Signing.PrivateKey(), keyID: "KEY4567890", teamID: "TEAM567890")
        let cache = ProviderTokenCache(key: key, policy: policy, clock: clock, chance: { 1 })
        let first = try cache.current()
        clock.advance(by: .seconds(58 * 60))
        #expect(try cache.current() != first)
    }
}

@Suite("A shared provider token")
struct SharedProviderTokenTests {
    private let clock = ManualClock()

    @Test("the token of the source is used until it is old, and then the source is asked once a minute")
    func source() throws {
        let questions = Mutex(0)
        let shared = Mutex(ProviderToken(text: "one", issuedAt: clock.now))
        let cache = ProviderTokenCache(
            source: {
                questions.withLock { $0 += 1 }
                return shared.withLock { $0 }
            }, clock: clock)
        #expect(try cache.current().text == "one")
        clock.advance(by: .seconds(42 * 60))
        #expect(try cache.current().text == "one")
        #expect(questions.withLock { $0 } == 1)
        clock.advance(by: .seconds(60))
        for _ in 0..<100 { #expect(try cache.current().generation == 1) }
        #expect(questions.withLock { $0 } == 2)
        shared.withLock { $0 = ProviderToken(text: "two", issuedAt: clock.now) }
        #expect(try cache.current().text == "one")
        clock.advance(by: .seconds(60))
        #expect(try cache.current().text == "two")
        #expect(try cache.current().generation == 2)
    }

    @Test("a shared token that is old already is due sooner")
    func age() throws {
        let old = ProviderToken(text: "old", issuedAt: clock.now - .seconds(40 * 60))
        let shared = Mutex(old)
        let cache = ProviderTokenCache(source: { shared.withLock { $0 } }, clock: clock)
        #expect(try cache.current().text == "old")
        shared.withLock { $0 = ProviderToken(text: "new", issuedAt: clock.now) }
        clock.advance(by: .seconds(3 * 60))
        #expect(try cache.current().text == "new")
    }

    @Test("a source that has nothing newer after ExpiredProviderToken is no reason to go on asking APNs")
    func expired() throws {
        let cache = ProviderTokenCache(source: { [start = clock.now] in .init(text: "one", issuedAt: start) }, clock: clock)
        let generation = try cache.current().generation
        clock.advance(by: .seconds(30 * 60))
        #expect(cache.reportExpired(generation: generation) == .renewed)
        #expect(try cache.current().generation == generation)
        #expect(cache.reportExpired(generation: generation) == .tokenIsYoung)
    }

    @Test("a token is never printed")
    func silence() {
        #expect(!"\(ProviderToken(text: "secret", issuedAt: clock.now))".contains("secret"))
    }
}
