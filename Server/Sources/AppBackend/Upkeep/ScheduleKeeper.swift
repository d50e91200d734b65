import AuditTrail
import RichPushModel
import ServiceErrors

/// Accepts what was scheduled when it is due; the outbox hands it to the hub.
///
/// Every node does this. The transaction that accepts a send also takes its schedule further, so that each occurrence becomes one send
/// whichever nodes try, crash or are slow.
struct ScheduleKeeper {
    /// The most schedules of one round.
    static let batch = 100
    /// A send that failed for a passing reason is tried again after a tenth of the time since it was due, within these bounds.
    private static let pauses: ClosedRange<Int64> = 1000...60_000

    let backend: RichPushBackend
    private var parts: BackendParts { backend.parts }

    /// Accepts the sends that are due, at most a batch; returns how many schedules were tried.
    func acceptDue() async throws -> Int {
        let now = parts.clock.now
        let due = try await parts.store.dueSchedules(at: now, limit: Self.batch)
        for schedule in due {
            do { try await perform(schedule, at: now) } catch { try await note(error, of: schedule, at: now) }
        }
        return due.count
    }

    /// Works out again when schedules in local time are due, since the rules of the zones may have changed.
    func recompute() async throws {
        var below: Int64?
        repeat {
            let page = try await parts.store.schedules(ScheduleQuery(state: .waiting, below: below, limit: Self.batch))
            for schedule in page { try await recompute(schedule) }
            below = page.count == Self.batch ? page.last?.id : nil
        } while below != nil
    }

    private func recompute(_ schedule: Schedule) async throws {
        guard let stored = schedule.draft.next, let timing = try? ScheduleTiming(schedule.draft.request, zones: parts.zones),
            timing.isLocal, let next = timing.occurrences(from: stored.number).first(where: { _ in true }), next != stored
        else { return }
        let step = ScheduleStep(id: schedule.id, revision: schedule.revision, missed: 0, next: next)
        _ = try await parts.store.advance(step, at: parts.clock.now)
    }

    private func perform(_ schedule: Schedule, at now: Timestamp) async throws {
        guard schedule.isReadable else { throw ServiceError(.internal, "this version of the server cannot read the schedule") }
        let request = schedule.draft.request
        let timing = try ScheduleTiming(request, zones: parts.zones)
        guard let stored = schedule.draft.next else { return }
        var (due, missed, next) = timing.due(from: stored.number, at: now)
        if let last = due.map(timing.end), request.notification(dueAt: last).expiresAt.map({ $0 <= now }) ?? false {
            (due, missed) = (nil, missed + 1)
        }
        let step = ScheduleStep(id: schedule.id, revision: schedule.revision, missed: missed, next: next)
        guard let due else {
            _ = try await parts.store.advance(step, at: now)
            return
        }
        let principal = try await owner(of: schedule)
        let audience = try AudienceRule(principal: principal).audience(of: "\(schedule.draft.audience)")
        var draft = try await backend.draft(
            request.notification(dueAt: timing.end(of: due)), audience: audience, idempotencyKey: nil, for: principal)
        draft.step = step
        draft.cap = try backend.cap(of: request.notification)
        if var local = timing.delivery(of: due, in: schedule) {
            (local.quiet, local.keepsUserHours) = (draft.localTime?.quiet, draft.localTime?.keepsUserHours)
            draft.localTime = local
        }
        try await accept(draft, step, for: principal)
    }

    private func accept(_ draft: RichNotificationDraft, _ step: ScheduleStep, for principal: Principal) async throws {
        let now = parts.clock.now
        let entry = principal.entry(
            .sendAccepted, at: now,
            details: "kind=\(draft.kind.rawValue) schedule=\(step.id) audience=\(draft.audience)")
        guard case .accepted(let notification) = try await parts.store.accept(draft, at: now, audit: entry) else { return }
        parts.logger.info(
            "A scheduled send was accepted", metadata: ["rich_id": "\(notification.id)", "schedule_id": "\(step.id)"])
    }

    /// The owner as they are now: what they may not do any more is not done for them.
    private func owner(of schedule: Schedule) async throws -> Principal {
        guard let user = try await parts.store.user(schedule.draft.owner), user.disabledAt == nil else {
            throw ServiceError(.forbidden, "the user whose send it is was removed or disabled")
        }
        guard user.role == .service else { return Principal(user: user) }
        guard let key = try await parts.store.holdingKey(of: user.id, at: parts.clock.now) else {
            throw ServiceError(.forbidden, "the service key whose send it is has ended")
        }
        return Principal(user: user, key: key)
    }

    /// A reason that stays ends the schedule, and is shown with it; another one puts the attempt off.
    private func note(_ error: any Error, of schedule: Schedule, at now: Timestamp) async throws {
        if error is CancellationError { throw error }
        let error = error as? ServiceError ?? ServiceError(.internal)
        // Another node was faster, or the schedule was changed.
        if error == .scheduleMovedOn { return }
        let fault = error.detail ?? error.code.rawValue
        if error.isFinalRefusal || error.code == .forbidden || error.code == .unauthenticated {
            let entry = AuditEntry(.scheduleEnded, by: .server, at: now, object: "\(schedule.id)", details: "state=failed")
            _ = try await parts.store.endSchedule(
                schedule.id, revision: schedule.revision, as: .failed, fault: fault, at: now, audit: entry)
            parts.logger.warning(
                "A scheduled send failed",
                metadata: ["schedule_id": "\(schedule.id)", "error_code": "\(error.code.rawValue)"])
        } else {
            parts.logger.warning(
                "A scheduled send is put off",
                metadata: ["schedule_id": "\(schedule.id)", "error_code": "\(error.code.rawValue)"])
            let age = (now - (schedule.draft.next?.dueAt ?? now)).wholeMilliseconds
            let pause = min(max(age / 10, Self.pauses.lowerBound), Self.pauses.upperBound)
            try await parts.store.postponeSchedule(
                schedule.id, revision: schedule.revision,
                until: now + .milliseconds(pause + Int64.random(in: 0...(pause / 4))), fault: fault)
        }
    }
}
