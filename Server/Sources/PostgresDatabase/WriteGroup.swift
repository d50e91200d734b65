import SQLStorage

/// Lets several writes share one commit and retries conflicts. Answers each write exactly once.
struct WriteGroup {
    let worker: PostgresWorker
    /// Whether other work waits for locks already. Then savepoints are used from the beginning.
    let knowsOfLocks: Bool
    /// The timeout for its turn; `nil` to begin without one and take turns only after conflicts.
    var turn: Duration?
    /// Whether it had conflicts already and must not begin without its turn.
    var keepsAsking = false

    /// However many writes wait for locks or take too long, at most two of them delay the others, which begin anew if their time is not
    /// over.
    func run(_ all: [any PendingWork]) {
        var works = inTime(all)
        var plan = freshPlan
        var savepoints = knowsOfLocks
        var lockTimeout = worker.lockTimeout(knowsOfLocks: knowsOfLocks)
        var (turn, keepsAsking, isUrgent) = (turn, keepsAsking, false)
        defer { worker.finishRollBack() }
        while !works.isEmpty {
            switch attempt(works, savepoints: savepoints, lockTimeout, turn, isUrgent: isUrgent) {
            case .settled(let results):
                // After two waits for locks, the others get the minimal timeout.
                if results.count < works.count { lockTimeout = worker.context.link.limits.minimalLockTimeout }
                answer(works, results)
                (works, plan, isUrgent) = (inTime(works.dropFirst(results.count)), freshPlan, false)
            case .isolateFailure: savepoints = true
            case .turnMissed(let fault):
                worker.turns.forget()
                if keepsAsking { return works.forEach { worker.block($0, fault, inTurn: true) } }
                turn = nil
            case .noTurns:
                plan.turnsAreMissing()
                worker.turns.forget()
                turn = nil
            case .heldUp(let place, let fault):
                answer([works.remove(at: place)], [.failure(fault)])
                (works, plan, savepoints) = (inTime(works), freshPlan, true)
                lockTimeout = worker.context.link.limits.shortLockTimeout
            case .failed(let fault):
                worker.note(fault)
                let instruction = plan.next(
                    after: fault, isShared: works.count > 1, at: uptime, jitter: .random(in: 0...1))
                switch instruction {
                case .again(let pause): worker.pause(pause)
                case .inTurn:
                    worker.turns.hadConflicts()
                    isUrgent = turn != nil
                    (turn, keepsAsking) = (worker.context.link.limits.turnTimeout, true)
                case .apart: return works.forEach { run([$0]) }
                case .giveUp(let reason):
                    let error: any Error = fault.kind == .conflict ? fault : reason
                    return answer(works, works.map { _ in .failure(error) })
                }
            }
        }
    }

    private var uptime: Duration { worker.context.link.clock.uptime }

    private var freshPlan: TransactionRetryPlan {
        TransactionRetryPlan(deadline: uptime + worker.context.link.limits.conflict, takesTurns: true)
    }

    /// Fails writes that are too late to begin, and returns the others.
    private func inTime(_ works: some Sequence<any PendingWork>) -> [any PendingWork] {
        let oldest = uptime - worker.context.link.limits.begin
        return works.filter { work in
            let isInTime = work.since >= oldest
            if !isInTime {
                work.fail(SQLFault.unavailable(reason: "query_canceled: it was not begun, since others took too long"))
            }
            return isInTime
        }
    }

    private func attempt(
        _ works: [any PendingWork], savepoints: Bool, _ lockTimeout: Duration, _ turn: Duration?, isUrgent: Bool
    ) -> WriteAttempt.Outcome {
        do {
            let link = try worker.link()
            let connection = PostgresTransaction(link: link, unnamed: worker.sendsTexts)
            let before = link.keptCount
            defer {
                if link.keptCount > before { worker.context.health.kept() }
                if link.otherIsUrgent { worker.turns.foundOtherUrgent() }
            }
            return WriteAttempt(
                link: link, connection: connection, texts: worker.context.texts,
                lockTimeout: lockTimeout, turn: turn, isUrgent: isUrgent
            ).run(works, savepoints: savepoints)
        } catch let fault as PostgresFault {
            return .failed(fault)
        } catch {
            return .settled(works.map { _ in .failure(error) })
        }
    }

    private func answer(_ works: [any PendingWork], _ results: [Result<@Sendable () -> Void, any Error>]) {
        report(results)
        for (work, result) in zip(works, results) {
            switch result {
            case .success(let answer): answer()
            case .failure(let fault as PostgresFault) where fault.kind == .blocked: worker.block(work, fault, inTurn: false)
            case .failure(let fault as PostgresFault): work.fail(fault.fault)
            case .failure(let error): work.fail(error)
            }
        }
    }

    private func report(_ results: [Result<@Sendable () -> Void, any Error>]) {
        for result in results {
            switch result {
            case .failure(let fault as SQLFault): return worker.context.health.failed(fault)
            // Blocked work is retried later. A conflict that lasted until its deadline means that other writes were kept.
            case .failure(let fault as PostgresFault) where fault.kind != .blocked && fault.kind != .conflict:
                return worker.context.health.failed(fault.fault)
            default: break
            }
        }
        if results.contains(where: { if case .success = $0 { true } else { false } }) { worker.context.health.succeeded() }
    }
}

/// One try of one or more writes in one transaction.
private struct WriteAttempt {
    let link: PostgresConnection
    let connection: PostgresTransaction
    let texts: TransactionText
    /// The timeout for each lock.
    let lockTimeout: Duration
    /// The timeout for its turn; `nil` when it begins without one.
    let turn: Duration?
    /// Whether it conflicted in its turn already.
    let isUrgent: Bool

    typealias Results = [Result<@Sendable () -> Void, any Error>]

    enum Outcome {
        /// The result of each write, in order. When there are fewer results than writes, the last one was held up and the rest not begun.
        case settled(Results)
        /// Nothing is written. One of several failed by itself and has to be isolated from the others.
        case isolateFailure
        /// Nothing is written. The write at this place waited for a lock or took too long; retry the others without it.
        case heldUp(at: Int, PostgresFault)
        /// Nothing was begun: earlier writes in the queue took too long.
        case turnMissed(PostgresFault)
        /// Nothing was begun: this database has no turns, or this user may not take one.
        case noTurns
        /// Nothing is written, because of this.
        case failed(PostgresFault)
    }

    /// With `savepoints`, only a failed write is rolled back.
    func run(_ works: [any PendingWork], savepoints: Bool) -> Outcome {
        do {
            if works.contains(where: \.isAlone) {
                try link.begin(texts.alone, within: nil)
            } else if let missed = try begin() {
                return missed
            }
            return savepoints ? try performEach(works) : try performTogether(works)
        } catch let fault as PostgresFault {
            if fault.kind == .conflict { link.rollBackWithNext() } else { link.rollBack() }
            return .failed(fault)
        } catch {
            link.rollBack()
            return .settled(works.map { _ in .failure(error) })
        }
    }

    /// Begins the transaction; returns an outcome if it did not get its turn.
    private func begin() throws -> Outcome? {
        let inTurn = turn.map { TransactionText.turn($0) + (isUrgent ? TransactionText.urgent : "") } ?? ""
        let text = texts.write + inTurn + TransactionText.lockTimeout(lockTimeout)
        do {
            try link.begin(text)
            return nil
        } catch let fault as PostgresFault where turn != nil && (fault.kind == .blocked || fault.kind == .refused) {
            link.rollBack()
            return fault.kind == .blocked ? .turnMissed(fault) : .noTurns
        }
    }

    private func performTogether(_ works: [any PendingWork]) throws -> Outcome {
        var results: Results = []
        for (place, work) in works.enumerated() {
            do {
                results.append(.success(try perform(work)))
            } catch {
                let heldUp = try ownFault()
                link.rollBack()
                guard works.count > 1 else { return .settled([.failure(heldUp ?? error)]) }
                return heldUp.map { .heldUp(at: place, $0) } ?? .isolateFailure
            }
        }
        return try commit(works, results, before: "")
    }

    /// Stops after a write that was held up, because earlier writes hold locks that other transactions wait for.
    private func performEach(_ works: [any PendingWork]) throws -> Outcome {
        var results: Results = []
        var before = ""
        for work in works {
            try link.simple(before + "SAVEPOINT one", within: link.context.limits.answer)
            do {
                results.append(.success(try perform(work)))
                before = "RELEASE SAVEPOINT one; "
            } catch {
                let heldUp = try ownFault()
                link.forgetFailure()
                results.append(.failure(heldUp ?? error))
                before = "ROLLBACK TO SAVEPOINT one; RELEASE SAVEPOINT one; "
                if heldUp != nil { break }
            }
        }
        return try commit(works, results, before: before)
    }

    private func perform(_ work: any PendingWork) throws -> @Sendable () -> Void {
        let answer = try work.perform(connection)
        if let swallowed = link.failure { throw swallowed.fault }
        return answer
    }

    /// The fault that held a write up; `nil` when the write failed for another reason of its own. Throws faults of the transaction.
    private func ownFault() throws -> PostgresFault? {
        guard let fault = link.failure else { return nil }
        if fault.mayRepeat || link.isBroken { throw fault }
        return fault.kind == .blocked || fault.kind == .late ? fault : nil
    }

    /// From here on a lost connection means an unknown outcome.
    private func commit(_ works: [any PendingWork], _ results: Results, before: String) throws -> Outcome {
        let oldest = link.context.clock.uptime - link.context.limits.life
        guard works.allSatisfy({ $0.isAlone || $0.since >= oldest }) else {
            throw PostgresFault.late("the transaction was open for too long")
        }
        do {
            let warnings = link.warnings
            guard try link.commit(before: before) == "COMMIT" else {
                throw PostgresFault(kind: .unavailable, fault: .unavailable(reason: "the transaction was rolled back"))
            }
            // With a warning the server reports a commit whose wait for the synchronous standbys was cancelled: a failover may lose it.
            guard link.warnings == warnings else { return .settled(Self.unknown(results)) }
            link.noteCommit()
            return .settled(results)
        } catch let fault as PostgresFault {
            guard link.isBroken else { throw fault }
            return .settled(Self.unknown(results))
        }
    }

    private static func unknown(_ results: Results) -> Results {
        results.map { $0.flatMap { _ in .failure(SQLFault.outcomeUnknown) } }
    }
}

extension PostgresFault {
    /// Whether a retry of the same work may succeed.
    fileprivate var mayRepeat: Bool {
        switch kind {
        case .conflict, .duplicate, .statementsLost, .broken: true
        case .unreachable, .late, .blocked, .unavailable, .refused: false
        }
    }
}
