import Testing

@testable import APNsEmulation

@Suite("Stream limit")
struct StreamLimitTests {
    @Test("one stream until a push is accepted, then the real limit")
    func rises() {
        var limit = StreamLimit(rules: EmulationRules())
        #expect(limit.allows(open: 0))
        #expect(!limit.allows(open: 1))
        #expect(limit.answered(status: 403) == nil)
        #expect(limit.answered(status: 200) == 1_000)
        limit.announce(1_000)
        #expect(limit.answered(status: 200) == nil)
        #expect(!limit.allows(open: 1), "the client cannot know it yet")
        limit.flushed()
        #expect(limit.allows(open: 999), "a client may use a raised limit before its acknowledgement arrives")
        #expect(!limit.allows(open: 1_000))
    }

    @Test("a stream whose end has not left is open to the client", arguments: EmulationRules.LimitEnforcement.allCases)
    func unsentEnd(enforcement: EmulationRules.LimitEnforcement) {
        var rules = EmulationRules()
        rules.limitEnforcement = enforcement
        var limit = StreamLimit(rules: rules)
        #expect(limit.allows(open: 0))
        limit.ended()
        limit.announce(1_000)
        #expect(!limit.allows(open: 0), "the second request came in the same bytes as the first")
        limit.flushed()
        #expect(limit.allows(open: 0))
        #expect(limit.allows(open: 999))
    }

    @Test("a rejection lowers the limit, 410 and 5xx do not", arguments: [(400, true), (429, true), (410, false), (503, false)])
    func falls(status: Int, lowers: Bool) {
        var limit = StreamLimit(rules: EmulationRules())
        limit.announce(1_000)
        #expect(limit.answered(status: status) == (lowers ? 1 : nil))
    }

    @Test("a lowered limit holds from its acknowledgement")
    func acknowledged() {
        var limit = StreamLimit(rules: EmulationRules())
        limit.announce(1_000)
        limit.acknowledge()
        limit.acknowledge()
        limit.announce(1)
        #expect(limit.allows(open: 500))
        limit.acknowledge()
        #expect(!limit.allows(open: 1))
        limit.acknowledge()
        #expect(!limit.allows(open: 1), "a surplus acknowledgement changes nothing")
    }

    @Test("switches: never lower, or enforce at once")
    func switches() {
        var rules = EmulationRules()
        rules.lowersLimitAfterRejection = false
        var steady = StreamLimit(rules: rules)
        steady.announce(1_000)
        #expect(steady.answered(status: 400) == nil)
        rules = EmulationRules()
        rules.limitEnforcement = .immediately
        var strict = StreamLimit(rules: rules)
        strict.announce(1_000)
        strict.announce(1)
        #expect(!strict.allows(open: 1))
    }
}
