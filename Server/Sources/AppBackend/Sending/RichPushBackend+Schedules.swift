import AuditTrail
import RichPushModel
import ServiceErrors
import TagExpressions

extension RichPushBackend {
    /// The most schedules of a page of a list.
    public static let schedulePageLimit = 100
    /// How far ahead a schedule may begin, so that a mistaken year is noticed.
    private static let horizon: Duration = .seconds(2 * 366 * 86_400)

    /// Schedules a send. With an idempotency key a retry of the same request gets the first answer.
    ///
    /// Throws what `send` throws of the notification; `invalid-field` for a time that is malformed, past or more than two years ahead;
    /// `quota-exceeded` when the caller has too many that wait.
    public func schedule(
        _ request: ScheduleRequest, idempotencyKey: String? = nil, for principal: Principal
    ) async throws -> ScheduleStatus {
        let (checkedDraft, key, checked) = try await checked(request, idempotencyKey: idempotencyKey, for: principal)
        // A retry that arrives when it is due or over still gets its answer, so the time counts for the first only.
        if let key, let earlier = try await parts.store.schedule(repeating: key, of: principal.userID) { return shown(earlier) }
        try checked.get()
        if request.approval != true { try await requireApproval(of: checkedDraft.audience, for: principal) }
        try countSend(of: principal)
        let draft = try await withWrittenContent(checkedDraft, for: principal)
        let now = parts.clock.now
        let entry = principal.entry(.scheduleCreated, at: now, details: Self.details(of: draft))
        return shown(
            try await parts.store.addSchedule(
                draft, key: key, limit: parts.settings.waitingSchedules, at: now, audit: entry))
    }

    /// Replaces a schedule of the caller that waits; what it has sent and missed stays counted. Throws what `schedule` throws,
    /// `not-found`, and `conflict` when it is over or was just due.
    public func changeSchedule(
        _ id: Int64, to request: ScheduleRequest, for principal: Principal
    ) async throws -> ScheduleStatus {
        try principal.require(.send)
        guard let old = try await parts.store.schedule(id), old.draft.owner == principal.userID else { throw Self.noSchedule }
        let (checkedDraft, _, checked) = try await checked(request, idempotencyKey: nil, for: principal)
        try checked.get()
        // An approval was for what it was before.
        if request.approval != true { try await requireApproval(of: checkedDraft.audience, for: principal) }
        let draft = try await withWrittenContent(checkedDraft, for: principal)
        let now = parts.clock.now
        let entry = principal.entry(.scheduleChanged, at: now, object: "\(id)", details: Self.details(of: draft))
        guard
            let new = try await parts.store.replaceSchedule(id, revision: old.revision, with: draft, at: now, audit: entry)
        else { throw ServiceError(.conflict, "this schedule is over, or was changed or due just now; look at it again") }
        return shown(new)
    }

    /// Lets the proposal of another person wait for its time. One without a time, or whose rule begins earlier, is due from now on.
    ///
    /// - Parameter revision: the one that the caller has looked at.
    ///
    /// Throws `not-found` for what the caller may not see, `forbidden` for a proposal of the caller, and `conflict` for what is no
    /// proposal, has changed since, or whose time has passed.
    public func approveSchedule(_ id: Int64, revision: Int64, for principal: Principal) async throws -> ScheduleStatus {
        try principal.requireAll(.approve)
        guard let found = try await parts.store.schedule(id), found.state == .proposed || found.draft.owner == principal.userID
        else { throw Self.noSchedule }
        guard found.draft.owner != principal.userID else {
            throw ServiceError(.forbidden, "you asked for this send yourself; another person has to approve it")
        }
        guard found.revision == revision else { throw Self.proposalChanged }
        let now = parts.clock.now
        var request = found.draft.request
        if request.hasNoTime { request.sendAt = now }
        let timing = try ScheduleTiming(request, zones: parts.zones)
        let next = found.draft.request.hasNoTime ? ScheduleOccurrence(number: 0, dueAt: now) : timing.first(after: now)
        guard let next else { throw ServiceError(.conflict, "its time has passed; the sender has to propose another one") }
        let entry = principal.entry(.scheduleApproved, at: now, object: "\(id)", details: "due=\(next.dueAt.milliseconds)")
        let approved = try await parts.store.approveSchedule(
            id, revision: revision, as: request, next: next, by: principal.name, at: now, audit: entry)
        guard let approved else { throw Self.proposalChanged }
        return shown(approved)
    }

    private static let proposalChanged = ServiceError(
        .conflict, "this proposal was changed, approved or cancelled since you looked at it; look at it again")

    /// Cancels a schedule of the caller (an admin: any; who may approve: any proposal). What it has sent stays sent. Throws `not-found` for
    /// any other, and for one that is over.
    public func cancelSchedule(_ id: Int64, for principal: Principal) async throws {
        let extent = try principal.require(.recall)
        guard let found = try await parts.store.schedule(id), isVisible(found, extent, to: principal) else {
            throw Self.noSchedule
        }
        let now = parts.clock.now
        let entry = principal.entry(.scheduleEnded, at: now, object: "\(id)", details: "state=cancelled")
        guard
            try await parts.store.endSchedule(id, revision: nil, as: .cancelled, fault: nil, at: now, audit: entry)
        else { throw Self.noSchedule }
    }

    /// One schedule of the caller, or for a caller who may read all sends any. Who may approve sees all proposals. Throws `not-found`.
    public func schedule(_ id: Int64, for principal: Principal) async throws -> ScheduleStatus {
        let extent = try principal.require(.readSends)
        guard let found = try await parts.store.schedule(id), isVisible(found, extent, to: principal) else {
            throw Self.noSchedule
        }
        return shown(found)
    }

    private func isVisible(_ schedule: Schedule, _ extent: AccessExtent, to principal: Principal) -> Bool {
        schedule.draft.owner == principal.userID || extent == .all
            || schedule.state == .proposed && AccessTable.extent(of: .approve, for: principal) == .all
    }

    /// A page of the caller's schedules, or for a caller who may read all sends of everyone's, newest first. Of proposals, who may approve
    /// sees everyone's. `limit` is clamped to
    /// 1 … 100, default 50. Throws `invalid-field` for a malformed cursor, and `not-found` for a sender whom the caller may not see.
    public func schedules(
        sender: String? = nil, state: Schedule.State? = nil, before: String? = nil, limit: Int? = nil, for principal: Principal
    ) async throws -> ScheduleList {
        let limit = min(max(limit ?? 50, 1), Self.schedulePageLimit)
        let below = try before.map(Self.numberCursor)
        let seesAll = sender == nil && state == .proposed && AccessTable.extent(of: .approve, for: principal) == .all
        let owner = try await self.sender(sender, for: principal)
        let found = try await parts.store.schedules(
            ScheduleQuery(of: seesAll ? nil : owner, state: state, below: below, limit: limit + 1))
        let page = found.prefix(limit)
        return ScheduleList(
            schedules: page.map(shown), next: found.count > limit ? page.last.map { "\($0.id)" } : nil)
    }

    /// The number below which the next page of a list begins.
    static func numberCursor(_ text: String) throws(ServiceError) -> Int64 {
        guard let number = Int64(text), number > 0 else {
            throw ServiceError(.invalidField, "before: a cursor is the next of the page before")
        }
        return number
    }

    private static let noSchedule = ServiceError(.notFound, "there is no such schedule")

    private static func details(of draft: ScheduleDraft) -> String {
        "\(draft.state == .proposed ? "state=proposed " : "")due=\(draft.next?.dueAt.milliseconds ?? 0) audience=\(draft.audience)"
    }

    /// Checks everything about a schedule. What is only wrong because of the time is in `checked`.
    private func checked(
        _ request: ScheduleRequest, idempotencyKey: String?, for principal: Principal
    ) async throws -> (draft: ScheduleDraft, key: IdempotencyKey?, checked: Result<Void, any Error>) {
        try principal.require(.send)
        let audience = try AudienceRule(principal: principal).audience(of: request.notification.audience)
        let asked = request
        var request = request
        request.notification = try await expanded(request.notification, for: principal)
        guard request.notification.kind != .sealed else {
            throw ServiceError(.invalidField, "notification.kind: what is sealed cannot be scheduled, since its id is not known")
        }
        let now = parts.clock.now
        let (timing, next) = try timing(of: request, at: now)
        try Self.checkLifetime(of: request, timing)
        let due = next.map(timing.end) ?? now
        let notification = request.notification(dueAt: due)
        // A hub elsewhere knows no zones, and it is better to hear that now.
        if timing.isByDevice { _ = try await parts.hub.timeZones(of: audience) }
        let sent = try await draft(notification, audience: audience, idempotencyKey: nil, for: principal)
        let draft = ScheduleDraft(
            owner: principal.userID, ownerName: principal.name, request: request, audience: sent.audience, next: next)
        let key = try await checkedKey(idempotencyKey, of: asked)
        let field = request.sendAt == nil ? "localTime" : "sendAt"
        let checked = Result {
            try SendRequestCheck(request: notification, now: due).check()
            _ = try cap(of: notification)
            guard next != nil || request.hasNoTime else { throw SendRequestCheck.wrong(field, "a moment in the future") }
            guard due - now < Self.horizon else { throw SendRequestCheck.wrong(field, "at most two years ahead") }
        }
        return (draft, key, checked)
    }

    /// When it is due. A proposal without a time is due when it is approved, for which now stands here.
    private func timing(
        of request: ScheduleRequest, at now: Timestamp
    ) throws -> (timing: ScheduleTiming, next: ScheduleOccurrence?) {
        guard request.approval == true, request.hasNoTime else {
            let timing = try ScheduleTiming(request, zones: parts.zones)
            return (timing, timing.first(after: now))
        }
        var timed = request
        timed.sendAt = now
        return (try ScheduleTiming(timed, zones: parts.zones), nil)
    }

    private static func checkLifetime(of request: ScheduleRequest, _ timing: ScheduleTiming) throws(ServiceError) {
        let moment = request.notification.expiresAt
        if let seconds = request.expiresAfterSeconds {
            guard (60...366 * 86_400).contains(seconds) else {
                throw SendRequestCheck.wrong("expiresAfterSeconds", "a number from 60 to 31622400")
            }
            guard moment == nil else {
                throw SendRequestCheck.wrong("expiresAfterSeconds", "absent beside notification.expiresAt")
            }
        }
        if timing.recurs, moment != nil {
            throw ServiceError(.invalidField, "notification.expiresAt: with repeat, use expiresAfterSeconds")
        }
    }

    /// Stores what the server writes of links and coupons: once, so that nothing is left to store when it is due.
    private func withWrittenContent(_ draft: ScheduleDraft, for principal: Principal) async throws -> ScheduleDraft {
        var draft = draft
        draft.request.notification = try await withWrittenContent(draft.request.notification, for: principal)
        return draft
    }

    private func checkedKey(_ key: String?, of request: ScheduleRequest) async throws -> IdempotencyKey? {
        guard key != nil else { return nil }
        var timing = request
        timing.notification = SendRequest(message: "")
        func stored(_ id: String?) async throws -> ContentRecord? {
            guard let id else { return nil }
            return try await parts.store.content(id, at: parts.clock.now)
        }
        return try checkedKey(
            key, form: "schedule \(try timing.storedText)", request: request.notification,
            content: try await stored(request.notification.contentID), thumb: try await stored(request.notification.thumbID))
    }

    /// The schedule as callers see it.
    private func shown(_ schedule: Schedule) -> ScheduleStatus {
        var request = schedule.draft.request
        request.notification = request.notification.withoutWrittenContent
        request.notification.audience = "\(schedule.draft.audience)"
        var next = schedule.draft.next.map { [$0] } ?? []
        let timing = try? ScheduleTiming(request, zones: parts.zones)
        if let first = next.first, let timing { next += timing.occurrences(from: first.number + 1).prefix(4) }
        var status = ScheduleStatus(
            id: schedule.id, revision: schedule.revision, state: schedule.state.rawValue, sender: schedule.draft.ownerName.text,
            createdAt: schedule.createdAt, request: request, next: next.map(\.dueAt), sent: schedule.sent,
            missed: schedule.missed, lastSend: schedule.lastSend, fault: schedule.fault)
        status.approvedBy = schedule.approvedBy
        if let timing, timing.isByDevice { status.nextLocal = next.compactMap(timing.deviceTime) }
        return status
    }
}

extension ScheduleRequest {
    /// Whether it does not say when it is due.
    var hasNoTime: Bool { sendAt == nil && localTime == nil }

    /// What is sent when it is due at this moment.
    func notification(dueAt: Timestamp) -> SendRequest {
        var request = notification
        if let expiresAfterSeconds { request.expiresAt = dueAt + .seconds(expiresAfterSeconds) }
        return request
    }
}
