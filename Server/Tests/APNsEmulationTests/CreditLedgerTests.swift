import Testing

@testable import APNsEmulation

@Suite("What a client can know of its credit")
struct CreditLedgerTests {
    private func ledger(_ streams: Int...) -> CreditLedger {
        var ledger = CreditLedger()
        for stream in streams { ledger.opened(stream) }
        return ledger
    }

    @Test("the whole window may be used, and not a byte more")
    func window() {
        var ledger = ledger(1, 3)
        #expect(ledger.received(65_000, on: 1) == nil)
        #expect(ledger.received(535, on: 3) == nil)
        #expect(ledger.received(0, on: 3) == nil, "an empty frame needs no credit")
        #expect(ledger.received(1, on: 3) == .connection)
    }

    @Test("credit counts from when it has left")
    func unsent() {
        var ledger = ledger(1, 3)
        _ = ledger.received(65_535, on: 1)
        var early = ledger
        early.granted(40_000, to: 0)
        #expect(early.received(1, on: 3) == .connection)
        ledger.granted(40_000, to: 0)
        ledger.flushed()
        #expect(ledger.received(40_000, on: 3) == nil)
        #expect(ledger.received(1, on: 3) == .connection)
    }

    @Test("a stream has a window of its own")
    func streams() {
        var ledger = ledger()
        ledger.changeInitialWindow(to: 100)
        ledger.opened(1)
        #expect(ledger.received(100, on: 1) == nil)
        ledger.granted(50, to: 1)
        var early = ledger
        #expect(early.received(50, on: 1) == .stream)
        ledger.flushed()
        #expect(ledger.received(50, on: 1) == nil)
        ledger.closed(1)
        #expect(ledger.received(50, on: 1) == nil, "only the connection counts what ended streams still get")
    }

    @Test("another initial window changes open streams by the difference")
    func change() {
        var ledger = ledger(1)
        _ = ledger.received(60_000, on: 1)
        ledger.changeInitialWindow(to: 1_000)
        #expect(ledger.received(0, on: 1) == nil, "a window below nothing forbids bytes, not frames")
        var still = ledger
        #expect(still.received(1, on: 1) == .stream)
        ledger.changeInitialWindow(to: 60_010)
        #expect(ledger.received(10, on: 1) == nil)
        #expect(ledger.received(1, on: 1) == .stream)
    }

    @Test("credit never makes more of the connection's window than it was")
    func cap() {
        var ledger = ledger(1)
        ledger.granted(1_000, to: 0)
        ledger.flushed()
        #expect(ledger.received(65_535, on: 1) == nil)
        #expect(ledger.received(1, on: 1) == .connection)
    }
}
