import Foundation
import RichPushModel
import Testing

@testable import DeviceSimulation

@Suite("What the operating system does with Live Activities")
struct ActivitySystemTests {
    private static let now = Timestamp(seconds: 1_800_000_000)
    private static let start = """
        {"aps": {"timestamp": 100, "event": "start", "content-state": {"stage": "packed"}, "attributes-type": "Trip",
            "attributes": {"clarionActivity": 7}, "alert": {"title": "Your order", "body": "It is packed."}}}
        """

    private func received(
        _ payload: String, in system: inout ActivitySystem, to target: String? = nil, priority: Int = 10,
        savesPower: Bool = false, after seconds: Int64 = 0
    ) -> ActivitySystem.Outcome {
        system.receive(
            Data(payload.utf8), startOf: target == nil ? "Trip" : nil, target: target, knownTypes: ["Trip"], newID: "a",
            priority: priority, savesPower: savesPower, at: Self.now + .seconds(seconds))
    }

    private func started() -> ActivitySystem {
        var system = ActivitySystem()
        _ = received(Self.start, in: &system)
        return system
    }

    private static func update(_ stamp: Int64, _ more: String = "", event: String = "update") -> String {
        #"{"aps": {"timestamp": \#(stamp), "event": "\#(event)", "content-state": {"stage": "\#(stamp)"}\#(more)}}"#
    }

    @Test("a start shows the activity and asks the user")
    func starts() {
        var system = ActivitySystem()
        #expect(received(Self.start, in: &system) == .started("a"))
        #expect(system.items.first?.number == 7)
        #expect(system.items.first?.isAllowed == false)
        system.allow("a", always: true)
        #expect(system.items.first?.isAllowed == true)
    }

    @Test("a start that iOS drops without a word is dropped with a reason", arguments: drops)
    func dropped(change: [String: String], reason: ActivitySystem.Drop) {
        var system = ActivitySystem()
        let payload = change.reduce(Self.start) { $0.replacingOccurrences(of: $1.key, with: $1.value) }
        #expect(received(payload, in: &system) == .dropped(reason))
        #expect(system.items.isEmpty)
    }

    private static let drops: [([String: String], ActivitySystem.Drop)] = [
        ([#""title": "Your order", "#: ""], .noAlert), (["It is packed.": ""], .noAlert),
        ([#""attributes-type": "Trip""#: #""attributes-type": "App.Trip""#], .unknownType),
        ([#""content-state": {"stage": "packed"}"#: #""content-state": 5"#], .malformed),
        ([#""timestamp": 100, "#: ""], .malformed), (["packed\"}": String(repeating: "x", count: 4096) + "\"}"], .tooLarge),
    ]

    @Test("nothing starts while the user has switched activities off, nor beyond five")
    func limits() {
        var system = ActivitySystem()
        system.isEnabled = false
        #expect(received(Self.start, in: &system) == .dropped(.disabled))
        system.isEnabled = true
        for _ in 0..<5 { _ = received(Self.start, in: &system) }
        #expect(received(Self.start, in: &system) == .dropped(.tooMany))
    }

    @Test("an older or equal timestamp changes nothing")
    func order() {
        var system = started()
        #expect(received(Self.update(102), in: &system, to: "a") == .updated("a", alerts: false))
        #expect(received(Self.update(102), in: &system, to: "a") == .dropped(.outdated))
        #expect(received(Self.update(101), in: &system, to: "a") == .dropped(.outdated))
        #expect(system.items.first?.state == .object(["stage": .text("102")]))
    }

    @Test("after the end all is ignored, and the card goes at its time, four hours later at most")
    func end() {
        var system = started()
        #expect(received(Self.update(101, event: "end"), in: &system, to: "a") == .ended("a"))
        #expect(received(Self.update(102), in: &system, to: "a") == .dropped(.ended))
        system.expire(at: Self.now + .seconds(4 * 3600 - 1))
        #expect(system.items.count == 1)
        system.expire(at: Self.now + .seconds(4 * 3600))
        #expect(system.items.isEmpty)
    }

    @Test("a dismissal date in the past removes the card at once")
    func dismissal() {
        var system = started()
        _ = received(Self.update(101, #", "dismissal-date": 1"#, event: "end"), in: &system, to: "a")
        #expect(system.items.isEmpty)
    }

    @Test("it is stale from its date on, until an update moves it")
    func stale() {
        var system = started()
        let soon = Self.now.seconds + 60
        _ = received(Self.update(101, #", "stale-date": \#(soon)"#), in: &system, to: "a")
        #expect(system.nextChange(after: Self.now) == Timestamp(seconds: soon))
        #expect(system.items.first?.isStale(at: Self.now + .seconds(60)) == true)
        _ = received(Self.update(102), in: &system, to: "a", after: 61)
        #expect(system.items.first?.isStale(at: Self.now + .seconds(62)) == false)
    }

    @Test("of urgent updates the system takes some within an hour, and more when the user allows it")
    func urgentBudget() {
        func taken(_ system: inout ActivitySystem, from first: Int64) -> Int {
            (first..<first + 200).count {
                received(Self.update($0), in: &system, to: "a", after: $0) != .dropped(.overBudget)
            }
        }
        var system = started()
        #expect(taken(&system, from: 101) == 40)
        #expect(received(Self.update(301), in: &system, to: "a", priority: 5, after: 301) == .updated("a", alerts: false))
        #expect(taken(&system, from: 4_000) == 40)
        system.allowsFrequentUpdates = true
        #expect(taken(&system, from: 8_000) == 160)
    }

    @Test("a phone that saves power shows the newest of what is not urgent later")
    func powerSaving() {
        var system = started()
        #expect(received(Self.update(101), in: &system, to: "a", priority: 5, savesPower: true) == .delayed)
        #expect(received(Self.update(102), in: &system, to: "a", priority: 5, savesPower: true, after: 20) == .delayed)
        #expect(system.nextChange(after: Self.now) == Self.now + .seconds(30))
        system.expire(at: Self.now + .seconds(29))
        #expect(system.items.first?.stamp == 100)
        system.expire(at: Self.now + .seconds(30))
        #expect(system.items.first?.stamp == 102)
        #expect(
            received(Self.update(103), in: &system, to: "a", savesPower: true, after: 31) == .updated("a", alerts: false))
    }

    @Test("a phone that saves power no more shows at once what waited")
    func powerSavingEnds() {
        var system = started()
        _ = received(Self.update(101), in: &system, to: "a", priority: 5, savesPower: true)
        #expect(system.isDelayed("a"))
        system.endPowerSaving(at: Self.now + .seconds(1))
        #expect(!system.isDelayed("a"))
        #expect(system.items.first?.stamp == 101)
    }

    @Test(
        "the most relevant comes first, and of equals the one that started first",
        arguments: [([0.5, 2, 1], ["1", "2", "0"]), ([3, 3, 3], ["0", "1", "2"])] as [([Double], [String])])
    func relevance(scores: [Double], expected: [String]) {
        var system = ActivitySystem()
        for (number, score) in scores.enumerated() {
            let payload = Self.start.replacingOccurrences(of: #""event""#, with: #""relevance-score": \#(score), "event""#)
            _ = system.receive(
                Data(payload.utf8), startOf: "Trip", target: nil, knownTypes: ["Trip"], newID: "\(number)",
                at: Self.now + .seconds(Int64(number)))
        }
        #expect(system.ordered.map(\.id) == expected)
    }

    @Test("activities are there again after a restart, unless the phone is one that loses them")
    func restart() throws {
        var system = started()
        var hasTaken = system.restart(at: Self.now)
        #expect(!hasTaken)
        #expect(system.hasLive)
        system.survivesRestart = false
        // The choice lies on the disk too.
        system = try JSONDecoder().decode(ActivitySystem.self, from: JSONEncoder().encode(system))
        hasTaken = system.restart(at: Self.now)
        #expect(hasTaken)
        #expect(system.items.isEmpty)
        hasTaken = system.restart(at: Self.now)
        #expect(!hasTaken)
    }

    @Test("what has passed its eight hours while the phone was off has ended when it is on again")
    func restartLate() {
        var system = started()
        _ = system.restart(at: Self.now + .seconds(9 * 3600))
        #expect(!system.hasLive)
        #expect(system.items.first?.changesAt == Self.now + .seconds(12 * 3600))
        _ = system.restart(at: Self.now + .seconds(12 * 3600))
        #expect(system.items.isEmpty)
    }

    @Test("the system ends it after eight hours")
    func lifetime() {
        var system = started()
        system.expire(at: Self.now + .seconds(8 * 3600))
        #expect(system.items.first?.endedAt == Self.now + .seconds(8 * 3600))
        #expect(received(Self.update(200), in: &system, to: "a", after: 8 * 3600) == .dropped(.ended))
    }

    @Test("an update may carry an alert, which is said")
    func alert() {
        var system = started()
        let alert = #", "alert": {"title": "Look", "body": "It is near."}"#
        #expect(received(Self.update(101, alert), in: &system, to: "a") == .updated("a", alerts: true))
        #expect(system.items.first?.alert?.body == "It is near.")
        #expect(system.items.first?.alertedAt == Self.now)
        _ = received(Self.update(102, alert), in: &system, to: "a", after: 5)
        #expect(system.items.first?.alertedAt == Self.now + .seconds(5), "the same words are another alert")
        _ = received(Self.update(103), in: &system, to: "a", after: 6)
        #expect(system.items.first?.alertedAt == Self.now + .seconds(5))
    }
}
