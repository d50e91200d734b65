import SQLStorage

/// One try of one or more writes in one transaction.
struct WriteAttempt {
    let link: PostgresLink
    let connection: PostgresConnection
    let texts: TransactionText

    enum Outcome {
        /// What became of each write.
        case settled([Result<@Sendable () -> Void, any Error>])
        /// Nothing is written. One of several failed by itself: the others have to be told apart from it.
        case tellApart
        /// Nothing is written, because of this.
        case failed(PostgresFault)
    }

    /// With `savepoints` a write that fails is undone alone.
    func run(_ works: [any PendingWork], savepoints: Bool) -> Outcome {
        do {
            if works.contains(where: \.isAlone) {
                try link.begin(texts.alone, within: nil)
            } else {
                try link.begin(texts.write)
            }
            return try performAll(works, savepoints: savepoints)
        } catch let fault as PostgresFault {
            link.rollBack()
            return .failed(fault)
        } catch {
            link.rollBack()
            return .settled(works.map { _ in .failure(error) })
        }
    }

    private func performAll(_ works: [any PendingWork], savepoints: Bool) throws -> Outcome {
        var results: [Result<@Sendable () -> Void, any Error>] = []
        var before = ""
        for work in works {
            if savepoints { try link.simple(before + "SAVEPOINT one", within: link.context.limits.answer) }
            do {
                let answer = try work.perform(connection)
                if let swallowed = link.failure { throw swallowed.fault }
                results.append(.success(answer))
                before = "RELEASE SAVEPOINT one; "
            } catch {
                if let fault = link.failure, fault.mayRepeat || link.isBroken { throw fault }
                guard savepoints else {
                    link.rollBack()
                    return works.count == 1 ? .settled([.failure(error)]) : .tellApart
                }
                link.forgetFailure()
                results.append(.failure(error))
                before = "ROLLBACK TO SAVEPOINT one; RELEASE SAVEPOINT one; "
            }
        }
        return try commit(results, before: savepoints ? before : "")
    }

    /// From here on a lost connection means that nobody knows.
    private func commit(_ results: [Result<@Sendable () -> Void, any Error>], before: String) throws -> Outcome {
        do {
            let answer = try link.simple(before + "COMMIT", within: link.context.limits.answer)
            guard answer.command == "COMMIT" else {
                throw PostgresFault(kind: .unavailable, fault: .unavailable(reason: "the transaction was rolled back"))
            }
            return .settled(results)
        } catch let fault as PostgresFault {
            guard link.isBroken else { throw fault }
            return .settled(results.map { $0.flatMap { _ in .failure(SQLFault.outcomeUnknown) } })
        }
    }
}

extension PostgresFault {
    /// Whether the same work may end otherwise when it is done again.
    fileprivate var mayRepeat: Bool {
        switch kind {
        case .conflict, .duplicate, .statementsLost, .broken: true
        case .unreachable, .late, .unavailable, .refused: false
        }
    }
}
