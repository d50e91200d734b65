import Logging
import RichPushModel
import ServiceErrors
import TagExpressions

/// A hub of this process: keeps devices, accepts sends and says where they stand. The `Dispatcher` does the sending.
public final class NotificationHub: Sendable {
    /// How much one request to a hub may ask for.
    public typealias Limits = HubRequestLimits

    /// What a hub decides for its callers.
    public struct Settings: Sendable {
        /// Whether an alert without a collapse id gets one, so that a repeat after a crash replaces instead of stacking.
        public var fillsCollapseID = true
        /// How far ahead a send may be due (Reference/AzureNotificationHubs.md#2-8: seven days).
        public var scheduleHorizon: Duration = .seconds(7 * 86_400)
        /// How much one request may ask for.
        public var limits = Limits()
        /// How long a registration or installation without an expiry lasts after its last change; absent means without a limit.
        public var registrationTTL: Duration?
        /// When this process began, if no other serves the database: work that an earlier process had leased is then free.
        public var aloneSince: Timestamp?

        public init() {}
    }

    /// The storage that a hub works on.
    public struct Stores: Sendable {
        public var devices: any DeviceStore
        public var intake: any IntakeStore
        public var telemetry: any TelemetryStore

        /// Creates a set of ports.
        public init(devices: any DeviceStore, intake: any IntakeStore, telemetry: any TelemetryStore) {
            self.devices = devices
            self.intake = intake
            self.telemetry = telemetry
        }
    }

    public let id: HubID
    let stores: Stores
    let clock: any ServiceClock
    let settings: Settings
    let signal: DispatchSignal
    let observer: (any HubObserver)?
    let logger: Logger

    /// Creates a hub. `signal` is shared with the dispatcher of this process, if it has one.
    public init(
        id: HubID, stores: Stores, clock: any ServiceClock, settings: Settings = Settings(),
        signal: DispatchSignal = DispatchSignal(), observer: (any HubObserver)? = nil, logger: Logger
    ) {
        self.id = id
        self.stores = stores
        self.clock = clock
        self.settings = settings
        self.signal = signal
        self.observer = observer
        self.logger = logger
    }
}

extension NotificationHub: HubSending {
    public func telemetry(of id: NotificationID) async throws -> NotificationTelemetry? {
        try await stores.telemetry.telemetry(of: id, in: self.id, at: clock.now)
    }

    public func telemetry(of ids: [NotificationID]) async throws -> [NotificationID: NotificationTelemetry]? {
        try await stores.telemetry.telemetry(of: ids, in: id, at: clock.now)
    }

    public func failures(
        of id: NotificationID, outcome: TargetOutcome? = nil, after place: SliceKey = .beforeAll, limit: Int
    ) async throws -> [TargetFailure] {
        try await stores.telemetry.failures(of: id, outcome: outcome, after: place, limit: limit, in: self.id)
    }

    public func count(_ audience: TagExpression) async throws -> AudienceCount {
        var sum = AudienceCount(targets: 0, isComplete: true)
        for platform in [Platform.apns] + Platform.known.filter({ $0.indexEntry != nil }) {
            let count = try await stores.devices.count(
                audience, format: .native(platform), in: id, at: clock.now, limit: SlicePlan.singleSliceLimit)
            sum = AudienceCount(targets: sum.targets + count.targets, isComplete: sum.isComplete && count.isComplete)
        }
        return sum
    }

    public func notification(idempotencyKey: String) async throws -> NotificationID? {
        try await stores.intake.notification(key: idempotencyKey, in: id)
    }

    public func cancel(_ id: NotificationID) async throws -> Bool {
        let stopped = try await stores.intake.cancel(id, in: self.id, at: clock.now)
        if stopped { observer?.ended(id, in: self.id, state: .cancelled) }
        return stopped
    }

    public func cancel(idempotencyKey: String) async throws -> Bool {
        try Self.check(idempotencyKey: idempotencyKey)
        guard let id = try await stores.intake.cancel(key: idempotencyKey, in: self.id, at: clock.now) else { return false }
        observer?.ended(id, in: self.id, state: .cancelled)
        return true
    }
}

extension NotificationHub {
    public func upsert(_ request: DeviceUpsert) async throws -> DeviceRecord { try await upsert(request, allowing: nil) }

    /// The same if `allowing` does not refuse to replace the record that is there; what it throws is thrown.
    public func upsert(_ request: DeviceUpsert, allowing: ReplacementCheck?) async throws -> DeviceRecord {
        let now = clock.now
        let known = try await knownHandles(of: request.id, request.platform)
        let accepted = try accepted(request, at: now, known: known)
        let stored = try await stores.devices.upsert(accepted, in: id, at: now, allowing: allowing)
        for replaced in stored.replaced {
            logger.notice(
                "A device record went because another one registered its handle",
                metadata: ["record": "\(replaced)", "by": "\(stored.record.id)"])
        }
        return stored.record
    }

    /// The request as the hub stores it: checked, and with the hub's own expiry where it says none. Throws `ServiceError`.
    func accepted(_ request: DeviceUpsert, at now: Timestamp, known: Set<DeviceToken> = []) throws -> DeviceUpsert {
        var checked = try request.checked(at: now, limits: settings.limits, known: known)
        if request.expiresByDefault { checked.expiresAt = request.expiresAt ?? defaultExpiry(at: now) }
        return checked
    }

    /// The handle that a browser's record has. The rule for browsers is for new ones: what an older rule let in can still be changed, and
    /// its pushes end as the transport decides.
    private func knownHandles(of id: RecordID, _ platform: Platform) async throws -> Set<DeviceToken> {
        guard platform == .browser, let record = try await device(id), record.platform == platform else { return [] }
        return Set([record.handle].compactMap(\.self))
    }

    public func device(_ id: RecordID) async throws -> DeviceRecord? { try await stores.devices.device(id, in: self.id) }

    public func removeDevice(_ id: RecordID) async throws -> Bool { try await removeDevice(id, expecting: .none) }

    /// Removes a record, and with an installation all that belongs to it; whether there was one. Throws `not-found` and
    /// `precondition-failed` as the precondition says.
    ///
    /// A record of an installation goes with it, and clients that list a handle and then remove each hit may ask for it
    /// afterwards: one that is gone counts as removed. What `allowing` throws is thrown, and nothing is removed then.
    public func removeDevice(
        _ id: RecordID, expecting precondition: DevicePrecondition, allowing: ReplacementCheck? = nil
    ) async throws -> Bool {
        do {
            return try await stores.devices.remove(id, expecting: precondition, in: self.id, allowing: allowing)
        } catch let error as ServiceError where error.code == .notFound && id.isDerived {
            return false
        }
    }

    /// A page of records: all, those with a tag, or those with a handle. Throws `invalid-field` for a limit out of range.
    public func devices(_ request: DeviceListRequest) async throws -> DevicePage {
        guard (1...DeviceListRequest.maximumLimit).contains(request.limit) else {
            throw ServiceError(.invalidField, "a page has 1 to \(DeviceListRequest.maximumLimit) devices")
        }
        if case .handles(let handles, _) = request.selection, handles.count > DeviceListRequest.maximumHandles {
            throw ServiceError(.invalidField, "a list is asked for at most \(DeviceListRequest.maximumHandles) handles at once")
        }
        return try await stores.devices.devices(request, in: id)
    }

    /// Up to `limit` records, from a random place on, that a send of this format would reach now.
    public func sample(_ audience: TagExpression?, format: SendFormat, limit: Int = 10) async throws -> [DeviceRecord] {
        try await stores.devices.sample(audience, format: format, in: id, at: clock.now, limit: max(limit, 0))
    }

    /// When something ends that says no expiry and lives as long as the hub's registrations.
    func defaultExpiry(at now: Timestamp) -> Timestamp? { settings.registrationTTL.map { now + $0 } }
}

extension NotificationHub {
    /// Creates or replaces an installation with its templates and tiles. Throws `invalid-field` for what a hub does not keep,
    /// and `conflict` for the id of a registration, and what `allowing` throws of what is replaced.
    @discardableResult
    public func put(_ installation: InstallationUpsert, allowing: ReplacementCheck? = nil) async throws -> DeviceInstallation {
        let now = clock.now
        let known = try await knownHandles(of: installation.id, installation.platform)
        var checked = try installation.checked(limits: settings.limits, known: known)
        checked.expiresAt = checked.expiresAt ?? defaultExpiry(at: now)
        return try await stores.devices.put(checked, in: id, at: now, allowing: allowing)
    }

    /// The installation, or `nil`.
    public func installation(_ id: RecordID) async throws -> DeviceInstallation? {
        try await stores.devices.installation(id, in: self.id)
    }

    /// Changes an installation in one transaction, which is repeated when another change came between; `not-found` when
    /// there is none. The closure may run more than once; what it throws leaves all as it was. Unless the handle changes, or
    /// the closure sets `confirmsHandle`, the handle counts as no fresher than before.
    @discardableResult
    public func update(
        installation id: RecordID, _ transform: @escaping @Sendable (inout InstallationUpsert) throws -> Void
    ) async throws -> DeviceInstallation {
        let now = clock.now
        let limits = settings.limits
        let updated = try await stores.devices.update(id, in: self.id, at: now) { current in
            var content = current.content
            content.confirmsHandle = false
            try transform(&content)
            guard content.id == id else { throw ServiceError(.invalidField, "the id of an installation cannot be changed") }
            let known = content.platform == current.content.platform ? current.content.handles : []
            return try content.checked(limits: limits, known: known)
        }
        guard let updated else { throw ServiceError(.notFound, "there is no such installation") }
        return updated
    }

    /// Removes an installation with all that belongs to it; whether there was one. A registration with this id is none. What `allowing`
    /// throws is thrown, and nothing is removed then.
    public func removeInstallation(_ id: RecordID, allowing: ReplacementCheck? = nil) async throws -> Bool {
        try await stores.devices.removeInstallation(id, in: self.id, allowing: allowing)
    }
}

extension NotificationHub {
    /// The most rows of a page of feedback.
    public static let maximumFeedback = 1_000

    /// What push services said of handles that are of no use any more, after the number, oldest first; at most 1,000 rows.
    public func feedback(after number: Int64 = 0, limit: Int = maximumFeedback) async throws -> [DeviceFeedback] {
        guard (1...Self.maximumFeedback).contains(limit) else {
            throw ServiceError(.invalidField, "a page has 1 to \(Self.maximumFeedback) rows of feedback")
        }
        return try await stores.telemetry.feedback(after: number, limit: limit, in: id)
    }

    /// The errors of a send: targets that got no push. Of those that a push service called gone or wrong all are kept, of the others
    /// the first 100 of each slice, of which 1,000 are read; 100,000 errors in all.
    public func errors(of send: NotificationTelemetry) -> SendErrorPages {
        SendErrorPages(stores.telemetry, id, send.id, moment: send.endedAt ?? send.startedAt ?? send.enqueuedAt)
    }

    /// Whether a send has errors.
    public func hasErrors(_ send: NotificationTelemetry) async throws -> Bool {
        let failed = SendError.outcomes.union([.gone, .badToken])
        guard send.outcomes.contains(where: { $0.value > 0 && failed.contains($0.key) }) else { return false }
        if try await !stores.telemetry.feedback(of: send.id, after: 0, limit: 1, in: id).isEmpty { return true }
        return try await !stores.telemetry.errors(of: send.id, notedAt: send.enqueuedAt, limit: 1, in: id).isEmpty
    }
}
