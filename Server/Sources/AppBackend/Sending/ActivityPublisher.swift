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
    private static let pause: Duration = .seconds(5)
    /// A start that comes later than this is worth nothing.
    private static let startLife: Duration = .seconds(600)
    private static let endLife: Duration = .seconds(12 * 3600)

    let parts: BackendParts

    /// Publishes what is due, at most a batch; returns how many pieces were tried. A request that has just changed one takes fewer, so that
    /// it does not wait for the work of others.
    func publishDue(limit: Int = batch) async throws -> Int {
        let now = parts.clock.now
        let claims = try await parts.store.claimActivities(at: now, until: now + Self.claim, limit: limit)
        for claim in claims {
            do { try await publish(claim) } catch { try await note(error, of: claim) }
        }
        let late = try await parts.store.claimCatchUps(at: now, until: now + Self.pause, limit: limit)
        for device in late {
            // What fails is due again when the claim runs out.
            do { try await catchUp(device) } catch { Self.report(error, activity: device.activity, parts) }
        }
        return max(claims.count, late.count)
    }

    private func publish(_ claim: ActivityClaim) async throws {
        let activity = claim.activity
        var (start, update) = (activity.startSend, activity.updateSend)
        if activity.phase == .active, activity.published == 0 {
            start = activity.draft.startsByPush ? try await sendStart(activity) : nil
        } else {
            // What it has not sent yet says less than this.
            for former in [activity.phase == .ended ? start : nil, update].compactMap(\.self) {
                _ = try await parts.hub.cancel(former)
            }
            update = try await send(
                activity, to: try Self.followers(of: activity), key: "activity \(activity.id) \(activity.stamp)")
        }
        try await parts.store.publish(claim, startSend: start, updateSend: update, at: parts.clock.now)
    }

    /// Under one key, so that a node that does not know whether an earlier try arrived starts nothing twice.
    private func sendStart(_ activity: LiveActivity) async throws -> NotificationID {
        let key = "activity \(activity.id) start"
        let now = parts.clock.now
        // A start that comes after the state is stale still has a life, or the hub would refuse it again and again.
        let expiry = max(min(activity.draft.content.staleAt ?? activity.endsAt, now + Self.startLife), now + Self.pace)
        var command = SendCommand(
            message: PushMessage(
                body: try ActivityPayload(activity: activity).start, pushType: "liveactivity", priority: 10, expiresAt: expiry),
            audience: activity.draft.audience, idempotencyKey: key)
        command.format = .native(InstallationToken.Kind.activityStart(type: activity.draft.attributesType).platform)
        do {
            return try await parts.hub.send(command).id
        } catch let error as ServiceError where error.code == .idempotencyMismatch {
            guard let earlier = try await parts.hub.notification(idempotencyKey: key) else { throw error }
            return earlier
        }
    }

    private func send(_ activity: LiveActivity, to audience: TagExpression, key: String) async throws -> NotificationID {
        let (now, content) = (parts.clock.now, activity.draft.content)
        let isOver = activity.phase == .ended
        let expiry = isOver ? now + Self.endLife : max(content.staleAt ?? activity.endsAt, now + Self.pace)
        var command = SendCommand(
            message: PushMessage(
                body: try ActivityPayload(activity: activity).update, pushType: "liveactivity",
                priority: isOver ? 10 : content.priority, collapseID: "activity-\(activity.id)", expiresAt: expiry),
            audience: audience, idempotencyKey: key)
        command.format = .native(InstallationToken.Kind.activity(id: "").platform)
        return try await parts.hub.send(command).id
    }

    private func catchUp(_ device: ActivityCatchUp) async throws {
        if var activity = try await parts.store.activity(device.activity) {
            // Before its next push has left, it is not known whether that reaches this device as well.
            guard activity.published == activity.revision else { return }
            activity.draft.content.alert = nil
            let only = try Self.only(device.record)
            _ = try await send(
                activity, to: .and(try Self.followers(of: activity), only),
                key: "activity \(activity.id) \(activity.stamp) \(device.mark)")
        }
        try await parts.store.endCatchUp(device)
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
        try await parts.store.postponeActivity(claim, until: parts.clock.now + pause, fault: fault)
    }

    private static func report(_ error: any Error, activity: Int64, _ parts: BackendParts) {
        let code = (error as? ServiceError)?.code ?? .internal
        parts.logger.warning(
            "A push of a Live Activity is put off", metadata: ["activity_id": "\(activity)", "error_code": "\(code.rawValue)"])
    }
}
