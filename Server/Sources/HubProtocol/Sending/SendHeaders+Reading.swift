import RichPushModel
import WireText

extension SendHeaders {
    /// Reads the headers of a send. The body is looked at only when the format is missing: a top-level `aps` means `apple`
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
        else { throw HubRequestFault(at: NotificationFormat.headerName, "it is missing, and the body does not tell the format") }
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
