/// The body of a direct batch (Reference/AzureNotificationHubs.md#2-7): one notification and up to 1,000 device handles, as two
/// parts of a multipart message.
public struct BatchSendBody: Hashable, Sendable {
    public var notification: [UInt8]
    /// The content type of the notification's part.
    public var contentType: String?
    /// The handles in their order, as they came: what is none of its platform may be among them, an empty text too.
    public var handles: [String]

    private static let boundary = "nh-batch-multipart-boundary"

    /// Creates a body.
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
        var notification: MultipartReader.Part?
        var devices: MultipartReader.Part?
        for part in try MultipartReader.parts(contentType: contentType, body: Array(body)) {
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
