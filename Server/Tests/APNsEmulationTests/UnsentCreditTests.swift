import Testing

@testable import APNsEmulation

@Suite("What a client can know of its credit")
struct UnsentCreditTests {
    @Test("credit that has not left may not be spent")
    func unsent() {
        var credit = UnsentCredit()
        #expect(!credit.isSpent(window: 0, of: 0), "the library itself minds windows without fresh credit")
        credit.granted(40_000, to: 0)
        #expect(!credit.isSpent(window: 40_000, of: 0))
        #expect(credit.isSpent(window: 39_999, of: 0))
        #expect(!credit.isSpent(window: 10, of: 1), "a stream has a window of its own")
        credit.granted(10_000, to: 0)
        #expect(credit.isSpent(window: 40_000, of: 0))
    }

    @Test("credit that has left may be")
    func flushed() {
        var credit = UnsentCredit()
        credit.granted(100, to: 3)
        credit.flushed()
        #expect(!credit.isSpent(window: 0, of: 3))
    }

    @Test("no stream counts as overrun while windows change")
    func change() {
        var credit = UnsentCredit()
        credit.granted(100, to: 3)
        credit.windowsChanged()
        #expect(!credit.isSpent(window: -500, of: 3))
        credit.flushed()
        credit.granted(100, to: 3)
        #expect(credit.isSpent(window: 99, of: 3))
    }
}
