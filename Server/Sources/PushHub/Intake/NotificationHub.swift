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
        /// How long a registration or installation that says no expiry lasts after its last change; absent means for ever.
        public var registrationTTL: Duration?
        /// When this process began, if no other serves the database: what an earlier one had in hand is in nobody's now.
        public var aloneSince: Timestamp?

        /// The defaults.
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
    let observer: (any SendObserver)?
    let logger: Logger

    /// Creates a hub. `signal` is shared with the dispatcher of this process, if it has one.
    public init(
        id: HubID, stores: Stores, clock: any ServiceClock, settings: Settings = Settings(),
        signal: DispatchSignal = DispatchSignal(), observer: (any SendObserver)? = nil, logger: Logger
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

    public func failures(of id: NotificationID, limit: Int) async throws -> [TargetFailure] {
        try await stores.telemetry.failures(of: id, limit: limit, in: self.id)
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
