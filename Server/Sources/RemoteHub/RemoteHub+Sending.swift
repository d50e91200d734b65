import HubProtocol
import RichPushModel
import TagExpressions

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Sends (Reference/AzureNotificationHubs.md#2-7 to #2-10).
extension RemoteHub {
    /// Sends to all devices, or to those that match the notification's tags. Returns when the hub has queued it.
    ///
    /// `requestID` names the send for repetitions: give the same again, with the same notification, after an error whose fate is
    /// unknown. A UUID by custom, at most 128 visible characters.
    @discardableResult
    public func send(_ notification: RemoteNotification, requestID: String? = nil) async throws -> RemoteReceipt {
        try await post(notification, to: ["messages"], requestID: requestID)
    }

    /// Sends to one device by its handle, registered or not.
    @discardableResult
    public func send(
        _ notification: RemoteNotification, to handle: String, requestID: String? = nil
    ) async throws -> RemoteReceipt {
        try await post(notification, to: ["messages"], flags: ["direct"], handle: handle, requestID: requestID)
    }

    /// Sends to up to 1,000 devices by their handles, registered or not.
    @discardableResult
    public func send(
        _ notification: RemoteNotification, to handles: [String], requestID: String? = nil
    ) async throws -> RemoteReceipt {
        guard (1...HubLimits().batchHandles).contains(handles.count) else {
            throw RemoteHubError.invalidRequest("a batch has 1 to \(HubLimits().batchHandles) handles")
        }
        guard notification.format != .template else {
            throw RemoteHubError.invalidRequest("a template send goes to registrations, not to device tokens")
        }
        let type = notification.format.contentType(headers: HeaderList(notification.platformHeaders))
        let batch = BatchSendBody(notification: notification.body, contentType: type, handles: handles)
        return try await post(
            notification, to: ["messages", "$batch"], flags: ["direct"], contentType: BatchSendBody.requestContentType,
            body: batch.encoded, requestID: requestID)
    }

    /// Sends at a later moment; hubs take up to seven days ahead.
    @discardableResult
    public func schedule(
        _ notification: RemoteNotification, at moment: Timestamp, requestID: String? = nil
    ) async throws -> RemoteReceipt {
        try await post(notification, to: ["schedulednotifications"], at: moment, requestID: requestID)
    }

    /// Stops a send that was scheduled; whether there was one that had not left.
    @discardableResult
    public func cancelSchedule(_ id: String) async throws -> Bool {
        let call = RemoteCall(method: "DELETE", path: ["schedulednotifications", id], expected: [200, 404])
        return try await answer(to: call).status == 200
    }

    /// Sends to at most ten devices, waits for the push service and says what each came to.
    public func testSend(_ notification: RemoteNotification) async throws -> NotificationOutcome {
        let answer = try await answer(to: sendCall(notification, to: ["messages"], flags: ["test"]))
        do { return try NotificationOutcome.read(answer.body, limits: .feed) } catch {
            throw AnswerReading.unreadable("outcome of the test")
        }
    }

    /// What became of a send; `nil` when the hub does not know it, has cancelled it, or does not know yet.
    public func details(of id: String) async throws -> NotificationDetails? {
        let answer = try await answer(to: RemoteCall(method: "GET", path: ["messages", id], expected: [200, 404]))
        guard answer.status == 200 else { return nil }
        do { return try NotificationDetails.read(answer.body) } catch { throw AnswerReading.unreadable("telemetry") }
    }

    private func post(
        _ notification: RemoteNotification, to path: [String], flags: [String] = [], handle: String? = nil,
        contentType: String? = nil, body: [UInt8]? = nil, at moment: Timestamp? = nil, requestID: String?
    ) async throws -> RemoteReceipt {
        var call = try sendCall(notification, to: path, flags: flags, handle: handle, at: moment)
        if let contentType, let body {
            call.headers.removeAll { $0.name == "Content-Type" }
            call.headers.append(HeaderField("Content-Type", contentType))
            call.body = body
        }
        let id = requestID ?? UUID().uuidString.lowercased()
        call.requestID = id
        let answer = try await answer(to: call)
        return RemoteReceipt(id: answer.headers[LocationHeader.name].flatMap(LocationHeader.id(in:)), requestID: id)
    }

    /// The request of a send, after the checks that need no hub.
    private func sendCall(
        _ notification: RemoteNotification, to path: [String], flags: [String] = [], handle: String? = nil,
        at moment: Timestamp? = nil
    ) throws(RemoteHubError) -> RemoteCall {
        let limit = HubLimits().notificationBytes
        guard notification.body.count <= limit else { throw .invalidRequest("a notification has at most \(limit) bytes") }
        let isDirect = flags.contains("direct")
        if isDirect, notification.tags != nil { throw .invalidRequest("a send to a device token has no tags") }
        if let tags = notification.tags { try Self.check(tags) }
        var headers = SendHeaders(format: notification.format)
        headers.tags = notification.tags
        headers.deviceHandle = handle
        headers.scheduleTime = moment
        headers.apple = notification.apple
        headers.platformHeaders = notification.platformHeaders
        guard headers.fields.allSatisfy({ $0.value.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } }) else {
            throw .invalidRequest("a header has a control character")
        }
        return RemoteCall(
            method: "POST", path: path, query: flags.map { HeaderField($0, "true") }, headers: headers.fields,
            body: notification.body, expected: [201])
    }

    private static func check(_ tags: String) throws(RemoteHubError) {
        do { _ = try TagExpression(parsing: tags) } catch { throw .invalidRequest(error.description) }
    }
}

/// What is sent through a hub elsewhere, and to whom.
public struct RemoteNotification: Hashable, Sendable {
    public var format: NotificationFormat
    /// The bytes for the push service; for a template send a JSON object of properties.
    public var body: [UInt8]
    /// A tag expression, `vip && !city:Oslo`; absent means every device of the hub.
    public var tags: String?
    /// What is passed through to APNs.
    public var apple: AppleSendHeaders
    /// Headers for other push services, such as `X-WNS-Type`.
    public var platformHeaders: [HeaderField]

    /// Creates a notification in any format.
    public init(
        _ format: NotificationFormat, body: [UInt8], tags: String? = nil, apple: AppleSendHeaders = AppleSendHeaders(),
        platformHeaders: [HeaderField] = []
    ) {
        self.format = format
        self.body = body
        self.tags = tags
        self.apple = apple
        self.platformHeaders = platformHeaders
    }

    /// An APNs body for the Apple devices of the hub.
    public static func apple(
        _ json: String, tags: String? = nil, headers: AppleSendHeaders = AppleSendHeaders()
    ) -> RemoteNotification {
        RemoteNotification(.apple, body: Array(json.utf8), tags: tags, apple: headers)
    }

    /// Properties for the templates that devices registered, on every platform.
    public static func template(_ properties: [String: String], tags: String? = nil) -> RemoteNotification {
        let members = properties.sorted { $0.key < $1.key }.map { WireJSON.Member($0.key, .string($0.value)) }
        return RemoteNotification(.template, body: Array(WireJSON.object(members).text.utf8), tags: tags)
    }

    /// An FCM v1 body, `{"message":{…}}`, for the Android devices of the hub.
    public static func fcmV1(_ json: String, tags: String? = nil) -> RemoteNotification {
        RemoteNotification(.fcmv1, body: Array(json.utf8), tags: tags)
    }

    /// A body for Windows devices with its kind, `wns/toast`, `wns/tile`, `wns/badge` or `wns/raw`.
    public static func windows(_ body: String, type: String = "wns/toast", tags: String? = nil) -> RemoteNotification {
        RemoteNotification(
            .windows, body: Array(body.utf8), tags: tags, platformHeaders: [HeaderField("X-WNS-Type", type)])
    }
}

/// The answer to a send that the hub has queued.
public struct RemoteReceipt: Hashable, Sendable {
    /// The hub's id of the notification, for telemetry and for cancelling; absent when the hub gave none.
    public var id: String?
    /// The id under which this send may be retried if it is unknown whether it arrived.
    public var requestID: String
}
