import FCMProtocol
import RichPushModel
import Testing

@testable import FCMDelivery

@Suite("The pace of a project")
struct FCMPaceTests {
    /// How many messages leave in a time, when more are always there and each wait is kept.
    private func sent(_ pace: inout FCMPace, from start: Duration, for time: Duration) -> Int {
        var (uptime, count) = (start, 0)
        while uptime < start + time {
            switch pace.take(1_000, at: uptime) {
            case .go(let granted): count += granted
            case .wait(let wait): uptime += wait
            case .paused(let wait, _): uptime += wait
            }
        }
        return count
    }

    private func isGo(_ departure: FCMPace.Departure) -> Bool { if case .go = departure { true } else { false } }

    private func pause(_ departure: FCMPace.Departure) -> Duration? {
        if case .paused(let pause, _) = departure { pause } else { nil }
    }

    private func refuse(
        _ pace: inout FCMPace, _ asked: Int = 10, of scope: FCMAnswer.Scope = .service, jitter: Double = 0,
        at uptime: Duration = .zero
    ) {
        _ = pace.noteRefused(.seconds(asked), reason: "UNAVAILABLE", of: scope, jitter: jitter, at: uptime)
    }

    @Test("in a minute as many leave as the quota says")
    func quota() {
        var pace = FCMPace(perMinute: 600_000, ramp: .zero)
        #expect((600_000...600_100).contains(sent(&pace, from: .zero, for: .seconds(60))))
    }

    @Test("a slow quota lets one go at a time")
    func slow() {
        var pace = FCMPace(perMinute: 60, ramp: .zero)
        #expect(pace.take(10, at: .zero) == .go(1))
        #expect(pace.take(10, at: .milliseconds(400)) == .wait(.milliseconds(600)))
        #expect(pace.take(10, at: .seconds(1)) == .go(1))
    }

    @Test("no more leave than are wanted")
    func wanted() {
        var pace = FCMPace(perMinute: 600_000, ramp: .zero)
        #expect(pace.take(3, at: .zero) == .go(3))
        #expect(pace.take(3, at: .zero) == .wait(.microseconds(300)))
    }

    @Test("of a time in which nothing was asked for, a tenth of a second is made up")
    func slack() {
        var pace = FCMPace(perMinute: 60_000, ramp: .zero)
        _ = pace.take(1, at: .zero)
        var count = 0
        while case .go(let granted) = pace.take(1_000, at: .seconds(10)) { count += granted }
        #expect((100...110).contains(count))
    }

    @Test("the pace rises from a twentieth to full within the ramp")
    func ramp() {
        var pace = FCMPace(perMinute: 600_000, ramp: .seconds(60))
        let first = sent(&pace, from: .zero, for: .seconds(1))
        #expect((480...620).contains(first))
        let half = sent(&pace, from: .seconds(29), for: .seconds(2))
        #expect((10_000...11_500).contains(half))
        let full = sent(&pace, from: .seconds(60), for: .seconds(1))
        #expect((9_900...11_200).contains(full))
    }

    @Test("the ramp begins anew after five minutes without a message, and not before")
    func rest() {
        var pace = FCMPace(perMinute: 600_000, ramp: .seconds(60))
        _ = pace.take(1, at: .zero)
        #expect(pace.take(1_000, at: .seconds(200)) == .go(100))
        #expect(pace.take(1_000, at: .seconds(499)) == .go(100))
        #expect(pace.take(1_000, at: .seconds(800)) == .go(5))
    }

    @Test("two refusals in a row may concern single requests, and a third one concerns the service")
    func row() {
        var pace = FCMPace(perMinute: 600_000, ramp: .zero)
        refuse(&pace)
        refuse(&pace)
        #expect(isGo(pace.take(1, at: .zero)))
        refuse(&pace)
        #expect(pace.take(1, at: .zero) == .paused(.seconds(10), reason: "UNAVAILABLE"))
    }

    @Test("refusals in a row that are about devices slow the project down, and stop nothing")
    func devices() {
        var pace = FCMPace(perMinute: 600_000, ramp: .seconds(60))
        _ = pace.take(1, at: .zero)
        for _ in 0..<2 { refuse(&pace, 60, of: .target, at: .seconds(100)) }
        #expect(pace.take(1_000, at: .seconds(100)) == .go(100))
        refuse(&pace, 60, of: .target, at: .seconds(101))
        #expect(pace.take(1_000, at: .seconds(101)) == .go(5))
    }

    @Test("fifty refusals in a row that are said of devices stop the project")
    func manyDevices() {
        var pace = FCMPace(perMinute: 600_000, ramp: .zero)
        for _ in 0..<FCMPace.deviceRefusalLimit { refuse(&pace, 60, of: .target, at: .seconds(100)) }
        #expect({ if case .paused = pace.take(1, at: .seconds(100)) { true } else { false } }())
    }

    @Test("an accepted message ends a row of refusals")
    func accepted() {
        var pace = FCMPace(perMinute: 600_000, ramp: .zero)
        for _ in 0..<10 {
            refuse(&pace)
            refuse(&pace)
            pace.noteAccepted()
        }
        #expect(isGo(pace.take(1, at: .zero)))
    }

    @Test("a refusal that speaks of the project pauses it at once")
    func ofProject() {
        var pace = FCMPace(perMinute: 600_000, ramp: .zero)
        refuse(&pace, 60, of: .project)
        #expect(pause(pace.take(1, at: .zero)) == .seconds(60))
        #expect(isGo(pace.take(1, at: .seconds(60))))
    }

    @Test("after a pause the pace rises from slow again")
    func afterPause() {
        var pace = FCMPace(perMinute: 600_000, ramp: .seconds(60))
        _ = pace.take(1, at: .zero)
        #expect(pace.take(1_000, at: .seconds(100)) == .go(100))
        refuse(&pace, 10, of: .project, at: .seconds(100))
        #expect(pace.take(1_000, at: .seconds(110)) == .go(5))
    }

    @Test("pauses without an accepted message between them double up to ten minutes")
    func doubling() {
        var pace = FCMPace(perMinute: 600_000, ramp: .zero)
        var uptime = Duration.zero
        for wait in [10, 20, 40, 80, 160, 320, 600, 600] {
            refuse(&pace, of: .project, at: uptime)
            #expect(pause(pace.take(1, at: uptime)) == .seconds(wait))
            uptime += .seconds(wait)
        }
        pace.noteAccepted()
        refuse(&pace, of: .project, at: uptime)
        #expect(pause(pace.take(1, at: uptime)) == .seconds(10))
    }

    @Test("refusals of what was under way make a pause no longer than they ask")
    func underWay() {
        var pace = FCMPace(perMinute: 600_000, ramp: .zero)
        for _ in 0..<100 { refuse(&pace, of: .project) }
        #expect(pause(pace.take(1, at: .zero)) == .seconds(10))
        refuse(&pace, 45, of: .project)
        #expect(pause(pace.take(1, at: .zero)) == .seconds(45))
    }

    @Test("chance draws a pause out by up to a tenth, and never shortens what FCM asks for")
    func jitter() {
        var pace = FCMPace(perMinute: 600_000, ramp: .zero)
        refuse(&pace, 60, of: .project, jitter: 1)
        let pause = pause(pace.take(1, at: .zero)) ?? .zero
        #expect((.milliseconds(65_999)...(.milliseconds(66_001))).contains(pause))
    }
}
