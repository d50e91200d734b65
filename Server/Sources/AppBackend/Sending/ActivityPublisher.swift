import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions

/// Hands to the hub what changed of Live Activities: a start, the newest state, the end.
///
/// Every node does this. A claim keeps two from sending the same; one that a crash leaves behind runs out. Of changes within a second only
/// the newest is sent.
struct ActivityPublisher {
    /// The shortest time between two pushes of an activity: Apple orders them by whole seconds (Reference/LiveActivities.md#2-3).
    static let pace: Duration = .seconds(1)
    private static let claim: Duration = .seconds(60)
    private static let batch = 100
    /// So many late devices get one send: with the tag of the activity, an expression has room for no more.
    private static let lateTogether = TagExpressionLimits.tags - 1
    private static let pause: Duration = .seconds(5)
    /// A start that comes later than this is worth nothing.
    private static let startLife: Duration = .seconds(600)
    private static let endLife: Duration = .seconds(12 * 3600)
    /// For so long an update waits until the one before has left to all.
    private static let longestWait: Duration = .seconds(30)

    let parts: BackendParts

    /// When the push after one with this stamp may leave. A stamp of a clock that was ahead does not delay it.
    static func nextPush(after stamp: Int64, at now: Timestamp) -> Timestamp {
        min(max(now, Timestamp(seconds: stamp) + pace), now + pace)
    }

    /// Publishes what is due without a channel, at most a batch; returns how many pieces were tried. A request that has just changed one
    /// takes fewer, so that it does not wait for the work of others.
    func publishDue(limit: Int = batch) async throws -> Int {
        let now = parts.clock.now
        let claims = try await claims(onChannels: false, at: now, limit: limit)
        for claim in claims {
            do { try await publish(Self.budgeted(claim, at: now)) } catch { try await note(error, of: claim) }
        }
        let late = try await parts.store.claimCatchUps(at: now, until: now + Self.pause, limit: limit)
        for (activity, devices) in Dictionary(grouping: late, by: \.activity) {
            // What fails is due again when the claim runs out.
            do { try await catchUp(devices, with: activity) } catch { Self.report(error, activity: activity, parts) }
        }
        return max(claims.count, late.count)
    }

    /// Publishes what is due on channels, at most `limit` at a time; returns how many pieces went well.
    func publishOnChannels(limit: Int) async throws -> Int {
        let claims = try await claims(onChannels: true, at: parts.clock.now, limit: limit)
        return try await withThrowingTaskGroup { group in
            for claim in claims {
                group.addTask {
                    do { try await publishOnChannel(Self.budgeted(claim, at: parts.clock.now)) } catch {
                        try await note(error, of: claim)
                        return 0
                    }
                    return 1
                }
            }
            return try await group.reduce(0, +)
        }
    }

    private func claims(onChannels: Bool, at now: Timestamp, limit: Int) async throws -> [ActivityClaim] {
        try await parts.store.claimActivities(onChannels: onChannels, at: now, until: now + Self.claim, limit: limit)
    }

    /// What the budget of the activity makes of an update that is to be urgent. Its start and its end always are.
    private static func budgeted(_ claim: ActivityClaim, at now: Timestamp) -> ActivityClaim {
        var claim = claim
        let activity = claim.activity
        let isUpdate = activity.phase == .active && activity.published > 0
        if isUpdate, activity.draft.content.priority == 10, !claim.activity.budget.spend(at: now) {
            claim.activity.draft.content.priority = 5
        }
        return claim
    }

    /// One request, whatever the number of followers.
    private func publishOnChannel(_ claim: ActivityClaim) async throws {
        let activity = claim.activity
        let channel = try await parts.store.channel(activity.draft.channel ?? 0)
        guard let channels = parts.channels, let channel else {
            throw ServiceError(.notFound, "the channel of the activity was removed")
        }
        let begins = activity.phase == .active && activity.published == 0
        if activity.phase == .ended, let start = activity.startSend { _ = try await parts.hub.cancel(start) }
        // A channel that keeps the latest push may still have that of an earlier activity. Where the first state has changed, devices may
        // have begun with it: by a start before a crash, or by themselves.
        if !begins || channel.draft.keepsLatest || activity.revision > 1 {
            try await channels.publish(try push(activity, on: channel, begins: begins))
        }
        let start =
            begins && activity.draft.startsByPush
            ? try await sendStart(activity, channel: channel.draft.apnsChannel) : activity.startSend
        try await parts.store.publish(claim, startSend: start, updateSend: nil, at: parts.clock.now)
    }

    private func push(_ activity: LiveActivity, on channel: ActivityChannel, begins: Bool) throws -> ChannelPush {
        var activity = activity
        if begins { activity.draft.content.alert = nil }
        let keeps = channel.draft.keepsLatest
        return ChannelPush(
            channel: channel.draft.apnsChannel, body: try ActivityPayload(activity: activity).update,
            priority: begins ? 5 : Self.priority(of: activity), expiresAt: keeps ? expiry(of: activity) : nil)
    }

    private func publish(_ claim: ActivityClaim) async throws {
        let activity = claim.activity
        var (start, update) = (activity.startSend, activity.updateSend)
        if activity.phase == .active, activity.published == 0 {
            start = activity.draft.startsByPush ? try await sendStart(activity) : nil
        } else {
            if activity.phase == .active, try await isUnderWay(update) {
                // Taking its place each time, updates faster than a send would never reach the last devices.
                return try await parts.store.postponeActivity(claim, until: parts.clock.now + Self.pace, fault: nil)
            }
            // What it has not sent yet says less than this.
            for former in [activity.phase == .ended ? start : nil, update].compactMap(\.self) {
                _ = try await parts.hub.cancel(former)
            }
            update = try await send(
                activity, to: try Self.followers(of: activity), key: "activity \(activity.id) \(activity.stamp)")
        }
        try await parts.store.publish(claim, startSend: start, updateSend: update, at: parts.clock.now)
    }

    private func isUnderWay(_ send: NotificationID?) async throws -> Bool {
        guard let send, let telemetry = try await parts.hub.telemetry(of: send), !telemetry.state.isFinal else { return false }
        // A clock that was ahead makes no longer wait.
        return (.zero - Self.longestWait..<Self.longestWait).contains(parts.clock.now - telemetry.enqueuedAt)
    }

    /// Under one key, so that a node that does not know whether an earlier try arrived starts nothing twice.
    private func sendStart(_ activity: LiveActivity, channel: String? = nil) async throws -> NotificationID {
        let key = "activity \(activity.id) start"
        let now = parts.clock.now
        // A start that comes after the state is stale still has a life, or the hub would refuse it again and again.
        let expiry = max(min(activity.draft.content.staleAt ?? activity.endsAt, now + Self.startLife), now + Self.pace)
        var command = SendCommand(
            message: PushMessage(
                body: try ActivityPayload(activity: activity, channel: channel).start, pushType: "liveactivity", priority: 10,
                expiresAt: expiry),
            audience: activity.draft.audience, idempotencyKey: key)
        command.format = .native(InstallationToken.Kind.activityStart(type: activity.draft.attributesType).platform)
        return try await sendOnce(command, key: key)
    }

    /// What was taken under the key is sent, even if it says something else, such as another expiry.
    private func sendOnce(_ command: SendCommand, key: String) async throws -> NotificationID {
        do {
            return try await parts.hub.send(command).id
        } catch let error as ServiceError where error.code == .idempotencyMismatch {
            guard let earlier = try await parts.hub.notification(idempotencyKey: key) else { throw error }
            return earlier
        }
    }

    private func send(_ activity: LiveActivity, to audience: TagExpression, key: String) async throws -> NotificationID {
        var command = SendCommand(
            message: PushMessage(
                body: try ActivityPayload(activity: activity).update, pushType: "liveactivity",
                priority: Self.priority(of: activity),
                collapseID: "activity-\(activity.id)", expiresAt: expiry(of: activity)),
            audience: audience, idempotencyKey: key)
        command.format = .native(InstallationToken.Kind.activity(id: "").platform)
        return try await sendOnce(command, key: key)
    }

    private static func priority(of activity: LiveActivity) -> Int {
        activity.phase == .ended ? 10 : activity.draft.content.priority
    }

    private func expiry(of activity: LiveActivity) -> Timestamp {
        let now = parts.clock.now
        if let endedAt = activity.endedAt { return max(endedAt + Self.endLife, now + Self.pace) }
        return max(activity.draft.content.staleAt ?? activity.endsAt, now + Self.pace)
    }

    private func catchUp(_ devices: [ActivityCatchUp], with id: Int64) async throws {
        if var activity = try await parts.store.activity(id) {
            // Before its next push has left, it is not known whether that reaches these devices as well.
            guard activity.published == activity.revision else { return }
            activity.draft.content.alert = nil
            // Beside the budget of urgent updates.
            activity.draft.content.priority = 5
            for first in stride(from: 0, to: devices.count, by: Self.lateTogether) {
                try await send(activity, toLate: devices[first..<min(first + Self.lateTogether, devices.count)])
            }
        }
        try await parts.store.endCatchUps(devices)
    }

    /// Under a key that the same devices have again if a node ends before it has noted this. In other company they may get it twice, and
    /// nothing changes on them.
    private func send(_ activity: LiveActivity, toLate devices: ArraySlice<ActivityCatchUp>) async throws {
        guard let these = TagExpression.any(try devices.map { try Self.only($0.record) }) else { return }
        // Marks are numbers by chance, and so is their sum.
        let mark = devices.reduce(Int64(0)) { $0 &+ $1.mark }
        _ = try await send(
            activity, to: .and(try Self.followers(of: activity), these), key: "activity \(activity.id) \(activity.stamp) \(mark)")
    }

    private static func followers(of activity: LiveActivity) throws(ServiceError) -> TagExpression {
        guard let tag = InstallationToken.Kind.tag(ofActivity: "\(activity.id)") else { throw ServiceError(.internal) }
        return .tag(tag)
    }

    private static func only(_ record: RecordID) throws(ServiceError) -> TagExpression {
        guard let tag = Tag.addressedInstallation(record.text) else { throw ServiceError(.internal) }
        return .tag(tag)
    }

    private func note(_ error: any Error, of claim: ActivityClaim) async throws {
        if error is CancellationError { throw error }
        Self.report(error, activity: claim.activity.id, parts)
        let fault = (error as? ServiceError).map { $0.detail ?? $0.code.rawValue } ?? ServiceError(.internal).code.rawValue
        let pause = Self.pause + .milliseconds(Int64.random(in: 0...1_000))
        // What can never leave waits for another change.
        let isFinal = (error as? ServiceError)?.isFinalRefusal ?? false
        try await parts.store.postponeActivity(claim, until: isFinal ? nil : parts.clock.now + pause, fault: fault)
    }

    private static func report(_ error: any Error, activity: Int64, _ parts: BackendParts) {
        let code = (error as? ServiceError)?.code ?? .internal
        parts.logger.warning(
            "A push of a Live Activity is put off", metadata: ["activity_id": "\(activity)", "error_code": "\(code.rawValue)"])
    }
}
