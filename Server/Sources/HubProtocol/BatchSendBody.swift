import WireText

/// The body of a direct batch (Reference/AzureNotificationHubs.md#2-7): one notification and up to 1,000 device tokens, as two
/// parts of a multipart message.
public struct BatchSendBody: Hashable, Sendable {
    public var notification: [UInt8]
    /// The content type of the notification's part.
    public var contentType: String?
    /// The handles in their order, as they came: what is none of its platform may be among them, an empty text too.
    public var handles: [String]

    private static let boundary = "nh-batch-multipart-boundary"

    public init(notification: [UInt8], contentType: String? = nil, handles: [String]) {
        self.notification = notification
        self.contentType = contentType
        self.handles = handles
    }

    /// Reads a body with every deviation of the clients (Reference/AzureNotificationHubs.md#0-12): any multipart type, blanks
    /// around the boundary's `=`, parts named by unquoted names, a closing delimiter without line end or none at all.
    public init(
        contentType: String?, body: some Collection<UInt8>, limits: HubLimits = HubLimits()
    ) throws(HubRequestFault) {
        guard body.count <= limits.batchBytes else {
            throw HubRequestFault(.tooLarge, at: "body", "a batch has at most \(limits.batchBytes) bytes")
        }
        var notification: BatchParts.Part?
        var devices: BatchParts.Part?
        for part in try BatchParts.parts(contentType: contentType, body: Array(body)) {
            switch part.name?.lowercased() {
            case "notification" where notification == nil: notification = part
            case "devices" where devices == nil: devices = part
            case "notification", "devices": throw HubRequestFault(at: "body", "two parts have the same name")
            default: continue
            }
        }
        guard let notification else { throw HubRequestFault(at: "body", "there is no part named notification") }
        guard let devices else { throw HubRequestFault(at: "body", "there is no part named devices") }
        guard notification.content.count <= limits.notificationBytes else {
            throw HubRequestFault(.tooLarge, at: "notification", "it has more than \(limits.notificationBytes) bytes")
        }
        guard !notification.content.isEmpty else { throw HubRequestFault(at: "notification", "it is empty") }
        self.init(
            notification: Array(notification.content), contentType: notification.headers["Content-Type"],
            handles: try Self.handles(devices.content, limits))
    }

    private static func handles(_ content: ArraySlice<UInt8>, _ limits: HubLimits) throws(HubRequestFault) -> [String] {
        let json: WireJSON
        do { json = try WireJSON(parsing: content) } catch { throw error.within("devices", separator: ", ") }
        guard case .array(let elements) = json else { throw HubRequestFault(at: "devices", "a JSON array of texts is expected") }
        guard (1...limits.batchHandles).contains(elements.count) else {
            throw HubRequestFault(at: "devices", "a batch has 1 to \(limits.batchHandles) handles")
        }
        var handles: [String] = []
        handles.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            guard case .string(let handle) = element, handle.utf8.count <= limits.handleBytes else {
                throw HubRequestFault(at: "devices[\(index)]", "a text of at most \(limits.handleBytes) bytes is expected")
            }
            handles.append(handle)
        }
        return handles
    }

    /// The `Content-Type` of the request that `encoded` is the body of.
    public static let requestContentType = "multipart/mixed; boundary=\"\(boundary)\""

    /// The body as Reference/AzureNotificationHubs.md#2-7 shows it.
    public var encoded: [UInt8] {
        let type = contentType ?? "application/json; charset=utf-8"
        let devices = WireJSON.array(handles.map(WireJSON.string)).text
        return Array("--\(Self.boundary)\r\nContent-Type: \(type)\r\nContent-Disposition: inline; name=notification\r\n\r\n".utf8)
            + notification
            + Array(
                ("\r\n--\(Self.boundary)\r\nContent-Type: application/json; charset=utf-8\r\n"
                    + "Content-Disposition: inline; name=devices\r\n\r\n\(devices)\r\n--\(Self.boundary)--\r\n").utf8)
    }
}

/// Takes a multipart body apart (RFC 2046 section 5.1), as leniently as the clients need: lines may end in CRLF or LF, and the
/// closing delimiter may be missing. The body is small and whole, so nothing of the strict reader of uploads, which takes streams and
/// refuses all of this, would be of use.
private enum BatchParts {
    /// One part.
    struct Part {
        var headers: HeaderList
        var content: ArraySlice<UInt8>

        /// The `name` of its `Content-Disposition`, whatever the disposition is.
        var name: String? { headers["Content-Disposition"].flatMap { HeaderParameters(lenient: $0).parameters["name"] } }
    }

    private static let maximumParts = 8
    private static let maximumHeaders = 16

    static func parts(contentType: String?, body: [UInt8]) throws(HubRequestFault) -> [Part] {
        let type = contentType.map { HeaderParameters(lenient: $0) }
        guard let type, type.value.lowercased().hasPrefix("multipart/") else {
            throw HubRequestFault(at: "Content-Type", "multipart/mixed with a boundary is expected")
        }
        guard let boundary = type.parameters["boundary"], (1...200).contains(boundary.utf8.count) else {
            throw HubRequestFault(at: "Content-Type", "the boundary is missing or too long")
        }
        let delimiter = Array("--".utf8) + Array(boundary.utf8)
        var parts: [Part] = []
        var start: Int?
        var index = 0
        var isClosed = false
        while index < body.count, !isClosed {
            let end = body[index...].firstIndex(of: 0x0A) ?? body.count
            let line = trimmed(body[index..<end])
            if line.starts(with: delimiter), let isLast = isDelimiter(line.dropFirst(delimiter.count)) {
                if let start { parts.append(try part(body[start..<contentEnd(body, start, index)])) }
                guard parts.count <= maximumParts else { throw HubRequestFault(at: "body", "there are too many parts") }
                start = isLast ? nil : min(end + 1, body.count)
                isClosed = isLast
            }
            index = end + 1
        }
        // The end of the body closes the last part where a client writes no closing delimiter.
        if let start { parts.append(try part(body[start..<contentEnd(body, start, body.count)])) }
        return parts
    }

    /// What follows the boundary on its line: nothing for a delimiter, `--` for the closing one.
    private static func isDelimiter(_ rest: ArraySlice<UInt8>) -> Bool? {
        if rest.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { return false }
        return rest.starts(with: Array("--".utf8)) && rest.dropFirst(2).allSatisfy { $0 == 0x20 || $0 == 0x09 } ? true : nil
    }

    /// The line end in front of a delimiter belongs to the delimiter.
    private static func contentEnd(_ body: [UInt8], _ start: Int, _ end: Int) -> Int {
        var end = end
        if end > start, body[end - 1] == 0x0A { end -= 1 }
        if end > start, body[end - 1] == 0x0D { end -= 1 }
        return end
    }

    private static func part(_ bytes: ArraySlice<UInt8>) throws(HubRequestFault) -> Part {
        var headers = HeaderList()
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let end = bytes[index...].firstIndex(of: 0x0A) ?? bytes.endIndex
            let line = trimmed(bytes[index..<end])
            index = min(end + 1, bytes.endIndex)
            if line.isEmpty { return Part(headers: headers, content: bytes[index...]) }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), line.count <= 1024, headers.fields.count < maximumHeaders
            else {
                throw HubRequestFault(at: "body", "a part has a malformed header")
            }
            headers.fields.append(
                HeaderField(
                    String(decoding: line[..<colon], as: UTF8.self).trimmingBlanks,
                    String(decoding: line[(colon + 1)...], as: UTF8.self).trimmingBlanks))
        }
        throw HubRequestFault(at: "body", "a part has no blank line behind its headers")
    }

    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> { line.last == 0x0D ? line.dropLast() : line }
}
