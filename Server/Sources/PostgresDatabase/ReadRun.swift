import SQLStorage

/// Runs one read and repeats it when the connection was found broken. Answers it exactly once.
struct ReadRun {
    let worker: PostgresWorker
    /// Whether others wait for locks already.
    let knowsOfLocks: Bool

    func run(_ work: any PendingWork) {
        let link = worker.context.link
        var plan = RepeatPlan(deadline: link.clock.uptime + link.limits.conflict)
        while true {
            do {
                let answer = try attempt(work)
                return answer()
            } catch let fault as PostgresFault where fault.kind == .blocked {
                return worker.block(work, fault, inTurn: false)
            } catch let fault as PostgresFault {
                worker.note(fault)
                switch plan.next(after: fault, isShared: false, at: link.clock.uptime, jitter: .random(in: 0...1)) {
                case .again(let pause): worker.pause(pause)
                case .apart, .inTurn: continue
                case .giveUp(let fault): return work.fail(fault)
                }
            } catch {
                return work.fail(error)
            }
        }
    }

    private func attempt(_ work: any PendingWork) throws -> @Sendable () -> Void {
        let link = try worker.link()
        let patience = worker.patience(knowsOfLocks: knowsOfLocks)
        do {
            try link.begin(worker.context.texts.read + TransactionText.patience(patience))
            let answer = try work.perform(PostgresConnection(link: link, unnamed: worker.sendsTexts))
            if let swallowed = link.failure { throw swallowed }
            // It has read what it wanted: how the transaction ends is of no account.
            link.endReading()
            return answer
        } catch {
            defer { link.rollBack() }
            throw link.failure ?? error
        }
    }
}
