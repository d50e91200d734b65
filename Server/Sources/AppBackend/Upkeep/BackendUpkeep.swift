import AuditTrail
import PushHub
import RichPushModel
import ServiceErrors

/// What the app backend does by itself: sends what was scheduled, hands over sends that a crash left behind, cancels what was recalled,
/// notes completions (the access rule needs them), and removes what its time has passed. Run it once on every node that works; two at
/// a time do no harm.
public struct BackendUpkeep: Sendable {
    /// How often there is a look for work.
    public static let interval: Duration = .seconds(1)
    /// How often expired things are removed.
    public static let sweepInterval: Duration = .seconds(60)
    /// After the wall clock was set nothing is removed by age for so long: time for an operator to put a wrong clock right.
    public static let pauseAfterStep: Duration = .seconds(3600)
    /// No node that works lets so much time pass between two sweeps.
    public static let longestGap: Duration = .seconds(25 * 3600)
    /// Clocks of nodes differ by less.
    private static let tolerance: Duration = .seconds(2)
    /// Changes of devices that began so long ago and were not ended were cut off: a request lasts half a minute, and what it has
    /// asked a database is done a minute and twenty seconds after that, or never.
    static let changeAge: Duration = .seconds(120)
    /// The most pieces of work in one round.
    static let batch = 100

    private let parts: BackendParts
    private let outbox: SendOutbox
    private let schedules: ScheduleKeeper
    private let activities: ActivityPublisher
    private let channels: ChannelKeeper
    private let channelSignal: DispatchSignal
    private let orphanSweep = OrphanSweep()
    private let rounds: TroubleLog
    private let sweeps: TroubleLog
    private let changes: TroubleLog
    private let channelRounds: TroubleLog
    private let swept: @Sendable (_ removed: Int) -> Void

    /// Creates the upkeep of a backend. `swept` is called after each sweep that succeeded, with how many rows it removed.
    public init(of backend: RichPushBackend, swept: @escaping @Sendable (_ removed: Int) -> Void = { _ in }) {
        self.swept = swept
        parts = backend.parts
        outbox = backend.outbox
        schedules = ScheduleKeeper(backend: backend)
        activities = ActivityPublisher(parts: backend.parts)
        channels = ChannelKeeper(parts: backend.parts)
        channelSignal = backend.channelSignal
        rounds = TroubleLog("A round of outbox work failed", logger: parts.logger)
        sweeps = TroubleLog("A sweep failed", logger: parts.logger)
        changes = TroubleLog("A change of a device that was cut off could not be ended", logger: parts.logger)
        channelRounds = TroubleLog("A round of work on channels failed", logger: parts.logger)
    }

    /// Whether a clock that shows `now` may have been set since the last sweep, so that no process noticed: the sweep lies in the future,
    /// or longer ago than the gap between two. A pause that a restart cut off comes out here too, since nothing is swept in it.
    public static func mayHaveBeenSet(since lastSweep: Timestamp, at now: Timestamp) -> Bool {
        now - lastSweep > longestGap || lastSweep - now > tolerance
    }

    /// Works until the task is cancelled. Storage that fails for a while is logged and tried again.
    public func run() async {
        // A hub elsewhere may keep each change waiting for a minute, and a recall must not.
        async let changesEnd: Void = runChanges()
        // The push service may keep each request waiting as long as a push.
        async let channelsEnd: Void = runChannels()
        async let ticksEnd: Void = tickChannels()
        await runWork()
        _ = await (changesEnd, channelsEnd, ticksEnd)
    }

    private func runChannels() async {
        for await _ in channelSignal.wakes {
            await attempt(channelRounds) { while try await channels.work() > 0 {} }
        }
    }

    private func tickChannels() async {
        while !Task.isCancelled {
            channelSignal.wake()
            do { try await parts.clock.sleep(for: Self.interval) } catch { return }
        }
    }

    private func runChanges() async {
        while !Task.isCancelled {
            var isMore = false
            await attempt(changes) {
                let round = try await changesRound()
                isMore = round.isMore
                if let failure = round.failure { throw failure }
            }
            do { try await parts.clock.sleep(for: isMore ? Self.interval : Self.sweepInterval) } catch { return }
        }
    }

    private func runWork() async {
        var nextSweep = parts.clock.uptime
        while !Task.isCancelled {
            var tried = 0
            await attempt(rounds) { tried = try await work() }
            if parts.clock.wasSet(within: Self.pauseAfterStep) {
                nextSweep = parts.clock.uptime + Self.sweepInterval
            } else if parts.clock.uptime >= nextSweep {
                var isMore = false
                await attempt(sweeps) { isMore = try await sweep() }
                // What one run left waits for the outbox's turn only.
                nextSweep = parts.clock.uptime + (isMore ? Self.interval : Self.sweepInterval)
            }
            // A full batch means that more is due: go on, or a busy server would never catch up.
            if tried == Self.batch { continue }
            do { try await parts.clock.sleep(for: Self.interval) } catch { return }
        }
    }

    /// Sends what was scheduled and does the work that is due, at most a batch of each; returns how many pieces of one were tried.
    @discardableResult
    public func work() async throws -> Int {
        // Schedules that cannot be read now must not keep what was accepted from the hub.
        let scheduled: Result<Int, any Error>
        do { scheduled = .success(try await schedules.acceptDue()) } catch { scheduled = .failure(error) }
        let published: Result<Int, any Error>
        do { published = .success(try await activities.publishDue()) } catch { published = .failure(error) }
        let due = try await parts.store.dueWork(at: parts.clock.now, limit: Self.batch)
        for item in due {
            do { try await perform(item) } catch {
                try await parts.store.postpone(item, until: parts.clock.now + pause(for: item))
            }
        }
        return try max(due.count, scheduled.get(), published.get())
    }

    /// Sends what is due on channels, and deletes channels, at most a batch of each; returns how many pieces were done.
    @discardableResult
    public func workOnChannels() async throws -> Int { try await channels.work() }

    /// Makes the hub agree with the bindings after interrupted changes, at most a batch. A failure is thrown at the end, and retried
    /// two minutes later.
    public func endChanges() async throws { if let failure = try await changesRound().failure { throw failure } }

    private func changesRound() async throws -> (isMore: Bool, failure: (any Error)?) {
        let moment = parts.clock.now - Self.changeAge
        let records = try await parts.store.unendedChanges(begunBefore: moment, limit: Self.batch)
        var failures: [any Error] = []
        for record in records {
            let change = try await parts.begin(record)
            do { try await parts.synchronise(record, in: change, thoroughly: true) } catch { failures.append(error) }
            // After a failure the new change stays for the next round; a permanent refusal has ended it.
            try await parts.store.endChanges(of: record, begunBefore: moment)
        }
        return (isMore: records.count == Self.batch && failures.count < records.count, failure: failures.first)
    }

    /// Removes what its time has passed, a bounded number of each kind; whether there is more.
    @discardableResult
    public func sweep() async throws -> Bool {
        try await followZones()
        let report = try await BackendSweep(parts: parts, orphanSweep: orphanSweep).run()
        swept(report.removed)
        return report.isMore
    }

    /// Schedules in local time follow the rules of their zones when these have changed.
    private func followZones() async throws {
        guard parts.zones.refresh() else { return }
        do { try await schedules.recompute() } catch {
            parts.zones.lookAgain()
            throw error
        }
    }

    private func perform(_ item: OutboxWork) async throws {
        switch item.task {
        case .cancel: try await outbox.cancel(item.id)
        case .send:
            guard let notification = try await parts.store.notification(item.id) else { return }
            _ = try await outbox.deliver(notification)
        case .track: try await track(item)
        }
    }

    private func track(_ item: OutboxWork) async throws {
        guard let notification = try await parts.store.notification(item.id),
            let trackingID = notification.trackingID
        else { return }
        let now = parts.clock.now
        let telemetry = try await parts.hub.telemetry(of: trackingID)
        // After the state, so that nothing is reported later, and before the event of the end.
        try await outbox.passOnOutcomes(of: item.id, trackingID)
        guard let telemetry else {
            // The hub no longer knows it, so no push is pending, and its end is unknown: only devices that
            // matched at the start count.
            return try await parts.store.markCompleted(
                item.id, at: item.dueAt, order: notification.order,
                audit: .sendEnded(item.id, "state=unknown targets=unknown", at: now))
        }
        guard telemetry.state.isFinal else {
            return try await parts.store.postpone(item, until: now + pause(for: item))
        }
        try await parts.store.markCompleted(
            item.id, at: telemetry.endedAt ?? now, order: telemetry.endOrder, audit: telemetry.entry(of: item.id, at: now))
    }

    /// A tenth of the age, between one second and one minute, with a quarter of jitter so that nodes do not ask in step.
    private func pause(for item: OutboxWork) -> Duration {
        let age = max(0, (parts.clock.now - item.dueAt).wholeMilliseconds)
        let pause = min(max(age / 10, 1000), 60_000)
        return .milliseconds(pause + Int64.random(in: 0...(pause / 4)))
    }

    private func attempt(_ trouble: TroubleLog, _ work: () async throws -> Void) async {
        do {
            try await work()
            trouble.succeeded()
        } catch is CancellationError {} catch {
            trouble.failed(error)
        }
    }
}

extension NotificationTelemetry {
    /// The audit entry of the end of a send: how many devices it was for, and what became of them.
    func entry(of send: RichID, at now: Timestamp) -> AuditEntry {
        let counts = outcomes.filter { $0.value > 0 }.map { " \($0.key.rawValue)=\($0.value)" }.sorted().joined()
        return .sendEnded(
            send, "state=\(state.rawValue) targets=\(targets.map(String.init) ?? "unknown")\(counts)", at: now)
    }
}

extension AuditEntry {
    /// The entry of the end of a send, of which the audit knows no sender: that is in the entry of its acceptance.
    static func sendEnded(_ send: RichID, _ details: String, at now: Timestamp) -> AuditEntry {
        AuditEntry(.sendEnded, by: .server, at: now, object: "\(send)", details: details)
    }
}
