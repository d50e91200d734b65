import PushHub
import RichPushModel
import Testing

@testable import ServerDelivery

@Suite("Which hub has which way to APNs")
struct HubTransportTableTests {
    private typealias Table = HubTransportTable<String>
    private let one = HubPlatform(hub: HubID(1), platform: .apns)
    private let two = HubPlatform(hub: HubID(2), platform: .apns)

    private func use(_ table: inout Table, _ hub: HubPlatform, _ sealed: String, _ uptime: Int = 0) -> String? {
        switch table.begin(hub, sealed: sealed, at: .seconds(uptime)) {
        case .use(let transport): transport
        case .make: table.adopt("\(hub.hub.number) \(sealed)", hub, sealed: sealed, at: .seconds(uptime))
        case .full: nil
        }
    }

    @Test("a hub's transport is made once and used again, and two hubs have two")
    func made() {
        var table = Table(capacity: 4, idleTime: .seconds(100))
        #expect(use(&table, one, "a") == "1 a")
        #expect(use(&table, one, "a") == "1 a")
        #expect(use(&table, two, "a") == "2 a")
        #expect(table.count == 2)
        #expect(table.takeClosing(at: .zero).isEmpty)
    }

    @Test("with another credential a new one is used at once, and the old one is closed when its last batch has ended")
    func replaced() {
        var table = Table(capacity: 4, idleTime: .seconds(100))
        _ = use(&table, one, "a")
        _ = use(&table, one, "a")
        #expect(use(&table, one, "b") == "1 b")
        table.end(one, sealed: "a", at: .zero)
        #expect(table.takeClosing(at: .zero).isEmpty)
        table.end(one, sealed: "a", at: .zero)
        #expect(table.takeClosing(at: .zero) == ["1 a"])
        #expect(table.takeClosing(at: .zero).isEmpty)
        #expect(table.count == 1)
    }

    @Test("of two that were made at the same time the first one stays and the second is closed")
    func raced() {
        var table = Table(capacity: 4, idleTime: .seconds(100))
        guard case .make = table.begin(one, sealed: "a", at: .zero), case .make = table.begin(one, sealed: "a", at: .zero) else {
            Issue.record("one was there")
            return
        }
        #expect(table.adopt("first", one, sealed: "a", at: .zero) == "first")
        #expect(table.adopt("second", one, sealed: "a", at: .zero) == "first")
        #expect(table.takeClosing(at: .zero) == ["second"])
    }

    @Test("one that is idle for long is closed, one that is used never")
    func idle() {
        var table = Table(capacity: 4, idleTime: .seconds(100))
        _ = use(&table, one, "a")
        _ = use(&table, two, "a")
        table.end(two, sealed: "a", at: .seconds(50))
        #expect(table.takeClosing(at: .seconds(149)).isEmpty)
        #expect(table.takeClosing(at: .seconds(150)) == ["2 a"])
        #expect(table.takeClosing(at: .seconds(1_000)).isEmpty)
        #expect(table.count == 1)
    }

    @Test("when as many are there as may be, the one unused for longest makes room, and none that is in use does")
    func full() {
        var table = Table(capacity: 2, idleTime: .seconds(1_000))
        _ = use(&table, one, "a", 1)
        _ = use(&table, two, "a", 2)
        #expect(use(&table, HubPlatform(hub: HubID(3), platform: .apns), "a", 3) == nil)
        table.end(two, sealed: "a", at: .seconds(4))
        table.end(one, sealed: "a", at: .seconds(5))
        #expect(use(&table, HubPlatform(hub: HubID(3), platform: .apns), "a", 6) == "3 a")
        #expect(table.takeClosing(at: .seconds(6)) == ["2 a"])
    }

    @Test("a hub whose credential was taken away gives up its transport")
    func dropped() {
        var table = Table(capacity: 2, idleTime: .seconds(1_000))
        _ = use(&table, one, "a")
        table.drop(one)
        table.drop(two)
        #expect(table.takeClosing(at: .zero).isEmpty)
        table.end(one, sealed: "a", at: .zero)
        #expect(table.takeClosing(at: .zero) == ["1 a"])
        _ = use(&table, two, "b")
        #expect(table.takeAll() == ["2 b"])
        #expect(table.count == 0)
    }
}
