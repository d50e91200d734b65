import Logging
import RichPushModel
import ServiceErrors

extension HubJobs {
    /// Works on jobs until the task is cancelled.
    public func run() async {
        await takeOver()
        await withDiscardingTaskGroup { group in
            for _ in 0..<max(1, settings.parallel) { group.addTask { await work() } }
        }
    }

    /// Frees the jobs that a process which died has left, before the first claim. Retried until storage answers or the task ends.
    func takeOver() async {
        guard settings.takeover != .none else { return }
        while !Task.isCancelled {
            do {
                let count = try await store.releaseAll(of: settings.takeover == .own ? settings.owner : nil, at: clock.now)
                if count > 0 { logger.notice("Jobs of an earlier process are taken over", metadata: ["count": "\(count)"]) }
                return
            } catch {
                looking.failed(error)
                try? await clock.sleep(for: settings.interval)
            }
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
            let claimed = try await store.claim(owner: settings.owner, until: deadline, at: clock.now)
            looking.succeeded()
            guard let claimed else { return false }
            lease = claimed
        } catch {
            looking.failed(error)
            return false
        }
        observe(.began)
        defer { observe(.paused) }
        await perform(lease)
        return true
    }

    /// When a lease that is taken or extended now ends.
    var deadline: Timestamp { clock.now + settings.lease }

    private func perform(_ lease: JobLease) async {
        do {
            if let reason = lease.job.failure { return try await end(lease, lease.job.progress, reason) }
            guard let hub = try await hub(lease.job.hub) else { throw JobFault(reason: "the hub was removed") }
            let isOver =
                switch lease.job.kind {
                case .export: try await ExportRun(self, lease).run()
                default: try await ImportRun(self, lease, hub).run()
                }
            if isOver {
                logger.info("A job is over", metadata: ["job": "\(lease.job.number)"])
                observe(.ended(.completed))
            }
        } catch let error as JobFault {
            await fail(lease, error.reason)
        } catch is CancellationError {
            try? await store.release(lease, until: clock.now, at: clock.now)
        } catch {
            await postpone(lease, error)
        }
    }

    /// Writes down that and why the job has failed, and ends it. From the first on nobody goes on with it: who takes it after this process
    /// has died, or has been stopped, only brings it to its end, which can be done again and again.
    private func fail(_ lease: JobLease, _ reason: String) async {
        logger.warning("A job failed", metadata: ["job": "\(lease.job.number)", "reason": "\(reason)"])
        do {
            let current = try await store.job(lease.job.number, in: lease.job.hub)?.progress ?? lease.job.progress
            // Whoever has lost the lease has nothing to say about the files any more.
            guard
                try await store.checkpoint(lease, current, state: .running, failure: reason, until: deadline, at: clock.now)
            else { return }
            try await end(lease, current, reason)
        } catch {
            try? await store.release(lease, until: clock.now, at: clock.now)
        }
    }

    /// Ends a job of which it is written down that it has failed. Its progress does not change any more, so that whoever does this, late
    /// or twice, writes and cuts the same.
    private func end(_ lease: JobLease, _ progress: JobProgress, _ reason: String) async throws {
        var progress = progress
        do {
            // What was committed before belongs into the files, if they can be written at all.
            try await JobFiles(lease.job, containers, &progress).finish(progress)
        } catch {
            // One that is being stopped leaves it to the next.
            try Task.checkCancellation()
            logger.warning(
                "The files of a job that failed could not be completed",
                metadata: ["job": "\(lease.job.number)", "error": "\(error)"])
        }
        let isKept = try await store.checkpoint(
            lease, progress, state: .failed, failure: reason, until: clock.now, at: clock.now)
        if isKept { observe(.ended(.failed)) }
    }

    /// What storage cannot do now it may do later; in the end the job fails.
    private func postpone(_ lease: JobLease, _ error: any Error) async {
        let reason = (error as? ServiceError)?.description ?? "an unexpected error"
        if lease.attempts >= settings.attempts {
            await fail(lease, "it was tried \(lease.attempts + 1) times: \(reason)")
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
