/// Where an installation is reached: a device handle, or for a browser an endpoint with its keys
/// (Reference/AzureNotificationHubs.md#5-1).
public enum PushChannel: Hashable, Sendable {
    case handle(String)
    case browser(BrowserChannel)

    /// What the installation's own row is found by: the handle, or the browser's endpoint.
    public var handle: String {
        switch self {
        case .handle(let text): text
        case .browser(let channel): channel.endpoint
        }
    }
}

/// A browser's subscription for Web Push.
public struct BrowserChannel: Hashable, Sendable {
    public var endpoint: String
    public var p256dh: String
    public var auth: String
    /// Whether it is written as an object (one client) or as the same object in a string (others). The spelling that came is
    /// the one that goes back, since each client can read its own only.
    public var isObject: Bool

    /// Creates a subscription.
    public init(endpoint: String, p256dh: String, auth: String, isObject: Bool) {
        self.endpoint = endpoint
        self.p256dh = p256dh
        self.auth = auth
        self.isObject = isObject
    }

    private var object: WireJSON {
        .object([.init("endpoint", .string(endpoint)), .init("p256dh", .string(p256dh)), .init("auth", .string(auth))])
    }

    var json: WireJSON { isObject ? object : .string(object.text) }
}

extension PushChannel {
    var json: WireJSON {
        switch self {
        case .handle(let text): .string(text)
        case .browser(let channel): channel.json
        }
    }

    /// Reads a channel of a platform.
    init(_ json: WireJSON, isBrowser: Bool, limits: HubLimits) throws(HubRequestFault) {
        switch json {
        case .string(let text):
            guard !text.isEmpty else { throw HubRequestFault(at: "", "the device handle is empty") }
            guard text.utf8.count <= limits.handleBytes else {
                throw HubRequestFault(at: "", "a device handle has at most \(limits.handleBytes) bytes")
            }
            guard isBrowser else {
                self = .handle(text)
                return
            }
            guard let object = try? WireJSON(parsing: text.utf8) else {
                throw HubRequestFault(at: "", "a browser's channel is an object with endpoint, p256dh and auth, or its JSON text")
            }
            self = .browser(try Self.browser(object, isObject: false, limits))
        case .object where isBrowser: self = .browser(try Self.browser(json, isObject: true, limits))
        default: throw HubRequestFault(at: "", "a text is expected")
        }
    }

    private static func browser(_ json: WireJSON, isObject: Bool, _ limits: HubLimits) throws(HubRequestFault) -> BrowserChannel {
        var parts: [String] = []
        for name in ["endpoint", "p256dh", "auth"] {
            guard case .string(let text)? = json[name], (1...limits.handleBytes).contains(text.utf8.count) else {
                throw HubRequestFault(at: name, "a text of 1 to \(limits.handleBytes) bytes is expected")
            }
            parts.append(text)
        }
        return BrowserChannel(endpoint: parts[0], p256dh: parts[1], auth: parts[2], isObject: isObject)
    }
}
