import ClarionTesting
import RichPushModel
import ServiceErrors
import Testing

@testable import HubHTTPAPI

@Suite("A hub's rate of calls")
struct RequestThrottleTests {
    private let clock = ManualClock()

    private func admitted(_ throttle: RequestThrottle<Int>, _ hub: Int, of calls: Int) -> Int {
        (0..<calls).count { _ in (try? throttle.admit(hub)) != nil }
    }

    @Test("one second's worth passes at once, then as much as time brings")
    func bucket() {
        let throttle = RequestThrottle<Int>(perSecond: 10, clock: clock)
        #expect(admitted(throttle, 1, of: 25) == 10)
        clock.advance(by: .milliseconds(300))
        #expect(admitted(throttle, 1, of: 25) == 3)
        clock.advance(by: .seconds(60))
        #expect(admitted(throttle, 1, of: 25) == 10)
    }

    @Test("one hub's calls cost another hub nothing")
    func hubs() {
        let throttle = RequestThrottle<Int>(perSecond: 5, clock: clock)
        #expect(admitted(throttle, 1, of: 9) == 5)
        #expect(admitted(throttle, 2, of: 9) == 5)
    }

    @Test("a refusal names whole seconds to wait, and after them there is room")
    func wait() throws {
        let throttle = RequestThrottle<Int>(perSecond: 1, clock: clock)
        try throttle.admit(1)
        let error = #expect(throws: ServiceError.self) { try throttle.admit(1) }
        #expect(error?.code == .tooManyRequests)
        #expect(error?.retryAfter == 1)
        clock.advance(by: .seconds(1))
        try throttle.admit(1)
    }

    @Test("without a rate everything passes")
    func unlimited() {
        #expect(admitted(RequestThrottle<Int>(perSecond: nil, clock: clock), 1, of: 10_000) == 10_000)
    }
}
