import RichPushModel
import Testing

@testable import AppBackend

@Suite struct SignInThrottleTests {
    private let start = Timestamp(milliseconds: 1_800_000_000_000)

    @Test("the wait for a user in one network doubles up to a minute, and no further")
    func doubling() {
        var counts = SignInCounts()
        var now = start
        var waits: [Int] = []
        for _ in 0..<20 {
            while case .wait(let seconds, let scope) = counts.begin(at: now) {
                #expect(scope == .here)
                waits.append(seconds)
                now = now + .seconds(seconds)
            }
        }
        #expect(waits.prefix(7) == [1, 2, 4, 8, 16, 32, 60])
        #expect(waits.max() == 60)
    }

    @Test("a success starts afresh, an undecided attempt does not count, an hour of silence forgets")
    func forgiving() {
        var counts = SignInCounts()
        for _ in 0..<4 { #expect(counts.begin(at: start) == .proceed(charged: .everywhere)) }
        counts.succeed(charged: .everywhere, at: start)
        #expect(counts.here.failures == 0)
        #expect(counts.account.failures == 3)
        #expect(counts.source.failures == 3)
        counts = SignInCounts()
        for _ in 0..<100 {
            #expect(counts.begin(at: start) == .proceed(charged: .everywhere))
            counts.withdraw(charged: .everywhere)
        }
        for _ in 0..<5 { #expect(counts.begin(at: start) == .proceed(charged: .everywhere)) }
        #expect(counts.begin(at: start) == .wait(seconds: 1, .here))
        for _ in 0..<5 { #expect(counts.begin(at: start + .seconds(3700)) == .proceed(charged: .everywhere)) }
    }

    @Test("one network alone cannot make an account wait in another")
    func contribution() {
        var (here, account, now) = (SignInCount.zero, SignInCount.zero, start)
        var most: Int64 = 0
        for _ in 0..<200 {
            var counts = SignInCounts(here: here, account: account)
            if case .wait(let seconds, let scope) = counts.begin(at: now) {
                #expect(scope == .here)
                now = now + .seconds(seconds)
            }
            (here, account) = (counts.here, counts.account)
            most = max(most, account.failures)
        }
        // What the network added is forgotten after an hour, while it still fails.
        #expect(most == SignInCounts.contribution)
        var elsewhere = SignInCounts(account: account)
        #expect(elsewhere.begin(at: now) == .proceed(charged: .everywhere))
    }

    @Test("after the clock was set back a wait ends once its length has passed, and none begins where there was none")
    func clockBack() {
        let back = start - .seconds(86_400)
        var counts = SignInCounts()
        for _ in 0..<4 { _ = counts.begin(at: start) }
        #expect(counts.refusal(at: back) == nil)
        _ = counts.begin(at: start)
        #expect(counts.begin(at: back) == .wait(seconds: 1, .here))
        #expect(counts.begin(at: back + .seconds(1)) == .proceed(charged: .everywhere))
    }

    @Test("a wait that was over when the clock was set back lasts its own length once more at most")
    func overBeforeTheStep() {
        var counts = SignInCounts()
        var now = start
        for _ in 0..<7 {
            while case .wait(let seconds, _) = counts.begin(at: now) { now = now + .seconds(seconds) }
        }
        var passed = 0
        now = now + .seconds(60) - .seconds(86_400)
        while case .wait(let seconds, let scope) = counts.begin(at: now), passed < 86_400 {
            #expect(scope == .here)
            passed += seconds
            now = now + .seconds(seconds)
        }
        #expect(passed == 4)
    }

    @Test("sources are shortened to their network")
    func sources() {
        #expect(SourceAddress("192.0.2.7") == SourceAddress("192.0.2.200"))
        #expect(SourceAddress("192.0.2.7") == SourceAddress("::ffff:192.0.2.9"))
        #expect(SourceAddress("192.0.2.7") != SourceAddress("192.0.3.7"))
        #expect(SourceAddress("2001:db8:1:2::1") == SourceAddress("2001:DB8:1:2:ff::9"))
        #expect(SourceAddress("2001:db8:1:2::1") != SourceAddress("2001:db8:1:3::1"))
        #expect(SourceAddress("::1") == SourceAddress("0:0:0:0:0:0:0:1"))
        #expect(SourceAddress("1.2.3.4.5").prefix == "1.2.3.4.5")
        #expect(SourceAddress(String(repeating: "x", count: 10_000)).prefix.count == 64)
    }

    @Test("an account is counted under a digest, the same in any case of its name")
    func digest() {
        let attempt = SignInAttempt(user: "Ann", source: .local)
        #expect(attempt == SignInAttempt(user: "aNN", source: .local))
        #expect(attempt.account.count == 32)
        #expect(!attempt.account.contains("ann"))
        #expect(attempt != SignInAttempt(user: "anna", source: .local))
    }
}
