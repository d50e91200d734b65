import RichPushModel
import ServiceErrors
import TagExpressions

extension NotificationHub {
    public func send(_ command: SendCommand) async throws -> SendReceipt {
        let idempotency = try idempotency(of: command)
        if let idempotency, let earlier = try await stores.intake.earlier(idempotency, in: id) {
            // Before every other check: a repeat is answered as the first time, even when its expiry has passed since.
            return try receipt(earlier, for: nil)
        }
        let send = try await checked(command, idempotency)
        let answer = try await stores.intake.accept(send)
        if answer == .accepted {
            observer?.accepted(send)
            signal.announce()
        }
        return try receipt(answer, for: send)
    }

    /// All checks, and the size of the audience. Throws `ServiceError`.
    private func checked(_ command: SendCommand, _ idempotency: AcceptedSend.Idempotency?) async throws -> AcceptedSend {
        let now = clock.now
        let notification = NotificationID()
        let dueAt = try dueAt(command, now)
        if let zones = command.zones { try check(zones, of: command, now) }
        let check = MessageCheck(now: now, dueAt: dueAt, fillsCollapseID: settings.fillsCollapseID, limits: settings.limits)
        let message = try check.accepted(command, id: notification)
        let recipients = try checked(command.recipients, command.format)
        if let pace = command.pushesPerSecond, !SendCommand.paceRange.contains(pace) {
            throw ServiceError(.invalidField, "pushesPerSecond: it must be a whole number from 1 to 100000")
        }
        guard command.cap == nil || recipients.handles == nil else {
            throw ServiceError(.invalidField, "a frequency cap is for a send to an audience: a device token has no user")
        }
        let plan = try await plan(recipients, command, isScheduled: dueAt > now)
        var send = AcceptedSend(
            hub: id, id: notification, message: message, recipients: recipients, enqueuedAt: now, dueAt: dueAt,
            slices: plan.slices, pushesPerSecond: command.pushesPerSecond, idempotency: idempotency)
        send.targets = plan.targets
        send.query = plan.query
        send.waves = plan.waves
        send.others = plan.others
        send.cap = command.cap
        send.split = command.split
        send.reportsOutcomes = command.reportsOutcomes && recipients.handles == nil
        return send
    }

    /// How a send is found and cut into slices.
    private struct DispatchPlan {
        var slices: SlicePlan
        var targets: Int?
        var query: AudienceQuery?
        var waves: [SendWave] = []
        var others: [PlatformPart] = []
    }

    private func plan(_ recipients: SendRecipients, _ command: SendCommand, isScheduled: Bool) async throws -> DispatchPlan {
        if let handles = recipients.handles {
            return DispatchPlan(slices: SlicePlan(handles: handles.count), targets: handles.count)
        }
        let audience = try await stores.intake.compile(
            recipients.audience, in: id, limit: SlicePlan.singleSliceLimit + 1,
            counting: command.hasPlatformParts ? Platform.known.compactMap(\.indexEntry) : [])
        let others = Self.others(
            of: command, audience, recipients.audience, isScheduled: isScheduled || command.zones?.isDueEverywhere == false)
        let pace = others.rest(of: command.pushesPerSecond)
        let slices = SlicePlan(audience: audience.size, isScheduled: isScheduled, pushesPerSecond: pace)
        if let zones = command.zones, !zones.isDueEverywhere {
            let waves = try await waves(zones, of: audience, recipients.audience, pace: pace)
            return DispatchPlan(slices: slices, query: audience.query, waves: waves, others: others)
        }
        let isCounted = !isScheduled && audience.size <= SlicePlan.singleSliceLimit
        let targets = isCounted ? try await targets(of: command, audience, others) : nil
        return DispatchPlan(slices: slices, targets: targets, query: audience.query, others: others)
    }

    /// How many devices the send is for. The index that `audience` was counted by also has records that it does not mean, such as the
    /// tokens of Live Activities.
    private func targets(
        of command: SendCommand, _ audience: CompiledAudience, _ others: [PlatformPart]
    ) async throws -> Int {
        guard audience.size > 0 else { return 0 }
        let parts = command.format == .template ? [] : others.map { SendFormat.native($0.platform) }
        return try await stores.intake.targets(of: audience.query, as: [command.format] + parts, in: id, at: clock.now)
    }

    /// The parts of a send that go to the devices of other platforms, where there are any. A scheduled send may meet some that come later.
    static func others(
        of command: SendCommand, _ audience: CompiledAudience, _ expression: TagExpression?, isScheduled: Bool
    ) -> [PlatformPart] {
        guard command.hasPlatformParts else { return [] }
        let parts = Platform.known.compactMap { platform -> (platform: Platform, entry: String, known: Int)? in
            guard let entry = platform.indexEntry, case let known = audience.entrySizes[entry] ?? 0 else { return nil }
            return known > 0 && audience.size > 0 || isScheduled ? (platform, entry, known) : nil
        }
        return parts.map { platform, entry, known in
            let size = min(audience.size, known)
            // All sizes are upper bounds, so the guesses leave Apple's devices at least half of the pace.
            let pace = command.pushesPerSecond.map { pace in
                max(1, min(max(pace * size / max(audience.size, 1), pace / 10), pace / 2 / parts.count))
            }
            // The smaller of the two covers is read. Of few tags all are compared; an audience of more is read as a whole.
            let isSmall = audience.size <= min(known, SlicePlan.singleSliceLimit)
            let query = isSmall ? audience.query : AudienceQuery(expression, amongAnyOf: [entry]) ?? audience.query
            return PlatformPart(
                platform: platform, query: query,
                slices: SlicePlan(audience: size, isScheduled: isScheduled, pushesPerSecond: pace), pushesPerSecond: pace)
        }
    }

    /// Throws `ServiceError` for recipients that no send can have; takes repeats out.
    func checked(_ recipients: SendRecipients, _ format: SendFormat) throws -> SendRecipients {
        switch recipients {
        case .everyone: return recipients
        case .matching(let expression):
            do throws(TagExpressionError) {
                try expression.checkLimits()
            } catch {
                throw ServiceError(.invalidAudience, error.description)
            }
            return recipients
        case .handles(let handles):
            guard case .native(let platform) = format else {
                throw ServiceError(.invalidField, "a send to handles is of one platform; a handle has no templates")
            }
            guard (1...settings.limits.handles).contains(handles.count) else {
                throw ServiceError(.invalidField, "a send goes to 1 to \(settings.limits.handles) handles")
            }
            var seen: Set<DeviceToken> = []
            // A malformed handle stays in the list and counts as a bad token, so that the valid ones get their push.
            let known = handles.map { DeviceToken($0.text, platform: platform) ?? DeviceToken(malformed: $0.text) }
            return .handles(known.filter { seen.insert($0).inserted })
        }
    }

    private func dueAt(_ command: SendCommand, _ now: Timestamp) throws -> Timestamp {
        if let zones = command.zones { return max(zones.first, now) }
        guard let dueAt = command.dueAt, dueAt > now else { return now }
        guard dueAt <= now + settings.scheduleHorizon else {
            let seconds = settings.scheduleHorizon.components.seconds
            let words = seconds.isMultiple(of: 86_400) ? "\(seconds / 86_400) days" : "\(seconds) seconds"
            throw ServiceError(.invalidField, "a send cannot be scheduled more than \(words) ahead")
        }
        return dueAt
    }

    private func idempotency(of command: SendCommand) throws -> AcceptedSend.Idempotency? {
        guard let key = command.idempotencyKey else { return nil }
        try Self.check(idempotencyKey: key)
        return AcceptedSend.Idempotency(key: key, digest: command.digest)
    }

    static func check(idempotencyKey key: String) throws {
        guard (1...128).contains(key.utf8.count), key.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw ServiceError(.invalidHeader, "an idempotency key has 1 to 128 printable ASCII characters")
        }
    }

    private func receipt(_ answer: IntakeAnswer, for send: AcceptedSend?) throws -> SendReceipt {
        switch answer {
        case .accepted:
            guard let send else { throw ServiceError(.internal, "a repeat cannot be accepted") }
            return SendReceipt(id: send.id, dueAt: send.dueAt, isRepeat: false, targets: send.targets)
        case .repeated(let id, let dueAt):
            return SendReceipt(id: id, dueAt: dueAt, isRepeat: true)
        case .mismatch:
            throw ServiceError(.idempotencyMismatch, "the idempotency key was used before for another content")
        }
    }
}

/// Wakes the dispatcher of this process when there may be work. Losing a call costs a poll interval, nothing else.
public final class DispatchSignal: Sendable {
    /// One element per call, calls in a row merged. For one reader.
    public let wakes: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    /// One element per call of `announce`, calls in a row merged. For one reader, which may notify other nodes.
    public let announcements: AsyncStream<Void>
    private let announcing: AsyncStream<Void>.Continuation

    /// Creates a signal, to be shared by hub and dispatcher.
    public init() {
        (wakes, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (announcements, announcing) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Says that this process accepted work, which any node may do.
    public func announce() {
        wake()
        announcing.yield()
    }

    /// Says that there may be work.
    public func wake() { continuation.yield() }
}
