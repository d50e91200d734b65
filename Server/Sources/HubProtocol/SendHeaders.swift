import RichPushModel
import WireText

/// What the headers of a send say (Reference/AzureNotificationHubs.md#2-7 and #2-8), in both directions.
public struct SendHeaders: Hashable, Sendable {
    public static let tagsName = "ServiceBusNotification-Tags"
    public static let deviceHandleName = "ServiceBusNotification-DeviceHandle"
    public static let scheduleTimeName = "ServiceBusNotification-ScheduleTime"
    public static let clientRequestIDName = "x-ms-client-request-id"
    public static let trackingIDName = "TrackingId"

    public var format: NotificationFormat
    /// The tag expression as the client wrote it; absent means everyone. Readers treat commas as `||`: one client sends a
    /// list of tags (Reference/AzureNotificationHubs.md#2-7).
    public var tags: String?
    /// The one device of a direct send. Its presence makes the send direct, flag or no flag
    /// (Reference/AzureNotificationHubs.md#0-10).
    public var deviceHandle: String?
    /// When the send is due.
    public var scheduleTime: Timestamp?
    /// What is passed through to APNs.
    public var apple = AppleSendHeaders()
    /// Headers for other push services, as they came: `X-WNS-…`, `X-WindowsPhone-Target`, `X-NotificationClass`, `X-Baidu-…`, and
    /// for browsers `Auth` and `P256DH`.
    public var platformHeaders: [HeaderField] = []
    /// The id under which a client retries this request: `x-ms-client-request-id`, else `TrackingId`
    /// (Reference/AzureNotificationHubs.md#0-17). At most 128 visible ASCII characters; others count as none.
    public var requestID: String?
}

extension SendHeaders {
    /// Creates headers; everything else is set afterwards.
    public init(format: NotificationFormat) { self.format = format }

    /// The headers of a request as this product's client sends them, `Content-Type` of a single send included.
    public var fields: [HeaderField] {
        var fields = [
            HeaderField("Content-Type", format.contentType(headers: HeaderList(platformHeaders))),
            HeaderField(NotificationFormat.headerName, format.rawValue),
        ]
        if let tags { fields.append(HeaderField(Self.tagsName, tags)) }
        if let deviceHandle { fields.append(HeaderField(Self.deviceHandleName, deviceHandle)) }
        if let scheduleTime { fields.append(HeaderField(Self.scheduleTimeName, WireTime(scheduleTime).description)) }
        fields += apple.fields + platformHeaders
        if let requestID { fields.append(HeaderField(Self.clientRequestIDName, requestID)) }
        return fields
    }

    /// Reads the headers of a send. The body is parsed only when the format is missing: a top-level `aps` means `apple`
    /// (Reference/AzureNotificationHubs.md#2-7). `now` serves dates on a 12-hour clock.
    public init(
        _ headers: HeaderList, body: some Collection<UInt8>, now: Timestamp, limits: HubLimits = HubLimits()
    ) throws(HubRequestFault) {
        self.init(
            format: try Self.format(headers, body, limits), tags: try Self.tags(headers),
            deviceHandle: try Self.deviceHandle(headers, limits), scheduleTime: try Self.scheduleTime(headers),
            apple: try AppleSendHeaders(headers, now: now), platformHeaders: try Self.platformHeaders(headers, limits),
            requestID: Self.requestID(headers))
        try checkWindowsType()
    }

    /// Without it the push service knows nothing to do with the body (Reference/AzureNotificationHubs.md#2-7).
    private func checkWindowsType() throws(HubRequestFault) {
        guard format == .windows else { return }
        let type = platformHeaders.first { $0.name.lowercased() == "x-wns-type" }?.value.lowercased()
        guard let type, ["wns/toast", "wns/tile", "wns/badge", "wns/raw"].contains(type) else {
            throw HubRequestFault(
                at: "X-WNS-Type", "it is wns/toast, wns/tile, wns/badge or wns/raw, and a windows send needs it")
        }
    }

    private static func format(
        _ headers: HeaderList, _ body: some Collection<UInt8>, _ limits: HubLimits
    ) throws(HubRequestFault) -> NotificationFormat {
        if let text = headers[NotificationFormat.headerName], !text.isEmpty {
            guard let format = NotificationFormat(header: text) else {
                throw HubRequestFault(
                    at: NotificationFormat.headerName,
                    "it is one of " + NotificationFormat.allCases.map(\.rawValue).joined(separator: ", "))
            }
            return format
        }
        guard body.count <= limits.notificationBytes, let json = try? WireJSON(parsing: body), case .object(let members) = json,
            members.contains(where: { $0.name == "aps" })
        else { throw HubRequestFault(at: NotificationFormat.headerName, "it is missing, and the body does not show the format") }
        return .apple
    }

    private static func tags(_ headers: HeaderList) throws(HubRequestFault) -> String? {
        guard let text = headers[tagsName] else { return nil }
        guard !text.isEmpty else {
            // Not a broadcast: a tag that got lost on its way into the header must not reach everyone.
            throw HubRequestFault(at: tagsName, "it is empty; leave the header out to send to everyone")
        }
        return text
    }

    private static func deviceHandle(_ headers: HeaderList, _ limits: HubLimits) throws(HubRequestFault) -> String? {
        guard let text = headers[deviceHandleName] else { return nil }
        guard (1...limits.handleBytes).contains(text.utf8.count) else {
            throw HubRequestFault(at: deviceHandleName, "a handle has 1 to \(limits.handleBytes) bytes")
        }
        return text
    }

    private static func scheduleTime(_ headers: HeaderList) throws(HubRequestFault) -> Timestamp? {
        guard let text = headers[scheduleTimeName], !text.isEmpty else { return nil }
        guard let time = WireTime(text) else {
            throw HubRequestFault(at: scheduleTimeName, "a date and time such as 2026-03-01T10:00:00Z is expected")
        }
        return time.moment
    }

    private static let exactNames: Set<String> = [
        "x-windowsphone-target", "x-notificationclass", "x-messageid", "auth", "p256dh", "ttl", "urgency",
    ]

    private static func platformHeaders(_ headers: HeaderList, _ limits: HubLimits) throws(HubRequestFault) -> [HeaderField] {
        var kept: [HeaderField] = []
        for field in headers.fields {
            let name = field.name.lowercased()
            guard name.hasPrefix("x-wns-") || name.hasPrefix("x-baidu-") || exactNames.contains(name) else { continue }
            guard field.value.utf8.count <= limits.valueBytes, kept.count < limits.templateHeaders else {
                throw HubRequestFault(
                    at: HubRequestFault.shown(field.name),
                    "at most \(limits.templateHeaders) headers of at most \(limits.valueBytes) bytes go with a send")
            }
            kept.append(field)
        }
        return kept
    }

    private static func requestID(_ headers: HeaderList) -> String? {
        for name in [clientRequestIDName, trackingIDName] {
            guard let text = headers[name], (1...128).contains(text.utf8.count),
                text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else { continue }
            return text
        }
        return nil
    }
}

/// What a send carries, `ServiceBusNotification-Format` (Reference/AzureNotificationHubs.md#2-7).
public enum NotificationFormat: String, Sendable, CaseIterable {
    case apple, gcm, fcmv1, template, windows, windowsphone, adm, browser, baidu, xiaomi, nokiax

    /// The header's name.
    public static let headerName = "ServiceBusNotification-Format"

    /// Reads the header's value without regard to case; `fcm` is `gcm`, as one client maps it.
    public init?(header: String) {
        let word = header.lowercased()
        guard let format = NotificationFormat(rawValue: word == "fcm" ? "gcm" : word) else { return nil }
        self = format
    }

    /// The push service whose native devices get the send; `nil` for a template send, which goes to the templates of all.
    public var platform: Platform? {
        switch self {
        case .template: nil
        case .apple: .apns
        case .windows: Platform(rawValue: "wns")
        case .windowsphone: Platform(rawValue: "mpns")
        case .gcm, .fcmv1, .adm, .browser, .baidu, .xiaomi, .nokiax: Platform(rawValue: rawValue)
        }
    }

    /// The format of a native send to a platform.
    public init?(platform: Platform) {
        guard let format = Self.allCases.first(where: { $0.platform == platform }) else { return nil }
        self = format
    }

    /// The content type that goes with the body when this product's client sends it.
    public func contentType(headers: HeaderList = []) -> String {
        guard self == .windows || self == .windowsphone else { return "application/json;charset=utf-8" }
        return headers["X-WNS-Type"]?.lowercased() == "wns/raw" ? "application/octet-stream" : "application/xml"
    }
}

/// What a send says about its delivery by APNs (Reference/AzureNotificationHubs.md#2-7, Reference/APNs.md#3): the headers that
/// are passed through.
public struct AppleSendHeaders: Hashable, Sendable {
    /// When APNs may give up.
    public enum Expiry: Hashable, Sendable {
        /// One try, now: `apns-expiration` 0.
        case immediately
        case at(Timestamp)
    }

    /// `apns-push-type`.
    public var pushType: String?
    /// `apns-priority`: 10, 5 or 1; the hub checks it against the push type.
    public var priority: Int?
    /// `apns-topic`.
    public var topic: String?
    /// `apns-collapse-id`.
    public var collapseID: String?
    /// `apns-expiration`.
    public var expiry: Expiry?
    /// `apns-id`, a UUID.
    public var id: String?
}

extension AppleSendHeaders {
    /// Creates headers; everything else is set afterwards.
    public init(pushType: String? = nil, priority: Int? = nil) {
        self.pushType = pushType
        self.priority = priority
    }

    /// The headers as this product's client sends them, which is as the JavaScript client does.
    public var fields: [HeaderField] {
        var fields: [HeaderField] = []
        if let pushType { fields.append(HeaderField("apns-push-type", pushType)) }
        if let priority { fields.append(HeaderField("apns-priority", String(priority))) }
        if let topic { fields.append(HeaderField("apns-topic", topic)) }
        if let collapseID { fields.append(HeaderField("apns-collapse-id", collapseID)) }
        switch expiry {
        case .immediately: fields.append(HeaderField("apns-expiration", "0"))
        case .at(let moment): fields.append(HeaderField("apns-expiration", String(moment.seconds)))
        case nil: break
        }
        if let id { fields.append(HeaderField("apns-id", id)) }
        return fields
    }

    /// Reads the headers in all spellings of the clients: `apns-…` before `X-Apns-…` before `ServiceBusNotification-…`.
    ///
    /// `now` decides about dates on a 12-hour clock, see `moment(of:now:userAgent:)`.
    init(_ headers: HeaderList, now: Timestamp) throws(HubRequestFault) {
        self.init(
            pushType: try Self.word(["apns-push-type", "X-Apns-Push-Type"], headers),
            priority: try Self.priority(["apns-priority", "X-Apns-Priority"], headers),
            topic: try Self.text("apns-topic", limit: 256, headers),
            collapseID: try Self.text("apns-collapse-id", limit: 64, headers), expiry: try Self.expiry(headers, now: now),
            id: try Self.id(headers))
    }

    /// The value, unless it is empty or only U+FFFD, which one client sends where it means nothing
    /// (Reference/AzureNotificationHubs.md#2-7); a server may show its three bytes as one character or as three.
    private static func value(_ name: String, _ headers: HeaderList) -> String? {
        guard let value = headers[name], !value.isEmpty, value != "\u{FFFD}", value != "\u{EF}\u{BF}\u{BD}" else { return nil }
        return value
    }

    /// The first of several names that has a value, and the value.
    private static func first(of names: [String], _ headers: HeaderList) -> HeaderField? {
        for name in names { if let value = value(name, headers) { return HeaderField(name, value) } }
        return nil
    }

    private static func word(_ names: [String], _ headers: HeaderList) throws(HubRequestFault) -> String? {
        guard let field = first(of: names, headers) else { return nil }
        let value = field.value.lowercased()
        guard value.utf8.count <= 32, value.utf8.allSatisfy({ (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }) else {
            throw HubRequestFault(at: field.name, "a word such as alert or background is expected")
        }
        return value
    }

    private static func priority(_ names: [String], _ headers: HeaderList) throws(HubRequestFault) -> Int? {
        guard let field = first(of: names, headers) else { return nil }
        guard let priority = Int(field.value), [1, 5, 10].contains(priority) else {
            throw HubRequestFault(at: field.name, "it is 10, 5 or 1")
        }
        return priority
    }

    private static func text(_ name: String, limit: Int, _ headers: HeaderList) throws(HubRequestFault) -> String? {
        guard let value = value(name, headers) else { return nil }
        guard value.utf8.count <= limit, value.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw HubRequestFault(at: name, "it has at most \(limit) bytes and no control characters")
        }
        return value
    }

    private static func id(_ headers: HeaderList) throws(HubRequestFault) -> String? {
        guard let value = value("apns-id", headers) else { return nil }
        let groups = value.split(separator: "-", omittingEmptySubsequences: false)
        guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12],
            groups.joined().utf8.allSatisfy({ Hexadecimal.value($0) != nil })
        else { throw HubRequestFault(at: "apns-id", "a UUID is expected") }
        return value.lowercased()
    }

    private static func expiry(_ headers: HeaderList, now: Timestamp) throws(HubRequestFault) -> Expiry? {
        if let value = value("apns-expiration", headers) {
            guard let expiry = seconds(value) else { throw HubRequestFault(at: "apns-expiration", "Unix seconds are expected") }
            return expiry
        }
        // Whatever is no number here is noise of the client that sends this header.
        if let expiry = value("X-Apns-Expiration", headers).flatMap(seconds) { return expiry }
        for name in ["ServiceBusNotification-Apns-Expiry", "ServiceBusNotification-ApnsExpiry"] {
            guard let value = value(name, headers) else { continue }
            if let expiry = seconds(value) { return expiry }
            // A date without a time of day would be its first moment, which is seldom what was meant and mostly in the past.
            guard value.contains(":"), let time = LenientTime(value) else {
                throw HubRequestFault(at: name, "a date such as 2026-03-01T10:00:00Z or 03/01/2026 10:00:00 is expected")
            }
            return .at(moment(of: time, now: now, userAgent: headers["User-Agent"]))
        }
        return nil
    }

    /// What a date of `ServiceBusNotification-Apns-Expiry` means at this moment to the client that names itself so
    /// (Reference/AzureNotificationHubs.md#2-7).
    ///
    /// One client writes dates on a 12-hour clock without saying which half of the day it means: 14:45 arrives as 02:45 and may lie in
    /// the past. No client sends what has expired already, so such a value in the past is read twelve hours later if that lies ahead.
    /// Another client writes a true 24-hour clock and says who it is; its values are taken as they are.
    private static func moment(of time: LenientTime, now: Timestamp, userAgent: String?) -> Timestamp {
        let later = time.moment + .seconds(12 * 3600)
        guard time.isHalfOfDayOpen, time.moment <= now, later > now, userAgent?.contains("api-origin=DotNetSdk") != true else {
            return time.moment
        }
        return later
    }

    private static func seconds(_ text: String) -> Expiry? {
        guard (1...12).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text)
        else { return nil }
        return number == 0 ? .immediately : .at(Timestamp(seconds: number))
    }
}
