import Foundation
import RichPushModel
import Testing

@testable import DeviceSimulation

@Suite("The one background push that the system keeps")
struct KeptPushTests {
    private let now = Timestamp(seconds: 1_000_000)

    private func push(_ id: String) -> IncomingPush {
        IncomingPush(payload: Data(), pushType: "background", apnsID: id, collapseID: nil, topic: "t")
    }

    private func suspended(_ settings: SystemSettings = .with { $0.backgroundRefresh = false }, wakes: Int? = nil) -> PhoneSystem
    {
        PhoneSystemTests.State.suspended.system(settings, wakesPerHour: wakes)
    }

    @Test("the newest takes the place of the one before, and comes when the app is opened, once")
    func opened() {
        var system = suspended()
        _ = system.handle(.background(push("1")), at: now)
        _ = system.handle(.background(push("2")), at: now)
        #expect(system.handle(.openApp, at: now) == [.hideBanner, .resumeApp, .becomeActive, .handOver(push("2"))])
        #expect(system.kept == nil)
        #expect(system.handle(.openApp, at: now) == [.hideBanner, .becomeActive])
    }

    @Test("the newest is the one that arrived last, whichever was handled first")
    func order() {
        var system = suspended()
        for number in [2, 1] {
            var push = push("\(number)")
            push.order = number
            _ = system.handle(.background(push), at: now)
        }
        #expect(system.kept?.apnsID == "2")
    }

    @Test("it comes with a tap on a notification too")
    func tapped() {
        var system = suspended()
        _ = system.handle(.background(push("1")), at: now)
        #expect(system.handle(.touch(.open), at: now).last == .handOver(push("1")))
    }

    @Test("it comes when background refresh is allowed again, and not when the budget is spent")
    func allowed() {
        var system = suspended()
        _ = system.handle(.background(push("1")), at: now)
        #expect(system.handle(.settings(.allowed), at: now) == [.resumeApp, .handOver(push("1"))])
        var spent = suspended(wakes: 0)
        _ = spent.handle(.background(push("1")), at: now)
        #expect(spent.handle(.settings(.allowed), at: now).isEmpty)
        #expect(spent.kept == push("1"))
    }

    @Test("it comes when low power ends, to an app that runs without waking it twice")
    func lowPower() {
        var system = suspended(.with { $0.lowPower = true })
        _ = system.handle(.background(push("1")), at: now)
        _ = system.handle(.touch(.dismiss), at: now)
        #expect(system.handle(.settings(.allowed), at: now) == [.handOver(push("1"))])
        #expect(system.process.tasks == 2)
    }

    @Test("switches apply to an app that runs in the background too, and what was kept comes without starting it again")
    func background() {
        for (settings, reason) in [
            (SystemSettings.with { $0.backgroundRefresh = false }, "hold-backgroundRefreshOff"),
            (.with { $0.lowPower = true }, "hold-lowPower"),
        ] {
            var system = PhoneSystemTests.State.background.system()
            #expect(system.handle(.settings(settings), at: now).isEmpty)
            #expect(system.handle(.background(push("1")), at: now).summary == reason)
            #expect(system.handle(.refresh, at: now).summary == reason)
            #expect(system.process.tasks == 0)
            #expect(system.handle(.settings(.allowed), at: now) == [.handOver(push("1"))])
        }
        var counted = PhoneSystemTests.State.background.system()
        _ = counted.handle(.settings(.with { $0.wakeBudget = true }), at: now)
        let instructions = (1...4).map { counted.handle(.background(push("\($0)")), at: now).summary }
        #expect(instructions == ["hand", "hand", "hand", "hold-overBudget"])
        #expect(counted.handle(.settings(.with { $0.wakeBudget = false }), at: now) == [.handOver(push("4"))])
    }

    @Test("a force quit and a removal drop it, a restart does not")
    func dropped() {
        for (event, isKept) in [(SystemEvent.forceQuit, false), (.removeApp, false), (.endApp, true), (.restart, true)] {
            var system = suspended()
            _ = system.handle(.background(push("1")), at: now)
            _ = system.handle(event, at: now)
            #expect((system.kept != nil) == isKept, "\(event)")
        }
    }

    @Test("the budget is that of any hour")
    func budget() {
        var system = suspended(.allowed, wakes: 2)
        var outcomes: [String] = []
        for minutes: Int64 in [0, 10, 20, 59, 61, 62, 71] {
            let moment = now + .seconds(minutes * 60)
            outcomes.append(system.handle(.background(push("\(minutes)")), at: moment).summary)
            _ = system.handle(.taskEnded, at: moment)
            _ = system.handle(.idle, at: moment)
        }
        #expect(
            outcomes == [
                "resume hand", "resume hand", "hold-overBudget", "hold-overBudget", "resume hand", "hold-overBudget",
                "resume hand",
            ])
    }

    @Test("a refresh is a wake too, and there is no budget when the user switches it off")
    func sharedBudget() {
        var system = suspended(.allowed, wakes: 1)
        #expect(system.handle(.refresh, at: now).summary == "resume refresh")
        for event: SystemEvent in [.taskEnded, .idle] { _ = system.handle(event, at: now) }
        #expect(system.handle(.background(push("1")), at: now).summary == "hold-overBudget")
        #expect(system.handle(.refresh, at: now).summary == "hold-overBudget")
        #expect(system.handle(.settings(.with { $0.wakeBudget = false }), at: now).summary == "resume hand")
        #expect(!system.hasWakeBudget)
    }

    @Test("switched on without a number of its own, the budget is three in an hour")
    func usualBudget() {
        var system = suspended(.with { $0.wakeBudget = true })
        let outcomes = (0..<4).map { number in
            defer { for event: SystemEvent in [.taskEnded, .idle] { _ = system.handle(event, at: now) } }
            return system.handle(.background(push("\(number)")), at: now).summary
        }
        #expect(outcomes == ["resume hand", "resume hand", "resume hand", "hold-overBudget"])
    }

    @Test("an app with a task is not suspended, and is as soon as the last has ended")
    func tasks() {
        var system = suspended(.allowed)
        _ = system.handle(.background(push("1")), at: now)
        _ = system.handle(.background(push("2")), at: now)
        _ = system.handle(.taskEnded, at: now)
        _ = system.handle(.idle, at: now)
        #expect(system.process.state == .background)
        _ = system.handle(.taskEnded, at: now)
        _ = system.handle(.idle, at: now)
        #expect(system.process.state == .suspended)
    }

    @Test("the installed app is the user's first answer again")
    func reinstalled() {
        var system = PhoneSystemTests.State.foreground.system()
        _ = system.handle(.removeApp, at: now)
        #expect(system.handle(.installApp, at: now) == [.refuse("The app is being replaced")])
        _ = system.handle(.replaced(isInstalled: false), at: now)
        #expect(system.handle(.installApp, at: now) == [.removeFiles, .replace(isInstalled: true)])
        #expect(system.handle(.openApp, at: now) == [.refuse("The app is not on this phone")])
        #expect(system.handle(.replaced(isInstalled: true), at: now).isEmpty)
        #expect(system.isInstalled)
        #expect(system.settings.permission == .notDetermined)
        #expect(system.handle(.openApp, at: now).contains(.startApp))
    }
}
