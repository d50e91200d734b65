import ClarionTesting
import RichPushModel
import Testing

@testable import PushHub

@Suite("The pace of a slice")
struct PushPaceTests {
    private func slice() -> SliceID { SliceID(hub: HubID(1), notification: NotificationID(), number: 0) }

    @Test(
        "whichever slices ask and whenever, no second has more than 1.25 times the rate and one push",
        arguments: [1, 3, 40, 999, 100_000])
    func bound(rate: Int) {
        let seed = SeededGenerator.newSeed()
        var random = SeededGenerator(seed: seed)
        var pace = PushPace()
        let slice = slice()
        var granted: [(at: Duration, count: Int)] = []
        var now = Duration.zero
        for _ in 1...2000 {
            now += .microseconds(Int64.random(in: 0...(2_000_000 / Int64(min(rate, 8))), using: &random))
            let count = pace.take(Int.random(in: 1...2000, using: &random), of: slice, rate: rate, at: now)
            if count > 0 { granted.append((now, count)) }
        }
        for (index, first) in granted.enumerated() {
            let inSecond = granted[index...].prefix { $0.at < first.at + .seconds(1) }.reduce(0) { $0 + $1.count }
            #expect(inSecond <= rate + rate / 4 + 1, "seed \(seed)")
        }
    }

    @Test("a slice that asks again as soon as possible gets the whole rate", arguments: [1, 7, 40, 5000])
    func throughput(rate: Int) {
        var pace = PushPace()
        let slice = slice()
        var now = Duration.zero
        var sum = 0
        while now < .seconds(10) {
            sum += pace.take(.max, of: slice, rate: rate, at: now)
            now += pace.wait(of: slice, at: now)
        }
        #expect((10 * rate...10 * rate + rate / 4 + 1).contains(sum))
    }

    @Test("slices do not pay for each other, and those that rest are forgotten")
    func accounts() {
        var pace = PushPace()
        let (one, two) = (slice(), slice())
        #expect(pace.take(9, of: one, rate: 4, at: .zero) == 1)
        #expect(pace.take(9, of: one, rate: 4, at: .zero) == 0)
        #expect(pace.take(9, of: two, rate: 8, at: .zero) == 2)
        #expect(pace.wait(of: two, at: .zero) == .milliseconds(250))
        #expect(PushPace.portion(rate: 8) == 2)
        #expect(PushPace.portion(rate: 1) == 1)
        #expect(pace.count == 2)
        #expect(pace.take(1, of: one, rate: 4, at: .seconds(90)) == 1)
        #expect(pace.count == 1)
    }

    @Test("a wait is a whole number of milliseconds that is never too short")
    func rounding() {
        let pacing = PushPacing()
        let slice = slice()
        #expect(pacing.wait(of: slice, at: .zero) == .zero)
        #expect(pacing.take(5, of: slice, rate: 3, at: .zero) == 1)
        #expect(
            pacing.wait(of: slice, at: .zero) == .milliseconds(334) && pacing.wait(of: slice, at: .milliseconds(334)) == .zero)
    }
}
