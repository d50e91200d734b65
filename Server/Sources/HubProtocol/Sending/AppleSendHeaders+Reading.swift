import RichPushModel
import WireText

extension AppleSendHeaders {
    /// Reads the headers in all spellings of the clients: `apns-…` before `X-Apns-…` before `ServiceBusNotification-…`.
    ///
    /// `now` decides about dates on a 12-hour clock, see `LegacyExpiry`.
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
            guard let moment = LegacyExpiry(value)?.moment(now: now, userAgent: headers["User-Agent"]) else {
                throw HubRequestFault(at: name, "a date such as 2026-03-01T10:00:00Z or 03/01/2026 10:00:00 is expected")
            }
            return .at(moment)
        }
        return nil
    }

    private static func seconds(_ text: String) -> Expiry? {
        guard (1...12).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text)
        else { return nil }
        return number == 0 ? .immediately : .at(Timestamp(seconds: number))
    }
}
