import Crypto
import HubProtocol
import PushHub
import RichPushModel
import ServiceErrors
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
            throw ServiceError(.outcomeUnknown, "the hub elsewhere cannot tell whether it took this send", retryAfter: 60)
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
                throw ServiceError(.invalidField, "a send to device handles cannot be scheduled")
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
        let expiry: AppleSendHeaders.Expiry? = message.expiresAt.map { $0 == PushMessage.oneTry ? .immediately : .at($0) }
        self.init(
            format, body: message.body, tags: command.audience?.description,
            apple: AppleSendHeaders(
                pushType: message.pushType, priority: message.priority, topic: message.topic, collapseID: message.collapseID,
                expiry: expiry))
    }
}
