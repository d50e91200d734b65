import SQLStorage

/// One try of one or more writes in one transaction.
struct WriteAttempt {
    let link: PostgresLink
    let connection: PostgresConnection
    let texts: TransactionText
    /// How long a lock is waited for.
    let patience: Duration
    /// How long its turn is waited for; `nil` when it begins without.
    let turn: Duration?

    typealias Results = [Result<@Sendable () -> Void, any Error>]

    enum Outcome {
        /// What became of each write, in their order. Those that are left over were not begun: the last one was held up.
        case settled(Results)
        /// Nothing is written. One of several failed by itself: the others have to be told apart from it.
        case tellApart
        /// Nothing is written. One of several, at this place, waited for a lock or took too long; the others are better off without it.
        case heldUp(at: Int, PostgresFault)
        /// Nothing was begun: those before it in the queue took too long.
        case turnMissed(PostgresFault)
        /// Nothing was begun: this database has no turns, or this user may not take one.
        case noTurns
        /// Nothing is written, because of this.
        case failed(PostgresFault)
    }

    /// With `savepoints` a write that fails is undone alone.
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

    /// What kept it from its turn, if it waits for one.
    private func begin() throws -> Outcome? {
        let text = texts.write + (turn.map(TransactionText.turn) ?? "") + TransactionText.patience(patience)
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
                return heldUp.map { .heldUp(at: place, $0) } ?? .tellApart
            }
        }
        return try commit(works, results, before: "")
    }

    /// After one that was held up none begins: those before it hold locks of their own that others wait for.
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

    /// What held a write up; `nil` when it failed for another reason of its own. Throws what is not its own affair.
    private func ownFault() throws -> PostgresFault? {
        guard let fault = link.failure else { return nil }
        if fault.mayRepeat || link.isBroken { throw fault }
        return fault.kind == .blocked || fault.kind == .late ? fault : nil
    }

    /// From here on a lost connection means that nobody knows.
    private func commit(_ works: [any PendingWork], _ results: Results, before: String) throws -> Outcome {
        let oldest = link.context.clock.uptime - link.context.limits.life
        guard works.allSatisfy({ $0.isAlone || $0.since >= oldest }) else {
            throw PostgresFault.late("the transaction was open for too long")
        }
        do {
            let warnings = link.warnings
            let answer = try link.simple(before + TransactionText.commit, within: link.context.limits.answer)
            guard answer.command == "COMMIT" else {
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
    /// Whether the same work may end otherwise when it is done again.
    fileprivate var mayRepeat: Bool {
        switch kind {
        case .conflict, .duplicate, .statementsLost, .broken: true
        case .unreachable, .late, .blocked, .unavailable, .refused: false
        }
    }
}
