import AppBackend
import RichPushModel
import Testing

/// What a `SignInCountStore` promises.
public enum SignInCountPromises {
    /// Every promise.
    public static let all: [StoragePromise<any BackendStore>] = [keepsCounts, changesOne, countsTogether, forgets]

    private typealias Sample = BackendSample

    private static let keepsCounts = StoragePromise<any BackendStore>(
        "an attempt meets the counts of its account, of its network, and of both"
    ) { store in
        let counts = store
        let attempt = SignInAttempt(user: "Ada", source: SourceAddress("192.0.2.7"))
        #expect(try await counts.counts(for: attempt) == SignInCounts())
        let decision = try await counts.change(attempt, at: Sample.start) { $0.begin(at: Sample.start) }
        #expect(decision == .proceed(charged: .everywhere))
        let stored = try await counts.counts(for: SignInAttempt(user: "ada", source: SourceAddress("192.0.2.8")))
        #expect(stored.here.failures == 1 && stored.account == stored.here && stored.source == stored.here)
        let elsewhere = try await counts.counts(for: SignInAttempt(user: "ada", source: SourceAddress("10.0.0.1")))
        #expect(elsewhere == SignInCounts(account: stored.account))
        let other = try await counts.counts(for: SignInAttempt(user: "bob", source: SourceAddress("192.0.2.7")))
        #expect(other == SignInCounts(source: stored.source))
        try await counts.change(attempt, at: Sample.start) { $0.succeed(charged: .everywhere, at: Sample.start) }
        let known = try await counts.counts(for: attempt)
        #expect(known.here.knownUntil == Sample.start + SignInCounts.knownFor && known.account.failures == 0)
    }

    private static let changesOne = StoragePromise<any BackendStore>(
        "a change of the count in one network sees and touches no other"
    ) { store in
        let counts = store
        let attempt = SignInAttempt(user: "ada", source: SourceAddress("192.0.2.7"))
        try await counts.change(attempt, at: Sample.start) { _ = $0.begin(at: Sample.start) }
        let before = try await counts.counts(for: attempt)
        let seen = try await counts.change(attempt, onlyHere: true, at: Sample.start) { counts in
            let seen = counts
            counts = SignInCounts(
                here: SignInCount(failures: 9), account: SignInCount(failures: 9), source: SignInCount(failures: 9))
            return seen
        }
        #expect(seen == SignInCounts(here: before.here))
        let after = try await counts.counts(for: attempt)
        #expect(after.here.failures == 9 && after.account == before.account && after.source == before.source)
    }

    private static let countsTogether = StoragePromise<any BackendStore>("attempts at the same moment are counted one by one") {
        store in
        let begun = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let attempt = SignInAttempt(user: "ada", source: SourceAddress("10.0.\(number % 2).1"))
                    let decision = try? await store.change(attempt, at: Sample.start) { $0.begin(at: Sample.start) }
                    return if case .proceed? = decision { true } else { false }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(begun == 2 * SignInCounts.here.freeFailures)
        let counts = try await store.counts(for: SignInAttempt(user: "ada", source: SourceAddress("10.0.0.1")))
        #expect(counts.account.failures == 2 * SignInCounts.here.freeFailures)
    }

    private static let forgets = StoragePromise<any BackendStore>(
        "counts go when they say nothing any more, or with their account"
    ) { store in
        let counts = store
        for (name, seconds) in [("ada", Int64(0)), ("bob", 10)] {
            let attempt = SignInAttempt(user: name, source: SourceAddress("10.0.0.1"))
            _ = try await counts.change(attempt, at: Sample.time(seconds)) { $0.begin(at: Sample.time(seconds)) }
        }
        let idle = Sample.time(5) + SignInCounts.memory
        #expect(try await counts.removeIdle(before: idle, limit: 1) == 1)
        #expect(try await counts.removeIdle(before: idle, limit: 9) == 1)
        #expect(try await counts.removeIdle(before: idle, limit: 9) == 0)
        let bob = SignInAttempt(user: "bob", source: SourceAddress("10.0.0.1"))
        #expect(try await counts.counts(for: bob).here.failures == 1)
        try await counts.forget(account: bob.account)
        let left = try await counts.counts(for: bob)
        #expect(left.here == .zero && left.account == .zero && left.source.failures == 2)
    }
}
