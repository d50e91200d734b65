import AuditTrail
import CalendarTime
import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions

/// Hands stored notifications to the hub, under a key that makes it take each once however often this is called.
struct SendOutbox: Sendable {
    let parts: BackendParts

    /// Hands a notification over, unless the hub has it already; returns the hub's id.
    ///
    /// Throws the hub's refusal if it is final (the notification is refused then and cannot be read); else
    /// `outcome-unknown`: the notification stays stored and the upkeep hands it over later.
    func deliver(_ notification: RichNotification) async throws -> NotificationID {
        if let trackingID = notification.trackingID { return trackingID }
        if notification.isRefused { throw ServiceError(.conflict, "the hub refused this send") }
        guard notification.recalledAt == nil else { throw Self.recalled }
        guard let receipt = try await handOver(notification) else { throw RichPushBackend.unseen }
        let check = receipt.dueAt + Self.firstCheck
        let isWanted = try await confirmed {
            try await parts.store.markSent(notification.id, trackingID: receipt.id, check: check)
        }
        guard isWanted else {
            // Recalled between the two; the store has the cancellation as work if this fails.
            try? await cancel(notification.id)
            return receipt.id
        }
        parts.observer?.observed(
            .accepted(
                notification.id, trackingID: receipt.id, sender: notification.senderName, kind: notification.kind,
                style: notification.style, at: notification.dueAt))
        return receipt.id
    }

    /// Cancels a recalled notification at the hub. Without a tracking id it is unknown whether the hub took it or is about to:
    /// then the idempotency key is cancelled, and the hub refuses later sends under it.
    func cancel(_ id: RichID) async throws {
        var end: NotificationTelemetry?
        if let trackingID = try await parts.store.notification(id)?.trackingID {
            _ = try await parts.hub.cancel(trackingID)
            try await passOnOutcomes(of: id, trackingID)
            // Only for the audit.
            end = (try? await parts.hub.telemetry(of: trackingID)) ?? nil
        } else if let key = try await parts.store.push(of: id)?.hubKey {
            _ = try await parts.hub.cancel(idempotencyKey: key)
        }
        let now = parts.clock.now
        try await parts.store.markCancelled(
            id, at: now, audit: end?.entry(of: id, at: now) ?? .sendEnded(id, "state=unknown targets=unknown", at: now))
    }

    /// Stores what the hub reported of devices as events for webhooks. What a process that dies leaves behind comes again, as the same event.
    func passOnOutcomes(of id: RichID, _ trackingID: NotificationID) async throws {
        while true {
            let reports = try await parts.hub.outcomeReports(of: trackingID, limit: Self.reportBatch)
            if reports.isEmpty { return }
            try await parts.store.announce(reports.map { WebhookEvent($0, of: id, trackingID: trackingID) })
            try await parts.hub.removeOutcomeReports(reports.map(\.number), of: trackingID)
        }
    }

    private static let reportBatch = 20

    private static let firstCheck: Duration = .seconds(1)

    private func handOver(_ notification: RichNotification) async throws -> SendReceipt? {
        let (stored, isReported) = try await confirmed {
            (try await parts.store.push(of: notification.id), try await parts.store.isWanted(.sendOutcomes))
        }
        guard let push = stored else { return nil }
        var command = SendCommand(
            message: push.message, audience: notification.audience, pushesPerSecond: push.pushesPerSecond,
            idempotencyKey: push.hubKey)
        command.translations = push.translations
        command.cap = push.cap
        command.split = push.split
        command.reportsOutcomes = isReported
        // A hub elsewhere takes one platform for each send, so browsers register with this server's own hub only.
        command.reachesEveryPlatform = parts.hub.decidesForDevices
        do {
            if let local = push.localTime { try await setMoments(of: local, for: notification.audience, in: &command) }
            return try await parts.hub.send(command)
        } catch let error as ServiceError where error.isFinalRefusal {
            let now = parts.clock.now
            let entry = AuditEntry.sendEnded(notification.id, "state=refused targets=0", at: now)
            try await parts.store.markRefused(notification.id, at: now, audit: entry)
            // A recall that came first has closed the key; that is no mistake of the caller's.
            let isRecalled = try await parts.store.notification(notification.id)?.recalledAt != nil
            throw isRecalled ? Self.recalled : error
        } catch {
            parts.logger.warning("The hub did not confirm a send; it stays stored", metadata: ["rich_id": "\(notification.id)"])
            throw Self.notConfirmed
        }
    }

    /// Makes a send due by the clocks of the devices.
    private func setMoments(
        of local: LocalDelivery, for audience: TagExpression, in command: inout SendCommand
    ) async throws {
        let fallbackZone = parts.zones.zone(local.fallbackZone) ?? .utc
        guard let fallback = local.moment(in: fallbackZone) ?? local.moment(in: .utc) else {
            throw ServiceError(.internal, "this version of the server cannot read the local time of the send")
        }
        // A zone that leaves out the date has no moment of its own.
        let names = try await parts.hub.timeZones(of: audience)
        var moments = names.reduce(into: [String: Timestamp]()) { moments, name in
            let clock = DeviceClock(name)
            let zone = clock.zone.isEmpty && clock.quiet != nil ? fallbackZone : parts.zones.zone(clock.zone)
            moments[name] = zone.flatMap { local.moment(in: $0, own: clock.quiet) }
        }
        // Without devices in other zones the send does not wait for them.
        let hasOthers = moments.isEmpty || moments.count < names.count
        var otherwise = hasOthers ? fallback : nil
        // Users with many different hours: those that find no place wait as long as the last of them, rather than be woken.
        for (name, moment) in moments.sorted(by: { $0.value < $1.value }).dropFirst(ZoneMoments.limit) {
            otherwise = max(otherwise ?? moment, moment)
            moments[name] = nil
        }
        command.zones = ZoneMoments(
            wish: try local.storedText, moments: moments, otherwise: otherwise, notBefore: local.notBefore,
            lifetime: local.lifetimeSeconds.map { .seconds($0) })
        // That of the last zone; each moment has its own.
        if local.lifetimeSeconds != nil { command.message.expiresAt = nil }
    }

    /// A store that fails after the hub has taken the send leaves the caller uncertain, but nothing lost.
    private func confirmed<Value>(_ work: () async throws -> Value) async throws -> Value {
        do { return try await work() } catch { throw Self.notConfirmed }
    }

    private static let recalled = ServiceError(.conflict, "this send was recalled before it left")

    private static let notConfirmed = ServiceError(
        .outcomeUnknown,
        "the send is stored and will leave; repeat it only with the same Idempotency-Key, or it is sent twice", retryAfter: 5)
}

extension ServiceError {
    /// Whether trying again cannot help.
    var isFinalRefusal: Bool {
        switch code {
        case .malformedJSON, .malformedMultipart, .invalidField, .invalidAudience, .invalidHeader, .headersTooLarge,
            .payloadTooLarge, .contentTooLarge, .unsupportedContent, .unsupportedMediaType, .rangeNotSatisfiable,
            .idempotencyMismatch,
            .unknownRoute, .methodNotAllowed, .notFound, .conflict, .preconditionFailed:
            true
        case .requestTimeout, .unauthenticated, .forbidden, .crossSite, .approvalRequired, .tooManyAttempts, .tooManyRequests,
            .overloaded,
            .registrationGone,
            .quotaExceeded, .storageUnavailable, .outcomeUnknown, .notReady, .internal:
            false
        }
    }
}
