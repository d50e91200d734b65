import Testing

@testable import AppBackend

@Suite struct SignInThrottleTests {
    private func key(_ user: String) -> SignInThrottle.Key { .init(user: user, source: .local) }

    @Test("the wait doubles up to a quarter of an hour")
    func doubling() {
        var throttle = SignInThrottle()
        var now = Duration.zero
        var waits: [Int] = []
        for _ in 0..<20 {
            while case .wait(let seconds) = throttle.begin(key("ann"), at: now) {
                waits.append(seconds)
                now += .seconds(seconds)
            }
        }
        #expect(waits.prefix(6) == [1, 2, 4, 8, 16, 32])
        #expect(waits.max() == 900)
    }

    @Test("a success starts afresh, an undecided attempt does not count, an hour of silence forgets")
    func forgiving() {
        var throttle = SignInThrottle()
        for _ in 0..<4 { #expect(throttle.begin(key("ann"), at: .zero) == .proceed) }
        throttle.succeed(key("ann"))
        for _ in 0..<100 {
            #expect(throttle.begin(key("ann"), at: .zero) == .proceed)
            throttle.withdraw(key("ann"))
        }
        for _ in 0..<5 { #expect(throttle.begin(key("ann"), at: .zero) == .proceed) }
        #expect(throttle.begin(key("ann"), at: .zero) == .wait(seconds: 1))
        for _ in 0..<5 { #expect(throttle.begin(key("ann"), at: .seconds(3700)) == .proceed) }
    }

    @Test("its memory is bounded, whoever asks")
    func bounded() {
        var throttle = SignInThrottle(capacity: 100)
        for number in 0..<10_000 { _ = throttle.begin(key("user \(number)"), at: .milliseconds(number)) }
        #expect(throttle.count <= 100)
    }

    @Test("sources are shortened to their network")
    func sources() {
        #expect(SourceAddress("192.0.2.7") == SourceAddress("192.0.2.200"))
        #expect(SourceAddress("192.0.2.7") == SourceAddress("::ffff:192.0.2.9"))
        #expect(SourceAddress("192.0.2.7") != SourceAddress("192.0.3.7"))
        #expect(SourceAddress("2001:db8:1:2::1") == SourceAddress("2001:DB8:1:ff::9"))
        #expect(SourceAddress("2001:db8:1:2::1") != SourceAddress("2001:db8:1:102::1"))
        #expect(SourceAddress("::1") == SourceAddress("0:0:0:0:0:0:0:1"))
        #expect(SourceAddress("1.2.3.4.5").prefix == "1.2.3.4.5")
        #expect(SourceAddress(String(repeating: "x", count: 10_000)).prefix.count == 64)
    }
}
