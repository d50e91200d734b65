import AuditTrail
import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions

extension RichPushBackend {
    /// The most activities of a page of a list.
    public static let activityPageLimit = 100
    /// How many pieces of due work a request does.
    private static let publishedAtOnce = 10
    /// How often a change is tried when other changes come first.
    private static let changeLimit = 10

    /// Starts a Live Activity on the devices of an audience, and keeps it in step from then on. With an idempotency key a retry of the same
    /// request gets the first answer.
    ///
    /// Throws `invalid-field`, `invalid-audience`, `payload-too-large`, `forbidden`, `approval-required`, `quota-exceeded`; `conflict`
    /// where the hub is elsewhere, and for a channel that carries another activity; what APNs says of a new channel.
    public func startActivity(
        _ request: ActivityRequest, idempotencyKey: String? = nil, for principal: Principal
    ) async throws -> ActivityStatus {
        try principal.require(.send)
        let audience = try AudienceRule(principal: principal).audience(of: request.audience)
        let key = try checkedKey(
            idempotencyKey, form: "activity \(try request.storedText)", request: SendRequest(message: ""), content: nil,
            thumb: nil)
        // A retry that arrives when one of its moments has passed still gets its answer.
        if let key, let earlier = try await parts.store.activity(repeating: key, of: principal.userID) {
            return try await shown(earlier)
        }
        guard parts.hub.decidesForDevices else {
            throw ServiceError(.conflict, "the hub elsewhere knows no tokens of Live Activities")
        }
        let now = parts.clock.now
        try ActivityCheck(now: now).check(request)
        var draft = ActivityDraft(
            owner: principal.userID, ownerName: principal.name, attributesType: request.attributesType,
            attributes: request.attributes ?? .object([:]), startsByPush: request.start != "app", audience: audience,
            content: ActivityContent(
                state: request.state, alert: request.alert, staleAt: request.staleAt, relevance: request.relevance, priority: 10))
        try ActivityCheck(now: now).checkSize(of: draft, isOnChannel: request.channel != nil || request.delivery == "channel")
        try await checkReplaced(by: draft, for: principal)
        try await requireApproval(of: audience, for: principal)
        try countSend(of: principal)
        let entry = principal.entry(
            .activityStarted, at: now, details: "type=\(request.attributesType) audience=\(audience)")
        draft.channel = try await channel(of: request, for: principal)?.id
        let activity: LiveActivity
        do {
            activity = try await parts.store.addActivity(draft, key: key, at: now, audit: entry)
        } catch {
            await giveUpChannel(of: draft, made: request.channel == nil)
            throw error
        }
        // The same request may have been faster, with a channel of its own.
        if activity.draft.channel != draft.channel { await giveUpChannel(of: draft, made: request.channel == nil) }
        await publishActivities()
        return try await shown(try await parts.store.activity(activity.id) ?? activity)
    }

    /// A device ends what it is named to replace, so that has to be the caller's.
    private func checkReplaced(by draft: ActivityDraft, for principal: Principal) async throws {
        guard let value = draft.attributes.members?[ActivityKey.replaces], value != .null else { return }
        guard let id = value.wholeNumber, try await parts.store.activity(id)?.draft.owner == principal.userID else {
            throw ServiceError(
                .invalidField, "attributes.\(ActivityKey.replaces): it must be the number of an activity of yours")
        }
    }

    /// Removes a channel that was made for an activity and is not used. If this fails, it goes when its time has passed.
    private func giveUpChannel(of draft: ActivityDraft, made: Bool) async {
        guard made, let channel = draft.channel else { return }
        try? await parts.store.retireChannel(channel, at: parts.clock.now, audit: nil)
        channelSignal.wake()
    }

    /// The channel that an activity is to live on: one of the caller's, a new one, or none.
    private func channel(of request: ActivityRequest, for principal: Principal) async throws -> ActivityChannel? {
        if let id = request.channel {
            return try await ownChannel(id, extent: try principal.require(.readSends), for: principal)
        }
        return request.delivery == "channel" ? try await channelForActivity(of: principal) : nil
    }

    /// Changes an active one of the caller's, or ends it with a last state. Of changes within a second devices get the newest. A repeat of one
    /// of the last changes with its idempotency key changes nothing.
    ///
    /// Throws `not-found` for any other, `conflict` for one that has ended, `idempotency-mismatch`, `invalid-field` and `payload-too-large`.
    public func changeActivity(
        _ id: Int64, _ change: ActivityChange, idempotencyKey: String? = nil, for principal: Principal
    ) async throws -> ActivityStatus {
        try principal.require(.send)
        let now = parts.clock.now
        let key = try checkedKey(
            idempotencyKey, form: "activity \(id) \(try change.storedText)", request: SendRequest(message: ""), content: nil,
            thumb: nil)
        // A push has a state in any case: without a new one it is the last.
        guard change.state != nil || change.alert != nil || change.staleAt != nil || change.relevance != nil || change.end == true
        else {
            throw ServiceError(
                .invalidField, "the body: it must have a state, an alert, staleAt, relevance, or \"end\": true")
        }
        guard change.dismissAt == nil || change.end == true else {
            throw ServiceError(.invalidField, "dismissAt: it must come with \"end\": true")
        }
        try countSend(of: principal)
        return try await revise(id, of: principal, phase: change.end == true ? .ended : .active, at: now, key: key) { activity in
            // An alert that has not left yet is still news.
            let stored = activity.draft.content
            let alert = change.alert ?? stored.alert
            // One that has passed would show what is new as out of date, and an end is never out of date. A device has it in whole seconds.
            let staleAt = change.end == true ? nil : stored.staleAt.flatMap { Timestamp(seconds: $0.seconds) > now ? $0 : nil }
            var content = ActivityContent(
                state: change.state ?? stored.state, alert: alert, staleAt: change.staleAt ?? staleAt,
                relevance: change.relevance ?? stored.relevance,
                priority: change.priority ?? (alert == nil ? 5 : 10), dismissAt: change.dismissAt)
            content.keep(key, beside: stored.changeKeys)
            try ActivityCheck(now: now).check(content)
            var draft = activity.draft
            draft.content = content
            try ActivityCheck(now: now).checkSize(of: draft, isOnChannel: draft.channel != nil)
            return content
        }
    }

    /// Ends one of the caller's (an admin: any) with the state that it has. One that has ended stays as it is. Throws `not-found`.
    public func endActivity(_ id: Int64, for principal: Principal) async throws {
        let extent = try principal.require(.recall)
        guard let found = try await parts.store.activity(id), extent == .all || found.draft.owner == principal.userID else {
            throw Self.noActivity
        }
        _ = try await revise(id, of: nil, phase: .ended, at: parts.clock.now, entry: principal) { activity in
            var content = activity.draft.content
            (content.staleAt, content.alert) = (nil, nil)
            return content
        }
    }

    private func revise(
        _ id: Int64, of principal: Principal?, phase: LiveActivity.Phase, at now: Timestamp, entry actor: Principal? = nil,
        key: IdempotencyKey? = nil, isPaced: Bool = true, _ content: (LiveActivity) throws -> ActivityContent
    ) async throws -> ActivityStatus {
        let entry = phase == .ended ? (principal ?? actor)?.entry(.activityEnded, at: now, object: "\(id)") : nil
        for _ in 0..<Self.changeLimit {
            guard let found = try await parts.store.activity(id),
                principal.map({ $0.userID == found.draft.owner }) ?? true
            else { throw Self.noActivity }
            if let key, try found.draft.content.isRepeated(key) { return try await shown(found) }
            guard found.phase == .active else {
                // Of an end alone nothing is left to do.
                guard principal != nil else { return try await shown(found) }
                throw ServiceError(.conflict, "this activity has ended")
            }
            let due = isPaced ? ActivityPublisher.nextPush(after: found.stamp, at: now) : now
            let changed = try await parts.store.changeActivity(
                id, revision: found.revision, to: try content(found), phase: phase, due: due, at: now, audit: entry)
            guard let changed else { continue }
            if due <= now { await publishActivities() }
            return try await shown(try await parts.store.activity(id) ?? changed)
        }
        throw ServiceError(.conflict, "this activity is being changed by others; try again")
    }

    /// Ends all that a user started, when the user is erased.
    func endActivities(of user: User) async throws {
        var below: Int64?
        repeat {
            let page = try await parts.store.activities(of: user.id, below: below, limit: Self.activityPageLimit)
            for activity in page where activity.phase == .active {
                // The activity goes with the user, so its end leaves now.
                _ = try await revise(activity.id, of: nil, phase: .ended, at: parts.clock.now, isPaced: false) {
                    $0.draft.content
                }
            }
            below = page.last?.id
        } while below != nil
        // Enough rounds for all activities of one user. Those of others that are due at the same time may take places in them.
        for _ in 0...LiveActivity.limit / Self.activityPageLimit {
            guard try await ActivityPublisher(parts: parts).publishOnChannels(limit: Self.activityPageLimit) > 0 else { break }
        }
    }

    /// Sends at once what is due. What fails is due for the upkeep of any node, and what goes over a channel is the upkeep's anyway.
    private func publishActivities() async {
        channelSignal.wake()
        do { _ = try await ActivityPublisher(parts: parts).publishDue(limit: Self.publishedAtOnce) } catch {
            let code = (error as? ServiceError)?.code ?? .internal
            parts.logger.warning("A Live Activity is published later", metadata: ["error_code": "\(code.rawValue)"])
        }
    }
}

extension RichPushBackend {
    /// One activity of the caller; for a caller who may read all sends, any activity. Throws `not-found`.
    public func activity(_ id: Int64, for principal: Principal) async throws -> ActivityStatus {
        let extent = try principal.require(.readSends)
        guard let found = try await parts.store.activity(id), extent == .all || found.draft.owner == principal.userID else {
            throw Self.noActivity
        }
        return try await shown(found)
    }

    /// A page of the caller's activities, newest first; for a caller who may read all sends, of all activities. `limit` is clamped to
    /// 1 … 100, default 50. Throws `invalid-field` for a malformed cursor, and `not-found` for a sender whom the caller may not see.
    public func activities(
        sender: String? = nil, before: String? = nil, limit: Int? = nil, for principal: Principal
    ) async throws -> ActivityList {
        let limit = min(max(limit ?? 50, 1), Self.activityPageLimit)
        let below = try before.map(Self.numberCursor)
        let owner = try await self.sender(sender, for: principal)
        let found = try await parts.store.activities(of: owner, below: below, limit: limit + 1)
        let page = found.prefix(limit)
        let followers = try await parts.store.followers(of: page.map(\.id))
        // The list needs no hub: what became of the pushes stands with each activity.
        return ActivityList(
            activities: page.map { ActivityStatus($0, followers: followers[$0.id] ?? [:]) },
            next: found.count > limit ? page.last.map { "\($0.id)" } : nil)
    }

    private static let noActivity = ServiceError(.notFound, "there is no such activity")

    private func shown(_ activity: LiveActivity) async throws -> ActivityStatus {
        let followers = try await parts.store.followers(of: [activity.id])
        var status = ActivityStatus(activity, followers: followers[activity.id] ?? [:])
        if let channel = activity.draft.channel {
            status.apnsChannel = try await parts.store.channel(channel)?.draft.apnsChannel
        }
        let sends = [activity.startSend, activity.updateSend].compactMap(\.self)
        let telemetry = try await parts.hub.telemetry(of: sends) ?? [:]
        func outcomes(_ send: NotificationID?) -> [String: Int]? {
            send.flatMap { telemetry[$0] }?.outcomes.reduce(into: [:]) { $0[$1.key.rawValue] = $1.value }
        }
        (status.started, status.updated) = (outcomes(activity.startSend), outcomes(activity.updateSend))
        return status
    }
}

extension RichPushBackend {
    /// Takes what an installation of the caller knows of its tokens and Live Activities. Says which of these are over.
    ///
    /// Throws `not-found` unless the caller is signed in on it, `forbidden` for another installation than the credential's, and
    /// `invalid-field`.
    public func reportActivities(
        _ report: ActivityReport, of id: InstallationID, for principal: Principal
    ) async throws -> ActivityReportAnswer {
        try principal.require(.reportActivities)
        guard principal.installation == nil || principal.installation == id, let record = RecordID(id.text) else {
            throw ServiceError(.forbidden, "an installation credential is for its own installation only")
        }
        let checked = try Self.checked(report, at: parts.clock.now)
        let change = try await parts.begin(record)
        let over: [Int64]
        do {
            over = try await store(checked, of: record, for: principal)
        } catch let error as ServiceError where error.isFinalRefusal || error.code == .quotaExceeded {
            await parts.end(change)
            throw error
        }
        try await parts.synchronise(record, in: change)
        await publishActivities()
        return ActivityReportAnswer(ended: over.sorted())
    }

    private func store(_ report: DeviceActivities, of record: RecordID, for principal: Principal) async throws -> [Int64] {
        let over = try await parts.store.store(report, of: record, user: principal.userID, at: parts.clock.now)
        guard let over else { throw ServiceError(.notFound, "you are not signed in on this installation; register it first") }
        return over
    }

    private static func checked(_ report: ActivityReport, at now: Timestamp) throws(ServiceError) -> DeviceActivities {
        let count = report.startTokens.count + report.activities.count + (report.controlTokens?.count ?? 0) + 2
        guard count <= InstallationToken.limit else {
            throw ServiceError(.invalidField, "a report names at most \(InstallationToken.limit - 2) tokens and activities")
        }
        var tokens: [InstallationToken] = []
        func add(_ kind: InstallationToken.Kind, _ text: String, _ field: String) throws(ServiceError) {
            tokens.append(InstallationToken(kind, handle: try handle(text, field), reportedAt: now))
        }
        for (type, text) in report.startTokens {
            try requireName(type, "startTokens")
            try add(.activityStart(type: type), text, "startTokens")
        }
        if let text = report.widgetToken { try add(.widgets, text, "widgetToken") }
        for (name, text) in report.controlTokens ?? [:] {
            try requireName(name, "controlTokens")
            try add(.control(name), text, "controlTokens")
        }
        // A device may have a number twice, as after a start by push and one by the app; a refusal would hold back all other tokens.
        var entries: [Int64: DeviceActivities.Entry] = [:]
        for entry in report.activities { entries[entry.id] = try checked(entry) }
        return DeviceActivities(
            tokens: tokens, replacesControls: report.controlTokens != nil, permission: permission(in: report),
            activities: entries.values.sorted { $0.id < $1.id }, mark: DeviceChange.newMark(),
            systemVersion: try DeviceFacts.checked(report.systemVersion, "systemVersion"))
    }

    private static func permission(in report: ActivityReport) -> ActivityPermission? {
        report.enabled.map { $0 ? report.frequentUpdates == true ? .frequentUpdates : .rareUpdates : .off }
    }

    private static func checked(_ entry: ActivityReport.Entry) throws(ServiceError) -> DeviceActivities.Entry {
        guard ["active", "stale", "pending", "ended", "dismissed"].contains(entry.state) else {
            throw ServiceError(.invalidField, "activities.state: it is active, stale, pending, ended or dismissed")
        }
        let state = ActivityTokenState(rawValue: entry.state == "pending" ? "active" : entry.state)
        return DeviceActivities.Entry(
            id: entry.id, state: state,
            handle: try entry.token.map { text throws(ServiceError) in try handle(text, "activities.token") },
            revision: entry.revision)
    }

    private static func requireName(_ name: String, _ field: String) throws(ServiceError) {
        guard InstallationToken.Kind.isName(name) else {
            throw ServiceError(.invalidField, "\(field): a name has 1 to 100 letters, digits and . _ -")
        }
    }

    private static func handle(_ text: String, _ field: String) throws(ServiceError) -> DeviceToken {
        guard let handle = DeviceToken(text, platform: .apns) else {
            throw ServiceError(.invalidField, "\(field): a token is 1 to 200 bytes in hexadecimal")
        }
        return handle
    }
}

extension ActivityRequest: StoredAsText {}
extension ActivityChange: StoredAsText {}

extension ActivityStatus {
    /// What is stored of an activity.
    fileprivate init(_ activity: LiveActivity, followers: [String: Int]) {
        let (draft, content) = (activity.draft, activity.draft.content)
        self.init(
            id: activity.id, attributesType: draft.attributesType, state: content.state, audience: "\(draft.audience)",
            sender: draft.ownerName.text, phase: activity.phase.rawValue, revision: activity.revision,
            sentRevision: activity.published, createdAt: activity.createdAt, endsAt: activity.endsAt,
            followers: followers)
        (attributes, channel) = (draft.attributes, draft.channel)
        (staleAt, endedAt, fault) = (content.staleAt, activity.endedAt, activity.fault)
        demoted = activity.budget.demoted
    }
}
