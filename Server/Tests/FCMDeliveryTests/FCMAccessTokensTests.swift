import ClarionTesting
import FCMProtocol
import RichPushModel
import Synchronization
import Testing

@testable import FCMDelivery

@Suite("The access token of an account")
struct FCMAccessTokensTests {
    private let clock = ManualClock()
    private let fcm = ScriptedFCM()
    private let tokens: FCMAccessTokens

    init() { tokens = FCMAccessTokens(ScriptedAccounts.account(), sender: fcm, clock: clock, jitter: { 0 }) }

    private typealias Answer = Result<FCMAccessTokens.Held, FCMTokenRefusal>

    private func token(refused: Int? = nil, within deadline: Duration = .seconds(20)) async -> Answer {
        await tokens.token(refused: refused, within: deadline)
    }

    private func number(refused: Int? = nil) async -> Int? { try? await token(refused: refused).get().number }

    private func refusal() async -> FCMTokenRefusal? {
        if case .failure(let refusal) = await token() { refusal } else { nil }
    }

    @Test("callers at the same time share one request")
    func singleFlight() async {
        fcm.tokenGate.close()
        let numbers = await withTaskGroup(of: Int?.self) { tasks in
            for _ in 0..<50 { tasks.addTask { await number() } }
            #expect(await eventually { clock.sleeperCount == 49 })
            fcm.tokenGate.open()
            return await tasks.reduce(into: []) { $0.append($1) }
        }
        #expect(numbers == Array(repeating: 1, count: 50))
        #expect(fcm.tokens == 1)
    }

    @Test("a caller that waits for another's request ends at its own deadline")
    func waiterDeadline() async throws {
        fcm.tokenGate.close()
        async let first = token()
        await fcm.tokenGate.holds(1)
        async let second = token(within: .seconds(3))
        #expect(await eventually { clock.hasSleeper(dueIn: .seconds(3)) })
        clock.advance(by: .seconds(3))
        let late = await second
        #expect(throws: FCMTokenRefusal.self) { try late.get() }
        fcm.tokenGate.open()
        let held = try await first.get()
        #expect(held.number == 1)
    }

    @Test("when the caller that asks is cancelled, another asks in its place")
    func takeOver() async throws {
        fcm.tokenGate.close()
        let first = Task { await token() }
        await fcm.tokenGate.holds(1)
        async let second = token()
        #expect(await eventually { clock.sleeperCount == 1 })
        first.cancel()
        fcm.tokenGate.open()
        let cancelled = await first.value
        #expect(throws: FCMTokenRefusal.self) { try cancelled.get() }
        let held = try await second.get()
        #expect(held.number == 1)
        #expect(fcm.tokens == 2)
    }

    @Test("a request may take half of the caller's time, so that some is left for the messages")
    func halfOfTheTime() async {
        _ = await token(within: .seconds(20))
        #expect(fcm.tokenDeadlines == [.seconds(10)])
    }

    @Test("a token is renewed five minutes before its end")
    func renewal() async {
        #expect(await number() == 1)
        clock.advance(by: .seconds(3_299))
        #expect(await number() == 1)
        clock.advance(by: .seconds(1))
        #expect(await number() == 2)
    }

    @Test("a token of a short life is renewed at half of it")
    func shortLife() async {
        fcm.followTokens { ScriptedFCM.token($0, life: 60) }
        #expect(await number() == 1)
        clock.advance(by: .seconds(29))
        #expect(await number() == 1)
        clock.advance(by: .seconds(1))
        #expect(await number() == 2)
    }

    @Test("while one caller renews, the others go on with the token that still holds")
    func goOn() async {
        #expect(await number() == 1)
        clock.advance(by: .seconds(3_300))
        fcm.tokenGate.close()
        async let renewed = number()
        await fcm.tokenGate.holds(1)
        #expect(await number() == 1)
        fcm.tokenGate.open()
        #expect(await renewed == 2)
    }

    @Test("a renewal that fails leaves the token in use until its end")
    func failedRenewal() async {
        #expect(await number() == 1)
        fcm.followTokens { _ in ScriptedFCM.status(503) }
        clock.advance(by: .seconds(3_300))
        #expect(await number() == 1)
        clock.advance(by: .seconds(299))
        #expect(await number() == 1)
        clock.advance(by: .seconds(1))
        #expect(await number() == nil)
    }

    @Test("a refused token is dropped once, however many messages it was refused to")
    func refused() async {
        #expect(await number() == 1)
        for _ in 0..<3 { #expect(await number(refused: 1) == 2) }
        #expect(fcm.tokens == 2)
    }

    @Test("the header is Google's token")
    func headers() async throws {
        let held = try await token().get()
        #expect(held.headers.first { $0.name == "authorization" }?.value == "Bearer token-1")
    }

    @Test("after trouble of the endpoint the waits double up to a minute, and are not asked in between")
    func transient() async {
        fcm.followTokens { _ in .notSent(reason: "away") }
        for (count, wait) in [1, 2, 4, 8, 16, 32, 60, 60].enumerated() {
            let refusal = await refusal()
            #expect(refusal?.reason == "the token endpoint: away")
            #expect(refusal?.pause == .seconds(wait))
            #expect(refusal?.isForGood == false)
            clock.advance(by: .seconds(wait) - .milliseconds(1))
            #expect(await self.refusal()?.pause == .milliseconds(1))
            #expect(fcm.tokens == count + 1)
            clock.advance(by: .milliseconds(1))
        }
    }

    @Test("what an operator has to correct is asked for from every half minute to every five")
    func permanent() async {
        fcm.followTokens { _ in ScriptedFCM.status(400, #"{"error":"invalid_grant"}"#) }
        for wait in [30, 60, 120, 240, 300, 300] {
            let refusal = await refusal()
            #expect(refusal?.isForGood == true)
            #expect(refusal?.pause == .seconds(wait))
            clock.advance(by: .seconds(wait))
        }
    }

    @Test("the endpoint is not asked earlier than it says, an hour at most", arguments: [("90", 90), ("80000", 3_600)])
    func asked(retryAfter: String, wait: Int) async {
        fcm.followTokens { _ in ScriptedFCM.status(429, retryAfter: retryAfter) }
        #expect(await refusal()?.pause == .seconds(wait))
    }

    @Test("chance shortens a wait by up to a half")
    func jitter() async {
        fcm.followTokens { _ in .unknown(reason: "no answer in time") }
        let tokens = FCMAccessTokens(ScriptedAccounts.account(), sender: fcm, clock: clock, jitter: { 1 })
        guard case .failure(let refusal) = await tokens.token(within: .seconds(20)) else {
            Issue.record("there is a token")
            return
        }
        #expect(refusal.pause == .milliseconds(500))
    }

    @Test("a token ends the row of failures")
    func recovery() async {
        fcm.followTokens { $0 == 2 ? ScriptedFCM.token($0, life: 1) : .notSent(reason: "away") }
        #expect(await refusal()?.pause == .seconds(1))
        clock.advance(by: .seconds(1))
        #expect(await number() == 1)
        clock.advance(by: .seconds(1))
        #expect(await refusal()?.pause == .seconds(1))
    }
}
