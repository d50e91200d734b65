import SQLStorage

/// Lets several writes share one commit and repeats what others were in the way of. Answers each write exactly once.
struct WriteGroup {
    let worker: PostgresWorker

    func run(_ works: [any PendingWork]) {
        let context = worker.context
        var plan = RepeatPlan(deadline: context.link.clock.uptime + context.link.limits.conflict)
        var savepoints = false
        while true {
            switch attempt(works, savepoints: savepoints) {
            case .settled(let results): return answer(works, results)
            case .tellApart: savepoints = true
            case .failed(let fault):
                worker.note(fault)
                let instruction = plan.next(
                    after: fault, isShared: works.count > 1, at: context.link.clock.uptime, jitter: .random(in: 0...1))
                switch instruction {
                case .again(let pause): worker.pause(pause)
                case .apart: return works.forEach { run([$0]) }
                case .giveUp(let fault): return answer(works, works.map { _ in .failure(fault) })
                }
            }
        }
    }

    private func attempt(_ works: [any PendingWork], savepoints: Bool) -> WriteAttempt.Outcome {
        do {
            let link = try worker.link()
            let connection = PostgresConnection(link: link, unnamed: worker.sendsTexts)
            return WriteAttempt(link: link, connection: connection, texts: worker.context.texts)
                .run(works, savepoints: savepoints)
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
            case .failure(let error): work.fail(error)
            }
        }
    }

    private func report(_ results: [Result<@Sendable () -> Void, any Error>]) {
        for result in results {
            if case .failure(let fault as SQLFault) = result { return worker.context.health.failed(fault) }
        }
        if results.contains(where: { if case .success = $0 { true } else { false } }) { worker.context.health.succeeded() }
    }
}
