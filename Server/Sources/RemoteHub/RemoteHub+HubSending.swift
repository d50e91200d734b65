import Crypto
import HubProtocol
import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions
import WireText

/// The hub that an app backend sends through, when it lies elsewhere.
///
/// What the protocol cannot do, this cannot do either:
/// - **Pace.** A send with `pushesPerSecond` is refused.
/// - **Asking by key.** Idempotency keys go out as `x-ms-client-request-id`, a UUID made of the key: Clarion takes a repeated one
///   once; another hub may send twice after an interruption. What became of a key is remembered in this process only.
/// - **Cancelling what is under way.** Clarion stops it; Azure's hub stops scheduled sends only. A key that is cancelled is closed in
///   this process only.
/// - **Environment and topic of a device.** The hub has one of each.
extension RemoteHub: HubSending {
    public func send(_ command: SendCommand) async throws -> SendReceipt {
        guard command.pushesPerSecond == nil else {
            throw ServiceError(.invalidField, "the hub elsewhere cannot pace a send; leave out pushesPerSecond")
        }
        let key = command.idempotencyKey
        if let key, case .taken(let id)? = recent.fate(key) {
            // Another hub may not know a repeated id, and this process does.
            return SendReceipt(id: id, dueAt: command.dueAt ?? clock.now, isRepeat: true)
        }
        if let expiresAt = command.message.expiresAt, expiresAt != PushMessage.oneTry, expiresAt <= clock.now {
            throw ServiceError(.invalidField, "the expiry lies in the past")
        }
        guard key.map(recent.begin) ?? true else {
            throw ServiceError(.idempotencyMismatch, "this send was cancelled before it left")
        }
        let receipt: RemoteReceipt
        do {
            receipt = try await dispatch(command, requestID: key.map(Self.requestID))
        } catch let error as RemoteHubError {
            if error.fate == .nothingDone, let key { recent.refuse(key) }
            throw ServiceError(error, isSend: true)
        }
        let id = NotificationID(receipt.id ?? receipt.requestID) ?? NotificationID()
        if let key, !recent.take(key, id) {
            // Cancelled while it was under way.
            _ = try? await cancelSchedule(id.text)
            throw ServiceError(.idempotencyMismatch, "this send was cancelled while it left")
        }
        return SendReceipt(id: id, dueAt: command.dueAt ?? clock.now, isRepeat: false)
    }

    public func telemetry(of id: NotificationID) async throws -> NotificationTelemetry? {
        try await asService {
            if let details = try await details(of: id.text) { return NotificationTelemetry(details, id: id) }
            return NotificationTelemetry(youngID: id, now: clock.now)
        }
    }

    /// Throws `outcome-unknown` for a key that this process does not know of: it may have been sent before a restart.
    public func notification(idempotencyKey: String) async throws -> NotificationID? {
        switch recent.fate(idempotencyKey) {
        case .taken(let id): return id
        case .refused, .closed: return nil
        case .pending, nil:
            throw ServiceError(.outcomeUnknown, "the remote hub does not know whether it accepted this send", retryAfter: 60)
        }
    }

    public func cancel(_ id: NotificationID) async throws -> Bool { try await asService { try await cancelSchedule(id.text) } }

    /// Closes the key in this process. A send that left under it in an earlier life of the process is not called back.
    public func cancel(idempotencyKey: String) async throws -> Bool {
        guard case .taken(let id)? = recent.close(idempotencyKey) else { return false }
        return try await cancel(id)
    }

    private func dispatch(_ command: SendCommand, requestID: String?) async throws -> RemoteReceipt {
        let notification = try RemoteNotification(command)
        if case .handles(let handles) = command.recipients {
            guard command.dueAt.map({ $0 <= clock.now }) ?? true else {
                throw ServiceError(.invalidField, "a send to device tokens cannot be scheduled")
            }
            return try await send(notification, to: handles.map(\.text), requestID: requestID)
        }
        if let moment = command.dueAt, moment > clock.now {
            return try await schedule(notification, at: moment, requestID: requestID)
        }
        return try await send(notification, requestID: requestID)
    }

    /// The same key is the same id, in every process: 128 bits of its digest in the form of a UUID of version 8.
    static func requestID(_ key: String) -> String {
        var bytes = Array(SHA256.hash(data: Array("clarion-send\n\(key)".utf8)).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        var rest = Hexadecimal.text(of: bytes)[...]
        return [8, 4, 4, 4, 12].map { count in
            defer { rest = rest.dropFirst(count) }
            return String(rest.prefix(count))
        }.joined(separator: "-")
    }

    /// Errors of the hub elsewhere in the words of this service.
    func asService<Value>(_ work: () async throws -> Value) async throws -> Value {
        do { return try await work() } catch let error as RemoteHubError { throw ServiceError(error, isSend: false) }
    }
}

extension RemoteNotification {
    /// The notification of a command. Throws `invalid-field` for a platform that has no format.
    init(_ command: SendCommand) throws {
        let format: NotificationFormat?
        switch command.format {
        case .template: format = .template
        case .native(let platform): format = NotificationFormat(platform: platform)
        }
        guard let format else { throw ServiceError(.invalidField, "the hub protocol has no such platform") }
        let message = command.message
        self.init(format, body: message.body, tags: command.audience?.description)
        apple = AppleSendHeaders(pushType: message.pushType, priority: message.priority)
        apple.topic = message.topic
        apple.collapseID = message.collapseID
        apple.expiry = message.expiresAt.map { $0 == PushMessage.oneTry ? .immediately : .at($0) }
    }
}

/// Devices of the app backend at a hub elsewhere: each is an installation there, whichever form it has here.
extension RemoteHub {
    /// Throws `invalid-field` for what an installation cannot carry: templates, which an app backend does not use, and conditions.
    public func upsert(_ request: DeviceUpsert) async throws -> DeviceRecord {
        guard request.template == nil, request.precondition == .none else {
            throw ServiceError(.invalidField, "a device at a hub elsewhere has no template and no condition here")
        }
        let now = clock.now
        let record = DeviceRecord(
            id: request.id, kind: request.kind, platform: request.platform, handle: request.handle,
            environment: request.environment, topic: request.topic, tags: request.tags, userID: request.userID, createdAt: now,
            registeredAt: now, expiresAt: request.expiresAt, pushVariables: request.pushVariables, details: request.details)
        guard let handle = request.handle else {
            // The protocol knows no device without a handle. It would be in no audience; so it is not there at all.
            try await asService { try await deleteInstallation(request.id.text) }
            return record
        }
        var installation = InstallationDocument(
            installationID: request.id.text, platform: request.platform, pushChannel: .handle(handle.text))
        installation.userID = request.userID
        installation.expirationTime = request.expiresAt
        installation.tags = request.tags.map(\.text)
        installation.pushVariables = request.pushVariables
        let whole = installation
        try await asService { try await putInstallation(whole) }
        return record
    }

    /// The device as the hub knows it. The protocol does not report the registration's moment: this call's is used.
    public func device(_ id: RecordID) async throws -> DeviceRecord? {
        guard let installation = try await asService({ try await installation(id.text) }) else { return nil }
        let now = clock.now
        return DeviceRecord(
            id: id, kind: .installation, platform: installation.platform,
            handle: DeviceToken(installation.pushChannel.handle, platform: installation.platform),
            tags: installation.tags.compactMap { Tag($0) }, userID: installation.userID, createdAt: now, registeredAt: now,
            expiresAt: installation.expirationTime, inactiveAt: installation.pushChannelExpired == true ? now : nil,
            pushVariables: installation.pushVariables)
    }

    /// The protocol's removal does not say whether there was one, so the hub is asked before.
    public func removeDevice(_ id: RecordID) async throws -> Bool {
        try await asService {
            guard try await installation(id.text) != nil else { return false }
            try await deleteInstallation(id.text)
            return true
        }
    }
}

extension NotificationTelemetry {
    /// The telemetry of a hub elsewhere in the hub's words (Reference/AzureNotificationHubs.md#2-9).
    init(_ details: NotificationDetails, id: NotificationID) {
        let enqueued = details.enqueueTime ?? details.startTime ?? Timestamp(milliseconds: 0)
        var counts: [Platform: [TargetOutcome: Int]] = [:]
        for service in details.outcomes {
            for outcome in service.outcomes {
                guard let known = TargetOutcome(wireName: outcome.name, at: service.service.platform), outcome.count > 0
                else { continue }
                counts[service.service.platform, default: [:]][known, default: 0] += outcome.count
            }
        }
        self.init(
            id: id, state: NotificationState(details.state), enqueuedAt: enqueued, dueAt: details.startTime ?? enqueued,
            startedAt: details.startTime, endedAt: details.endTime,
            outcomes: counts.values.reduce(into: [:]) { all, some in all.merge(some, uniquingKeysWith: +) },
            platformOutcomes: counts, format: Self.format(details.targetPlatforms),
            audience: details.tags.flatMap { try? TagExpression(parsing: $0) }, body: Array((details.body ?? "").utf8))
    }

    /// Azure's hub answers 404 for some time before telemetry can be read, up to half an hour. Its ids begin with the moment of the
    /// send, `{32 hex}-{yyyyMMddHHmmss}-…`; so long a send is not forgotten but accepted. `nil` for other ids and older sends.
    init?(youngID id: NotificationID, now: Timestamp) {
        let parts = id.text.split(separator: "-")
        guard parts.count >= 2, parts[0].utf8.count == 32, parts[1].utf8.count == 14, parts[1].allSatisfy(\.isNumber) else {
            return nil
        }
        let digits = Array(parts[1])
        let fields = [0..<4, 4..<6, 6..<8, 8..<10, 10..<12, 12..<14].map { String(digits[$0]) }
        let text = "\(fields[0])-\(fields[1])-\(fields[2])T\(fields[3]):\(fields[4]):\(fields[5])Z"
        guard let moment = WireTime(text)?.moment, now < moment + .seconds(1800) else { return nil }
        self.init(id: id, state: .accepted, enqueuedAt: moment, dueAt: moment)
    }

    private static func format(_ platforms: [String]) -> SendFormat {
        let formats = platforms.compactMap { NotificationFormat(header: $0) }
        return formats.contains(.template) ? .template : .native(formats.first?.platform ?? .apns)
    }
}

extension NotificationState {
    init(_ state: NotificationDetails.State) {
        self =
            switch state {
            case .enqueued, .unknown: .accepted
            case .scheduled: .scheduled
            case .processing: .dispatching
            case .completed, .noTargetFound: .completed
            case .abandoned: .failed
            case .canceled: .cancelled
            }
    }
}

extension TargetOutcome {
    /// The outcome for a name of telemetry; `nil` for `NoTargets`, which counts no device.
    init?(wireName: String, at platform: Platform) {
        switch wireName {
        case "NoTargets": return nil
        case "Success": self = .accepted
        case "ExpiredChannel": self = .gone
        case "WrongToken", "InvalidToken", "BadChannel", "WrongChannel": self = .badToken
        case "InvalidNotificationSize": self = .tooLarge
        case "InvalidNotificationFormat": self = .invalidFormat
        case "AbandonedNotificationMessages": self = .expired
        case "Skipped": self = platform.hasTransport ? .skipped : .noTransport
        case "Dropped": self = .removed
        case "PnsInterfaceError", "InvalidCredentials", "TokenProviderInterfaceError", "TokenProviderUnreachable":
            self = .rejected
        // Throttled, PnsServerError, PnsUnavailable, PnsUnreachable and what is to come.
        default: self = .unknown
        }
    }
}
