import Testing

@testable import RemoteHub

@Suite("When a call to a hub elsewhere is repeated")
struct RetryPlanTests {
    private func decisions(
        _ attempt: RetryPlan.Attempt, _ options: RemoteHubOptions = RemoteHubOptions(), left: Duration = .seconds(60),
        jitter: Double = 0
    ) -> [RetryPlan.Decision] {
        var plan = RetryPlan(options)
        return (0..<5).map { _ in plan.decide(attempt, left: left, jitter: jitter) }
    }

    @Test("three repetitions with a doubled pause, then the end", arguments: [408, 500, 503, 504])
    func statuses(_ status: Int) {
        #expect(
            decisions(.answered(status: status, retryAfter: nil)) == [
                .retry(after: .seconds(1)), .retry(after: .seconds(2)), .retry(after: .seconds(4)), .finish, .finish,
            ])
    }

    @Test("a connection that broke or did not come about is tried again")
    func noAnswer() { #expect(decisions(.noAnswer).first == .retry(after: .seconds(1))) }

    @Test("429 is repeated only when the hub says when")
    func tooMany() {
        #expect(decisions(.answered(status: 429, retryAfter: nil)).first == .finish)
        #expect(decisions(.answered(status: 429, retryAfter: 7)).first == .retry(after: .seconds(7)))
    }

    @Test("what cannot help is not repeated", arguments: [200, 302, 400, 401, 403, 404, 409, 410, 412, 413, 502])
    func final(_ status: Int) { #expect(decisions(.answered(status: status, retryAfter: 1)).first == .finish) }

    @Test("a hub's Retry-After is the least wait, and one beyond the longest pause ends the call")
    func retryAfter() {
        #expect(decisions(.answered(status: 503, retryAfter: 9)).first == .retry(after: .seconds(9)))
        #expect(decisions(.answered(status: 503, retryAfter: 31)).first == .finish)
    }

    @Test("jitter makes a pause longer by up to a quarter, and the longest pause is kept")
    func jitter() {
        #expect(decisions(.noAnswer, jitter: 1).first == .retry(after: .milliseconds(1250)))
        let options = RemoteHubOptions(firstPause: .seconds(20), longestPause: .seconds(30))
        #expect(decisions(.noAnswer, options)[1] == .retry(after: .seconds(30)))
    }

    @Test("a pause that outlasts the call ends it now")
    func deadline() {
        #expect(decisions(.noAnswer, left: .seconds(1)).first == .finish)
        #expect(decisions(.answered(status: 503, retryAfter: 9), left: .seconds(9)).first == .finish)
    }
}
