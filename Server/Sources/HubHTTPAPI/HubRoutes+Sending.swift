import Crypto
import HTTPService
import HTTPTypes
import HubProtocol
import Hummingbird
import Logging
import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions
import WireText

/// Sends, scheduled ones too (Reference/AzureNotificationHubs.md#2-7, #2-8 and #2-10).
extension HubRoutes {
    func answerSend(_ call: HubCall) async throws -> Response {
        let hub = try call.hub()
        switch call.route.operation {
        case .cancelSchedule: return try await cancel(call, hub)
        case .sendBatch: return try await accept(try await batch(call), call, hub)
        default:
            let command = try await single(call)
            if call.route.operation == .send, call.query.isTest { return try await test(command, call, hub) }
            return try await accept(command, call, hub)
        }
    }

    private func single(_ call: HubCall) async throws -> SendCommand {
        let body = try await call.body(limit: call.limits.notificationBytes)
        let headers = try SendHeaders(call.headers, body: body, now: call.now, limits: call.limits)
        if call.query.isDirect || headers.deviceHandle != nil {
            guard call.route.operation != .schedule else {
                throw ServiceError(.invalidHeader, "a send to a device token cannot be scheduled")
            }
            guard let handle = headers.deviceHandle else {
                throw ServiceError(.invalidHeader, "a direct send needs \(SendHeaders.deviceHandleName)")
            }
            return try command(call, headers, body, handles: [handle])
        }
        guard call.route.operation != .schedule || headers.scheduleTime != nil else {
            throw ServiceError(.invalidHeader, "\(SendHeaders.scheduleTimeName) is missing")
        }
        return try command(call, headers, body, handles: nil)
    }

    private func batch(_ call: HubCall) async throws -> SendCommand {
        let bytes = try await call.body(limit: call.limits.batchBytes)
        let batch = try BatchSendBody(contentType: call.request.headers[.contentType], body: bytes, limits: call.limits)
        let headers = try SendHeaders(call.headers, body: batch.notification, now: call.now, limits: call.limits)
        return try command(call, headers, batch.notification, handles: batch.handles)
    }

    private func command(
        _ call: HubCall, _ headers: SendHeaders, _ body: [UInt8], handles: [String]?
    ) throws -> SendCommand {
        let apple = headers.apple
        let dueAt = call.route.operation == .schedule ? headers.scheduleTime : nil
        var message = PushMessage(
            body: body, pushType: apple.pushType, priority: apple.priority, collapseID: apple.collapseID,
            expiresAt: apple.expiry.map { $0.moment(dueAt: max(call.now, dueAt ?? call.now)) }, topic: apple.topic)
        if headers.format.platform == .browser {
            try Self.read(HeaderList(headers.platformHeaders), into: &message, dueAt: max(call.now, dueAt ?? call.now))
        }
        return SendCommand(
            message: message, format: headers.format.platform.map(SendFormat.native) ?? .template,
            recipients: try recipients(headers, handles), dueAt: dueAt,
            idempotencyKey: SendFingerprint.key(of: call, headers, body, handles))
    }

    private func recipients(_ headers: SendHeaders, _ handles: [String]?) throws -> SendRecipients {
        guard let handles else {
            guard let tags = headers.tags else { return .everyone }
            do throws(TagExpressionError) {
                return .matching(try TagExpression(parsing: tags, commas: .joinAlternatives))
            } catch {
                throw ServiceError(.invalidAudience, error.description)
            }
        }
        guard let platform = headers.format.platform else {
            throw ServiceError(.invalidHeader, "a template send goes to registrations, not to device tokens")
        }
        if platform == .browser, let channel = Self.browserChannel(headers, handles) {
            return .handles([DeviceToken(channel.token, platform: platform) ?? DeviceToken(malformed: channel.token)])
        }
        // The hub counts an invalid one, as Azure's service does; the others still get the push.
        return .handles(handles.map { DeviceToken($0, platform: platform) ?? DeviceToken(malformed: $0) })
    }

    /// What the headers of Web Push say (Reference/WebPush.md#2-1), before what those of APNs say. Throws `invalid-header`.
    private static func read(_ headers: HeaderList, into message: inout PushMessage, dueAt: Timestamp) throws {
        if let text = headers["ttl"] {
            guard let seconds = Int64(text), (0...31_536_000).contains(seconds) else {
                throw ServiceError(.invalidHeader, "TTL is a whole number of seconds, at most a year")
            }
            message.expiresAt = seconds == 0 ? PushMessage.oneTry : dueAt + .seconds(seconds)
        }
        if let text = headers["urgency"] {
            guard let priority = ["very-low": 1, "low": 1, "normal": 5, "high": 10][text.lowercased()] else {
                throw ServiceError(.invalidHeader, "Urgency is very-low, low, normal or high")
            }
            message.priority = priority
        }
    }

    /// The one browser of a direct send: its keys come in headers beside the endpoint.
    private static func browserChannel(_ headers: SendHeaders, _ handles: [String]) -> BrowserChannel? {
        let extras = HeaderList(headers.platformHeaders)
        guard let endpoint = handles.first, handles.count == 1, let key = extras["p256dh"], let secret = extras["auth"] else {
            return nil
        }
        return BrowserChannel(endpoint: endpoint, p256dh: key, auth: secret, isObject: false)
    }

    /// Stores the send. What was stored is never answered with a 5xx, or a client would send it again
    /// (Reference/AzureNotificationHubs.md#0-17): if the commit's outcome is unknown, a look-up of the key decides.
    private func accept(_ command: SendCommand, _ call: HubCall, _ hub: NotificationHub) async throws -> Response {
        try sends.admit(hub.id)
        let id: NotificationID
        do {
            id = try await hub.send(command).id
        } catch let error as ServiceError where error.code == .notFound {
            // The hub was removed, by another process perhaps; there may be one with its name already.
            directory.catalog.forget()
            throw error
        } catch let error as ServiceError where error.code == .outcomeUnknown || error.code == .idempotencyMismatch {
            // The key covers the whole content: a retry differs only in the meaning of a relative expiry.
            guard let key = command.idempotencyKey, let stored = try await hub.notification(idempotencyKey: key) else {
                throw ServiceError(.storageUnavailable, "the storage broke while writing; nothing was kept")
            }
            id = stored
        }
        log(id, command.recipients, call)
        return HubAnswer.empty(call.route.operation, headers: [.location: call.location.member(id.text)])
    }

    /// Logs an accepted send. The line has the id of the request, by which an operator finds the send.
    private func log(_ id: NotificationID, _ recipients: SendRecipients, _ call: HubCall) {
        var metadata: Logger.Metadata = [
            "notification_id": "\(id)", "hub": "\(call.route.hub)", "rule": "\(call.grant.rule)",
        ]
        switch recipients {
        case .everyone: metadata[.audience] = "everyone"
        case .matching(let expression): metadata[.audience] = "\(expression)"
        case .handles(let handles):
            metadata[.audience] = "handles"
            metadata[.targets] = "\(handles.count)"
        }
        call.context.logger.info("A send was accepted", metadata: metadata)
    }

    private func cancel(_ call: HubCall, _ hub: NotificationHub) async throws -> Response {
        guard let id = call.route.id.flatMap({ NotificationID($0) }), let state = try await hub.telemetry(of: id)?.state else {
            throw ServiceError(.notFound, "There is no scheduled notification with this id")
        }
        // Cancelled twice is cancelled; what has been sent is not there to be cancelled.
        let isStopped = try await hub.cancel(id) || state == .cancelled
        guard isStopped else { throw ServiceError(.notFound, "The notification is not scheduled any more") }
        return HubAnswer.empty(.cancelSchedule)
    }

    private func test(_ command: SendCommand, _ call: HubCall, _ hub: NotificationHub) async throws -> Response {
        try sends.admit(hub.id)
        let report = try await hub.test(command, through: options.transport)
        log(report.id, command.recipients, call)
        let outcome = NotificationOutcome(
            success: report.successes, failure: report.results.count - report.successes,
            results: report.results.map { result in
                .init(
                    platform: NotificationFormat(platform: result.platform)?.rawValue ?? result.platform.rawValue,
                    handle: BrowserChannel.endpoint(in: result.handle.text), registrationID: result.record?.text,
                    outcome: result.sentence)
            })
        return HubAnswer.body(
            outcome.answer(), as: HubAnswer.xml, .send, headers: [.location: call.location.member(report.id.text)])
    }
}

extension AppleSendHeaders.Expiry {
    /// In the hub's words. What lies before the send is one try: clients' dates on a 12-hour clock may lie in the past, and those that
    /// always add a day or an hour to now do so for what is scheduled later, too.
    fileprivate func moment(dueAt: Timestamp) -> Timestamp {
        switch self {
        case .immediately: PushMessage.oneTry
        case .at(let moment): moment <= dueAt ? PushMessage.oneTry : moment
        }
    }
}

/// The name under which the same send, sent again by a client that heard nothing, is one send
/// (Reference/AzureNotificationHubs.md#0-17).
private enum SendFingerprint {
    /// The client's request id together with the request's content: the same id with another content is another send.
    /// Without an id it is random, and only serves to find out whether the commit succeeded; a test send then has none.
    ///
    /// Headers count as they came: what a date on a 12-hour clock means depends on the moment at which it is read.
    static func key(of call: HubCall, _ headers: SendHeaders, _ body: [UInt8], _ handles: [String]?) -> String? {
        let isTest = call.route.operation == .send && call.query.isTest
        guard let request = headers.requestID else { return isTest ? nil : "hub:" + RegistrationName.random() }
        var hash = SHA256()
        let words = [request, call.route.operation.rawValue] + said(in: call.headers) + (handles ?? [])
        for field in words.map({ Array($0.utf8) }) + [body] {
            hash.update(data: Array("\(field.count):".utf8))
            hash.update(data: field)
        }
        return (isTest ? "test:" : "hub:") + Hexadecimal.text(of: hash.finalize())
    }

    /// The headers that say what is to be sent, without those of the transport, which may differ in a retry.
    private static func said(in headers: HeaderList) -> [String] {
        headers.fields
            .map { HeaderField($0.name.lowercased(), $0.value) }
            .filter { field in ofBrowsers.contains(field.name) || prefixes.contains { field.name.hasPrefix($0) } }
            .sorted { ($0.name, $0.value) < ($1.name, $1.value) }
            .flatMap { [$0.name, $0.value] }
    }

    private static let ofBrowsers: Set = ["auth", "p256dh", "ttl", "urgency"]
    private static let prefixes = ["servicebusnotification-", "apns-", "x-apns-", "x-wns-", "x-windowsphone-", "x-mpns-"]
}
