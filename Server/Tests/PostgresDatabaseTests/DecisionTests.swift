import SQLStorage
import Testing

@testable import PostgresDatabase

@Suite("Decisions of the PostgreSQL driver")
struct DecisionTests {
    private static let away = PostgresFault.unreachable("away")
    private static let conflict = PostgresFault(state: "40001", message: "could not serialize")
    private static let duplicate = PostgresFault(state: "23505", message: "duplicate")

    @Test("one at a time tries to connect while the server cannot be reached, with pauses that grow to five seconds")
    func gate() {
        var gate = ReconnectGate()
        #expect(gate.ask(at: .zero) == .connect && gate.ask(at: .zero) == .connect, "an open gate refuses no caller")
        var pauses: [Duration] = []
        var now = Duration.zero
        for round in 1...9 {
            #expect(gate.failed("away", at: now, jitter: 0) == (round == 1))
            let start = now
            while gate.ask(at: now) == .refuse("away") { now += .milliseconds(1) }
            #expect(gate.ask(at: now) == .refuse("away"), "someone is trying")
            pauses.append(now - start)
        }
        #expect(pauses == [100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000].map { .milliseconds($0) })
        let wasAway = gate.succeeded()
        #expect(wasAway)
        #expect(!gate.isClosed)
        #expect(gate.ask(at: now) == .connect)
        let again = gate.succeeded()
        #expect(!again)
    }

    @Test("jitter takes up to half of a pause away")
    func jitter() {
        var gate = ReconnectGate()
        _ = gate.failed("away", at: .zero, jitter: 1)
        #expect(gate.ask(at: .milliseconds(49)) == .refuse("away"))
        #expect(gate.ask(at: .milliseconds(50)) == .connect)
    }

    @Test("a conflict is tried again, apart from others after three, until the cap or the deadline")
    func conflicts() {
        var plan = TransactionRetryPlan(deadline: .seconds(10))
        #expect(plan.next(after: Self.conflict, isShared: true, at: .zero, jitter: 1) == .again(after: .zero))
        #expect(plan.next(after: Self.conflict, isShared: true, at: .zero, jitter: 1) == .again(after: .milliseconds(4)))
        #expect(plan.next(after: Self.conflict, isShared: true, at: .zero, jitter: 0.5) == .again(after: .milliseconds(4)))
        #expect(plan.next(after: Self.conflict, isShared: true, at: .zero, jitter: 1) == .apart)
        for _ in 5...30 {
            guard case .again(let pause) = plan.next(after: Self.conflict, isShared: false, at: .zero, jitter: 1) else {
                Issue.record("given up too early")
                return
            }
            #expect(pause <= .milliseconds(250))
        }
        #expect(plan.next(after: Self.conflict, isShared: false, at: .zero, jitter: 1) == .giveUp(Self.conflict.fault))
        var late = TransactionRetryPlan(deadline: .seconds(10))
        #expect(late.next(after: Self.conflict, isShared: false, at: .seconds(10), jitter: 1) == .giveUp(Self.conflict.fault))
    }

    @Test("with turns the second conflict and each after it waits for one, whole, until the cap or the deadline")
    func turns() {
        for isShared in [true, false] {
            var plan = TransactionRetryPlan(deadline: .seconds(10), takesTurns: true)
            #expect(plan.next(after: Self.conflict, isShared: isShared, at: .zero, jitter: 1) == .again(after: .zero))
            for _ in 2...30 {
                #expect(plan.next(after: Self.conflict, isShared: isShared, at: .zero, jitter: 1) == .inTurn)
            }
            let end = plan.next(after: Self.conflict, isShared: isShared, at: .zero, jitter: 1)
            #expect(end == .giveUp(Self.conflict.fault))
        }
        var late = TransactionRetryPlan(deadline: .seconds(10), takesTurns: true)
        _ = late.next(after: Self.conflict, isShared: true, at: .zero, jitter: 1)
        #expect(late.next(after: Self.conflict, isShared: true, at: .seconds(10), jitter: 1) == .giveUp(Self.conflict.fault))
        var mixed = TransactionRetryPlan(deadline: .seconds(10), takesTurns: true)
        for _ in 1...2 { _ = mixed.next(after: Self.duplicate, isShared: false, at: .zero, jitter: 1) }
        #expect(
            mixed.next(after: Self.duplicate, isShared: true, at: .zero, jitter: 1) == .apart, "the error of one is no conflict")
    }

    @Test("where there are no turns conflicts are paused after as if they had never been asked for")
    func noTurns() {
        var plan = TransactionRetryPlan(deadline: .seconds(10), takesTurns: true)
        for _ in 1...2 { _ = plan.next(after: Self.conflict, isShared: true, at: .zero, jitter: 1) }
        plan.turnsAreMissing()
        #expect(plan.next(after: Self.conflict, isShared: true, at: .zero, jitter: 1) == .again(after: .milliseconds(8)))
        #expect(plan.next(after: Self.conflict, isShared: true, at: .zero, jitter: 1) == .apart)
    }

    @Test("writes begin in their turn for some groups after conflicts, and never before one")
    func habit() {
        var habit = WriteLockPreference()
        let first = habit.next()
        #expect(!first)
        habit.hadConflicts()
        let begins = (0..<20).map { _ in habit.next() }
        #expect(begins == (0..<20).map { $0 < WriteLockPreference.length })
        habit.hadConflicts()
        habit.forget()
        let forgotten = habit.next()
        #expect(!forgotten)
    }

    @Test("what waits for its turn is not taken for what has met a lock, and asks again together with its like")
    func blockedInTurn() {
        var blocked = BlockedWork(timeout: .seconds(15))
        let fault = SQLFault.unavailable(reason: "locked")
        for second in 0..<4 {
            _ = blocked.add(StandIn(since: .seconds(second)), fault, inTurn: second.isMultiple(of: 2), at: .seconds(3))
        }
        #expect(blocked.knowsOfLocks)
        let locked = blocked.takeDue(at: .seconds(4), limit: 9)
        #expect(locked.map(\.since) == [.seconds(1), .seconds(3)])
        #expect(!blocked.knowsOfLocks)
        #expect(!blocked.isEmpty)
        let early = blocked.takeDueInTurn(at: .milliseconds(3_400), limit: 9)
        #expect(early.isEmpty)
        let inTurn = blocked.takeDueInTurn(at: .seconds(4), limit: 9)
        #expect(inTurn.map(\.since) == [.zero, .seconds(2)])
        #expect(blocked.isEmpty)
        while blocked.add(StandIn(since: .zero), fault, inTurn: true, at: .zero) {}
        let isKept = blocked.add(StandIn(since: .zero), fault, at: .zero)
        #expect(blocked.count == BlockedWork.limitInTurn + 1 && isKept, "neither takes the room of the other")
    }

    @Test("a duplicate is retried once, a lost connection twice; what no retry can fix, never")
    func others() {
        var plan = TransactionRetryPlan(deadline: .seconds(10))
        #expect(plan.next(after: Self.duplicate, isShared: false, at: .zero, jitter: 1) == .again(after: .zero))
        #expect(plan.next(after: Self.duplicate, isShared: true, at: .zero, jitter: 1) == .apart, "only one of them is to blame")
        #expect(plan.next(after: Self.duplicate, isShared: false, at: .zero, jitter: 1) == .giveUp(.duplicate))
        let lost = PostgresFault.broken("gone")
        for _ in 1...2 { #expect(plan.next(after: lost, isShared: true, at: .zero, jitter: 1) == .again(after: .zero)) }
        #expect(plan.next(after: lost, isShared: true, at: .zero, jitter: 1) == .giveUp(lost.fault))
        for fault in [
            Self.away, .late("slow"), PostgresFault(state: "53100", message: "full"),
            PostgresFault(state: "42P01", message: "no"),
        ] {
            var fresh = TransactionRetryPlan(deadline: .seconds(10))
            #expect(fresh.next(after: fault, isShared: false, at: .zero, jitter: 1) == .giveUp(fault.fault))
        }
    }

    @Test("faults say what operators can look up, and never a value")
    func faults() {
        #expect(PostgresFault(state: "53100", message: "no space").fault == .unavailable(reason: "disk_full: no space"))
        #expect(PostgresFault(state: "23505", message: "Key (a)=(b)").fault == .duplicate)
        #expect(PostgresFault(state: "57P01", message: "bye").kind == .broken)
        #expect(PostgresFault(state: "25006", message: "standby").kind == .broken)
        for state in ["57P05", "25P03", "08006"] {
            #expect(PostgresFault(state: state, message: "ended").kind == .broken, "a connection that was ended is made anew")
        }
        #expect(PostgresFault(state: "26000", message: "gone").kind == .statementsLost)
        #expect(PostgresFault(state: "55P03", message: "locked").kind == .blocked)
        // In any language.
        let words = "zwischengespeicherter Plan darf den Ergebnistyp nicht ändern"
        #expect(PostgresFault(state: "0A000", message: words, isPrepared: true).kind == .broken)
        #expect(PostgresFault(state: "0A000", message: words).kind == .refused, "what cannot be prepared never can")
        for state in ["22P02", "23502"] {
            #expect(!"\(PostgresFault(state: state, message: "a secret").fault)".contains("secret"))
        }
        #expect(
            PostgresFault(state: "42P01", message: "no table").fault
                == .refused(code: Int("42P01", radix: 36)!, reason: "42P01: no table"))
    }

    @Test("what is blocked is tried again now and then until its time is over, and no more of it than the others can bear")
    func blocked() {
        var blocked = BlockedWork(timeout: .seconds(15))
        let fault = SQLFault.unavailable(reason: "locked")
        for second in 0..<3 {
            let isKept = blocked.add(StandIn(since: .seconds(second)), fault, at: .seconds(second))
            #expect(isKept)
        }
        let early = blocked.takeDue(at: .milliseconds(400), limit: 9)
        #expect(early.isEmpty)
        let due = blocked.takeDue(at: .milliseconds(1_600), limit: 9)
        #expect(due.map(\.since) == [.zero, .seconds(1)])
        for work in due { _ = blocked.add(work, fault, at: .milliseconds(1_600)) }
        let expired = blocked.takeExpired(at: .seconds(16))
        #expect(expired.map(\.work.since) == [.zero, .seconds(1)])
        #expect(expired.allSatisfy { $0.fault == fault })
        let isKept = blocked.add(due[0], fault, at: .seconds(15))
        #expect(!isKept, "its time is over")
        while blocked.add(StandIn(since: .seconds(16)), fault, at: .seconds(16)) {}
        let all = blocked.takeAll()
        #expect(all.count == BlockedWork.limit)
        #expect(blocked.isEmpty)
    }

    private struct StandIn: PendingWork {
        let since: Duration
        let isAlone = false

        func perform(_ connection: any SQLConnection) throws -> @Sendable () -> Void { {} }
        func fail(_ error: any Error) {}
    }

    @Test("names of statements follow from their texts")
    func names() {
        let numbers = SQLStatement.named.map { StatementName.number(of: $0) }
        #expect(Set(numbers).count == numbers.count)
        #expect(StatementName.number(of: "SELECT 1") == StatementName.number(of: "SELECT 1"))
    }
}

extension SQLStatement {
    fileprivate static let named = (0..<1000).map { "SELECT \($0)" }
}
