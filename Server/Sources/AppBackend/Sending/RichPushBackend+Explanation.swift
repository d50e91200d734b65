import PushHub
import RichPushModel
import ServiceErrors

extension [WaveProgress] {
    /// That of devices in a zone.
    fileprivate func wave(of zone: String) -> WaveProgress? {
        first { $0.zones.contains(zone) } ?? first { $0.zones.contains(ZoneMoments.otherZones) }
    }
}

extension RichPushBackend {
    /// The most devices of the user that are looked at.
    private static let explainedDevices = 20

    /// Why a user got a notification, or did not, as far as the server knows. Throws `forbidden`, and what the hub throws.
    public func explain(_ send: RichID, toUser name: String, for principal: Principal) async throws -> Explanation {
        try principal.requireAll(.explain)
        guard let user = try await explainedUser(name) else { return Self.unknownUser }
        guard let found = try await parts.store.notification(send) else {
            return Explanation(
                .init(
                    .unknownSend, "There is no such send, or it was removed when its time had passed.",
                    next: "Look at the id: `clarion sends`."))
        }
        return try await facts(of: user, found).explanation
    }

    private func explainedUser(_ name: String) async throws -> User? {
        guard let name = UserName(name) else { return nil }
        return try await parts.store.user(named: name)?.user
    }

    private static var unknownUser: Explanation {
        Explanation(.init(.unknownUser, "There is no user of this name.", next: "Look at the name: `clarion user list`."))
    }

    /// Why a user sees a Live Activity, or does not, as far as the server knows. Throws `forbidden`, and what the hub throws.
    public func explain(activity id: Int64, toUser name: String, for principal: Principal) async throws -> Explanation {
        try principal.requireAll(.explain)
        guard let user = try await explainedUser(name) else { return Self.unknownUser }
        guard let activity = try await parts.store.activity(id) else {
            return Explanation(
                .init(
                    .unknownActivity, "There is no such Live Activity, or it was removed when its time had passed.",
                    next: "Look at the number: `clarion activity list`."))
        }
        let bindings = try await parts.store.bindings(of: user.id, since: OrderNumber(0), limit: Self.bindingLimit)
        // Android and browsers have no Live Activities.
        let meant = bindings.filter {
            $0.until == nil && $0.device.platform.isAPNs && activity.draft.audience.matches($0.device.matchingTags)
        }
        let replacement = meant.isEmpty ? nil : try await replacement(of: activity)
        var devices: [ActivityExplanation.Device] = []
        for bound in meant.prefix(Self.explainedDevices).map(\.device) {
            var found = try await device(bound, of: user, activity)
            if let replacement, replacement.draft.audience.matches(bound.matchingTags) { found.replacement = replacement.id }
            devices.append(found)
        }
        return ActivityExplanation(
            user: user, activity: activity, start: try await send(activity.startSend),
            update: try await send(activity.updateSend), bindings: bindings, devices: devices
        ).explanation
    }

    /// The newest activity that takes the place of an active one, among the latest 2,000 of its owner.
    private func replacement(of activity: LiveActivity) async throws -> LiveActivity? {
        var below: Int64?
        for _ in 0..<20 where activity.phase == .active {
            let page = try await parts.store.activities(
                of: activity.draft.owner, below: below, limit: Self.activityPageLimit)
            let found = page.first { $0.draft.attributes.members?[ActivityKey.replaces]?.wholeNumber == activity.id }
            if let found { return found }
            guard page.count == Self.activityPageLimit, let last = page.last?.id, last > activity.id else { return nil }
            below = last
        }
        return nil
    }

    private func send(_ id: NotificationID?) async throws -> ActivityExplanation.Send? {
        guard let id, let telemetry = try await parts.hub.telemetry(of: id) else { return nil }
        return ActivityExplanation.Send(telemetry: telemetry, listsFailures: try await listsFailures(telemetry))
    }

    private func device(
        _ bound: BoundDevice, of user: User, _ activity: LiveActivity
    ) async throws -> ActivityExplanation.Device {
        let (record, type) = (bound.record, activity.draft.attributesType)
        func token(_ kind: InstallationToken.Kind) -> RecordID { .derived(from: record, token: kind.stored) }
        return ActivityExplanation.Device(
            record: record, systemVersion: bound.facts?.systemVersion,
            facts: try await parts.store.facts(ofActivity: activity.id, type: type, on: record, user: user.id),
            failedStart: try await failure(of: token(.activityStart(type: type)), activity.startSend),
            failedUpdate: try await failure(of: token(.activity(id: "\(activity.id)")), activity.updateSend))
    }

    private func facts(of user: User, _ send: RichNotification) async throws -> ExplanationFacts {
        let bindings = try await parts.store.bindings(of: user.id, since: OrderNumber(0), limit: Self.bindingLimit)
        let telemetry: NotificationTelemetry? = if let id = send.trackingID { try await parts.hub.telemetry(of: id) } else { nil }
        // The end of a send is noted up to a minute late.
        var ended = send
        ended.endOrder = send.endOrder ?? telemetry?.endOrder
        ended.completedAt = send.completedAt ?? telemetry?.endedAt
        let meant = bindings.filter { $0.held(during: ended) && send.audience.matches($0.device.matchingTags) }
        let records = meant.reduce(into: [RecordID]()) { if !$0.contains($1.device.record) { $0.append($1.device.record) } }
        let waves = if let id = send.trackingID { try await parts.hub.waves(of: id) } else { [WaveProgress]() }
        var devices: [ExplanationFacts.Device] = []
        for record in records.prefix(Self.explainedDevices) {
            guard var device = try await device(meant.filter { $0.device.record == record }, send) else { continue }
            device.wave = waves.wave(of: device.record?.zone.name ?? ZoneMoments.otherZones)
            devices.append(device)
        }
        return ExplanationFacts(
            user: user, send: ended, telemetry: telemetry, listsFailures: try await listsFailures(telemetry), bindings: bindings,
            devices: devices, taken: try await parts.store.takenDevices(from: user.id, limit: Self.explainedDevices),
            isRead: try await parts.store.readMarks(among: [send.id], of: user.id).contains(send.id),
            environments: await parts.pushEnvironments?(), local: try await parts.store.push(of: send.id)?.localTime,
            now: parts.clock.now)
    }

    /// Whether the hub names any of the devices that got no push.
    private func listsFailures(_ telemetry: NotificationTelemetry?) async throws -> Bool {
        guard let telemetry, telemetry.outcomes.contains(where: { $0.key.isFailure && $0.value > 0 }) else { return true }
        return try await !parts.hub.failures(of: telemetry.id, outcome: nil, after: .beforeAll, limit: 1).isEmpty
    }

    /// The facts of one device, by its bindings that were in the audience, newest first.
    private func device(_ bindings: [Binding], _ send: RichNotification) async throws -> ExplanationFacts.Device? {
        guard let binding = bindings.first, let first = bindings.last else { return nil }
        let record = binding.device.record
        let receipts =
            if let installation = InstallationID(record.text) {
                try await parts.store.receipts(of: send.id, from: installation, of: binding.user)
            } else { [Receipt]() }
        return ExplanationFacts.Device(
            binding: binding, since: first.order, record: try await parts.hub.device(record),
            failure: try await failure(of: record, send.trackingID), receipts: receipts,
            capCount: try await capCount(of: record, send))
    }

    private func capCount(of record: RecordID, _ send: RichNotification) async throws -> CapCount? {
        guard let id = send.trackingID else { return nil }
        return try await parts.hub.capCount(of: record, for: id)
    }

    /// The hub keeps failures in the order of hashes of their records, so one question finds that of one device.
    private func failure(of record: RecordID, _ send: NotificationID?) async throws -> TargetFailure? {
        guard let id = send else { return nil }
        let place = SliceKey(SliceKey(of: record).number - 1)
        let found = try await parts.hub.failures(of: id, outcome: nil, after: place, limit: 2)
        return found.first { $0.record == record }
    }
}
