import APNsProtocol
import ClarionTesting
import Foundation
import RichPushModel
import Testing

@testable import APNsEmulation

@Suite("Store and forward")
struct StoreAndForwardTests {
    typealias Instruction = StoreAndForward.Instruction

    let clock = ManualClock()
    private let device = "phone"

    private func push(
        _ name: String, bundle: String = "com.example.rich", type: APNsPushType = .alert, expiration: Int64? = nil,
        collapse: String? = nil, at moment: Timestamp? = nil
    ) -> AcceptedPush {
        AcceptedPush(
            device: device, token: "", topic: bundle, bundleID: bundle, apnsID: UUID(), uniqueID: UUID(), pushType: type,
            priority: 10, expiration: expiration, collapseID: collapse, payload: Array(name.utf8),
            receivedAt: moment ?? clock.now)
    }

    @Test("an online device gets every push at once")
    func online() {
        var store = StoreAndForward()
        #expect(store.connect(device, now: clock.now) == [])
        let (one, two) = (push("one", expiration: 0), push("two", expiration: 1))
        #expect(store.accept(one, now: clock.now) == [.deliver(one, stored: false)])
        #expect(store.accept(two, now: clock.now) == [.deliver(two, stored: false)])
    }

    @Test("an offline device keeps the newest push of each app")
    func newest() {
        var store = StoreAndForward()
        let (one, two) = (push("one", collapse: "a"), push("two", collapse: "b"))
        let other = push("other", bundle: "com.example.second", at: clock.now + .seconds(1))
        #expect(store.accept(one, now: clock.now) == [.note(one, .stored)])
        #expect(store.accept(two, now: clock.now) == [.note(one, .replaced), .note(two, .stored)])
        #expect(store.accept(other, now: clock.now) == [.note(other, .stored)])
        #expect(store.connect(device, now: clock.now) == [.deliver(two, stored: true), .deliver(other, stored: true)])
        #expect(store.connect(device, now: clock.now) == [], "once")
    }

    @Test("expiration 0 is never stored, and leaves what is stored")
    func noStorage() {
        var store = StoreAndForward()
        let (kept, once) = (push("kept"), push("once", expiration: 0))
        _ = store.accept(kept, now: clock.now)
        #expect(store.accept(once, now: clock.now) == [.note(once, .discarded)])
        #expect(store.connect(device, now: clock.now) == [.deliver(kept, stored: true)])
    }

    @Test("an expired push is not delivered, one second earlier it is", arguments: [59, 60])
    func expiry(waited: Int) {
        var store = StoreAndForward()
        let short = push("short", expiration: clock.now.seconds + 60)
        _ = store.accept(short, now: clock.now)
        clock.advance(by: .seconds(waited))
        let expected: Instruction = waited < 60 ? .deliver(short, stored: true) : .note(short, .expired)
        #expect(store.connect(device, now: clock.now) == [expected])
    }

    @Test("nothing waits longer than thirty days", arguments: [nil, Int64.max])
    func thirtyDays(expiration: Int64?) {
        for (wait, arrives) in [(Duration.seconds(30 * 86_400 - 1), true), (.seconds(30 * 86_400), false)] {
            var store = StoreAndForward()
            let long = push("long", expiration: expiration)
            _ = store.accept(long, now: clock.now)
            let later = clock.now + wait
            #expect(store.connect(device, now: later) == [arrives ? .deliver(long, stored: true) : .note(long, .expired)])
        }
    }

    @Test("a push that expired before it came is not stored")
    func alreadyExpired() {
        var store = StoreAndForward()
        let old = push("old", expiration: 5)
        #expect(store.accept(old, now: clock.now) == [.note(old, .expired)])
    }

    @Test("a background push waits in its own slot, newest only")
    func backgroundSlot() {
        var store = StoreAndForward()
        let (alert, first, second) = (push("alert"), push("1", type: .background), push("2", type: .background))
        _ = store.accept(alert, now: clock.now)
        _ = store.accept(first, now: clock.now)
        #expect(store.accept(second, now: clock.now) == [.note(first, .replaced), .note(second, .stored)])
        #expect(store.connect(device, now: clock.now) == [.deliver(alert, stored: true), .deliver(second, stored: true)])
    }

    @Test("disconnecting stores again")
    func disconnect() {
        var store = StoreAndForward()
        _ = store.connect(device, now: clock.now)
        store.disconnect(device)
        let later = push("later")
        #expect(store.accept(later, now: clock.now) == [.note(later, .stored)])
    }

    @Test("a background push beyond the budget waits for its hour")
    func budget() {
        var store = StoreAndForward()
        _ = store.setBackgroundBudget(1, device: device, now: clock.now)
        _ = store.connect(device, now: clock.now)
        let pushes = (1...3).map { push("\($0)", type: .background) }
        #expect(store.accept(pushes[0], now: clock.now) == [.deliver(pushes[0], stored: false)])
        #expect(store.accept(pushes[1], now: clock.now) == [.note(pushes[1], .held)])
        #expect(store.accept(pushes[2], now: clock.now) == [.note(pushes[1], .replaced), .note(pushes[2], .held)])
        let alert = push("alert")
        #expect(store.accept(alert, now: clock.now) == [.deliver(alert, stored: false)], "only background has a budget")
        clock.advance(by: .seconds(3_599))
        #expect(store.releaseHeld(now: clock.now) == [])
        clock.advance(by: .seconds(1))
        #expect(store.releaseHeld(now: clock.now) == [.deliver(pushes[2], stored: true)])
        #expect(store.releaseHeld(now: clock.now) == [])
    }

    @Test("lifting the budget or opening the app releases what waits")
    func release() {
        for lift in [true, false] {
            var store = StoreAndForward()
            _ = store.setBackgroundBudget(0, device: device, now: clock.now)
            _ = store.connect(device, now: clock.now)
            let held = push("held", type: .background)
            #expect(store.accept(held, now: clock.now) == [.note(held, .held)])
            let released =
                lift
                ? store.setBackgroundBudget(nil, device: device, now: clock.now)
                : store.appOpened(device: device, bundleID: held.bundleID, now: clock.now)
            #expect(released == [.deliver(held, stored: true)])
        }
    }

    @Test("a held push that would not be stored is dropped, and one that expires is reported")
    func heldExpiry() {
        var store = StoreAndForward()
        _ = store.setBackgroundBudget(0, device: device, now: clock.now)
        _ = store.connect(device, now: clock.now)
        let once = push("once", type: .background, expiration: 0)
        #expect(store.accept(once, now: clock.now) == [.note(once, .discarded)])
        let short = push("short", type: .background, expiration: clock.now.seconds + 10)
        _ = store.accept(short, now: clock.now)
        clock.advance(by: .seconds(10))
        #expect(store.releaseHeld(now: clock.now) == [.note(short, .expired)])
    }

    @Test("a force-quit app gets no background push until it is opened, alerts it gets")
    func forceQuit() {
        var store = StoreAndForward()
        let waiting = push("waiting", type: .background)
        _ = store.accept(waiting, now: clock.now)
        #expect(store.appForceQuit(device: device, bundleID: waiting.bundleID) == [.note(waiting, .suppressed)])
        _ = store.connect(device, now: clock.now)
        let (silent, alert) = (push("silent", type: .background), push("alert"))
        #expect(store.accept(silent, now: clock.now) == [.note(silent, .suppressed)])
        #expect(store.accept(alert, now: clock.now) == [.deliver(alert, stored: false)])
        _ = store.appOpened(device: device, bundleID: silent.bundleID, now: clock.now)
        #expect(store.accept(silent, now: clock.now) == [.deliver(silent, stored: false)])
    }
}
