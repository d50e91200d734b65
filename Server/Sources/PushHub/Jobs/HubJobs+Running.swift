import Logging
import RichPushModel
import ServiceErrors

extension HubJobs {
    /// Works on jobs until the task is cancelled.
    public func run() async {
        await withDiscardingTaskGroup { group in
            for _ in 0..<max(1, settings.parallel) { group.addTask { await work() } }
        }
    }

    private func work() async {
        while !Task.isCancelled {
            if await runNext() { continue }
            do { try await clock.sleep(for: settings.interval) } catch { return }
        }
    }

    /// Works on one job until it ends or has to be given back; `false` when there is none.
    public func runNext() async -> Bool {
        let lease: JobLease
        do {
            guard let claimed = try await store.claim(owner: owner, until: deadline, at: clock.now) else { return false }
            lease = claimed
        } catch {
            logger.warning("Jobs cannot be looked for", metadata: ["error": "\(error)"])
            return false
        }
        await perform(lease)
        return true
    }

    /// When a lease that is taken or extended now ends.
    var deadline: Timestamp { clock.now + settings.lease }

    private func perform(_ lease: JobLease) async {
        do {
            guard let hub = try await hub(lease.job.hub) else {
                return try await fail(lease, "the hub was removed")
            }
            let isOver =
                switch lease.job.kind {
                case .export: try await ExportRun(self, lease).run()
                default: try await ImportRun(self, lease, hub).run()
                }
            if isOver { logger.info("A job is over", metadata: ["job": "\(lease.job.number)"]) }
        } catch let error as JobFault {
            try? await fail(lease, error.reason)
        } catch is CancellationError {
            try? await store.release(lease, until: clock.now, at: clock.now)
        } catch {
            await postpone(lease, error)
        }
    }

    private func fail(_ lease: JobLease, _ reason: String) async throws {
        logger.warning("A job failed", metadata: ["job": "\(lease.job.number)", "reason": "\(reason)"])
        var current = try await store.job(lease.job.number, in: lease.job.hub)?.progress ?? lease.job.progress
        // Whoever has lost the lease has nothing to say about the files any more.
        guard
            try await store.checkpoint(lease, current, state: .running, failure: nil, until: deadline, at: clock.now)
        else { return }
        // What was committed before belongs into the files, if they can be written at all. Who is late writes the same bytes.
        let files = try? await JobFiles(lease.job, containers, &current)
        // Cutting is for who has ended the job: nobody takes it on after that, so nothing of another's can be behind the end.
        guard
            try await store.checkpoint(lease, current, state: .failed, failure: reason, until: clock.now, at: clock.now)
        else { return }
        try? await files?.finish(current)
    }

    /// What storage cannot do now it may do later; in the end the job fails.
    private func postpone(_ lease: JobLease, _ error: any Error) async {
        let reason = (error as? ServiceError)?.description ?? "an unexpected error"
        if lease.attempts >= settings.attempts {
            try? await fail(lease, "it was tried \(lease.attempts + 1) times: \(reason)")
            return
        }
        logger.warning("A job has to wait", metadata: ["job": "\(lease.job.number)", "error": "\(error)"])
        let wait = Duration.seconds(min(1 << min(lease.attempts, 6), 60))
        try? await store.release(lease, until: clock.now + wait, at: clock.now)
    }
}

/// Why a job cannot go on at all.
struct JobFault: Error {
    var reason: String
}
