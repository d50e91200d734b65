import SQLStorage

/// Lets several writes share one commit and repeats what others were in the way of. Answers each write exactly once.
struct WriteGroup {
    let worker: PostgresWorker
    /// Whether others wait for locks already. Then each write can be undone alone from the beginning.
    let knowsOfLocks: Bool
    /// How long its turn is waited for; `nil` to begin without and take turns only after conflicts.
    var turn: Duration?
    /// Whether it had conflicts already, and does not begin without its turn.
    var keepsAsking = false

    /// However many of the writes wait for locks or take too long, the others are held up by one of them, or by two: those that are left
    /// over begin anew, if their time is not over.
    func run(_ all: [any PendingWork]) {
        var works = inTime(all)
        var plan = freshPlan
        var savepoints = knowsOfLocks
        var patience = worker.patience(knowsOfLocks: knowsOfLocks)
        var (turn, keepsAsking) = (turn, keepsAsking)
        defer { worker.finishRollBack() }
        while !works.isEmpty {
            switch attempt(works, savepoints: savepoints, patience, turn) {
            case .settled(let results):
                // Once two have waited for a lock, no other of them does.
                if results.count < works.count { patience = worker.context.link.limits.noPatience }
                answer(works, results)
                (works, plan) = (inTime(works.dropFirst(results.count)), freshPlan)
            case .tellApart: savepoints = true
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
                patience = worker.context.link.limits.shortPatience
            case .failed(let fault):
                worker.note(fault)
                let instruction = plan.next(
                    after: fault, isShared: works.count > 1, at: uptime, jitter: .random(in: 0...1))
                switch instruction {
                case .again(let pause): worker.pause(pause)
                case .inTurn:
                    worker.turns.hadConflicts()
                    (turn, keepsAsking) = (worker.context.link.limits.turnPatience, true)
                case .apart: return works.forEach { run([$0]) }
                case .giveUp(let reason):
                    let error: any Error = fault.kind == .conflict ? fault : reason
                    return answer(works, works.map { _ in .failure(error) })
                }
            }
        }
    }

    private var uptime: Duration { worker.context.link.clock.uptime }

    private var freshPlan: RepeatPlan { RepeatPlan(deadline: uptime + worker.context.link.limits.conflict, takesTurns: true) }

    /// Answers those that may not begin any more, and returns the others.
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
        _ works: [any PendingWork], savepoints: Bool, _ patience: Duration, _ turn: Duration?
    ) -> WriteAttempt.Outcome {
        do {
            let link = try worker.link()
            let connection = PostgresConnection(link: link, unnamed: worker.sendsTexts)
            let before = link.keptCount
            defer { if link.keptCount > before { worker.context.health.kept() } }
            return WriteAttempt(
                link: link, connection: connection, texts: worker.context.texts,
                patience: patience, turn: turn
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
            // What is blocked is not given up yet. A conflict that outlasted its time says that others wrote, which the database kept.
            case .failure(let fault as PostgresFault) where fault.kind != .blocked && fault.kind != .conflict:
                return worker.context.health.failed(fault.fault)
            default: break
            }
        }
        if results.contains(where: { if case .success = $0 { true } else { false } }) { worker.context.health.succeeded() }
    }
}
