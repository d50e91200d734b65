import Testing

@testable import PushHub

@Suite("The retry table")
struct RetryTableTests {
    @Test("an ending that the push service means for good allows one try of every push type")
    func once() {
        for ending in [RetryTable.Ending.accepted, .gone, .badToken, .rejected, .tooLarge, .noTransport] {
            for type in ["alert", "voip", "background"] {
                let rule = RetryTable().rule(for: ending, pushType: type)
                #expect(rule.tries == .once && !rule.allowsAnother(after: 1), "\(ending) \(type)")
            }
        }
    }

    @Test("the number of tries that an operator sets holds for the push types that may be repeated alone")
    func setting() {
        for tries in 1...10 {
            let table = RetryTable(unknownTries: tries)
            let alert = table.rule(for: .unknown, pushType: "alert")
            #expect((1...20).count { alert.allowsAnother(after: $0) } == tries - 1)
            #expect(!table.rule(for: .unknown, pushType: "voip").allowsAnother(after: 1))
        }
        #expect(RetryTable(unknownTries: 0).unknownTries == 1)
    }

    @Test("a push that waits for the service or for an operator has until its deadline, and shows as expired at last")
    func waiting() {
        for ending in [RetryTable.Ending.unreachable, .unavailable, .misconfigured] {
            let rule = RetryTable().rule(for: ending, pushType: "voip")
            #expect(rule.tries == .untilDeadline)
            #expect(rule.outcome == .expired)
            #expect(rule.allowsAnother(after: 1_000))
        }
    }

    @Test("what the service asks for is a least wait, drawn out by up to a tenth")
    func leastWait() {
        let asked = Duration.seconds(900)
        for failures in [1, 2, 30] {
            #expect(BackOff.target.delay(failures: failures, jitter: 0, minimum: asked) == asked)
            let longest = BackOff.target.delay(failures: failures, jitter: 1, minimum: asked)
            #expect(longest > .milliseconds(989_999) && longest < .milliseconds(990_001))
        }
    }

    @Test("a push that could not leave is tried again within three seconds, however long that has lasted")
    func shortWaits() {
        for failures in 1...40 {
            #expect(BackOff.unreachable.delay(failures: failures, jitter: 0) <= .seconds(3))
        }
    }
}
