/// The answer to `GET /api/v1/installations`: what the server knows of a user's devices, for whoever looks after them.
public struct DeviceList: Hashable, Sendable, Codable {
    /// Those that are signed in, the newest first.
    public var devices: [DeviceEntry]
    /// Those that another user took over by registering the same device token, the newest first, at most 20; absent when there is
    /// none. A phone that changed hands is among them, and so is one that a stranger who knows its token took.
    public var takenOver: [TakenDevice]?

    /// Creates a list.
    public init(devices: [DeviceEntry], takenOver: [TakenDevice]? = nil) {
        self.devices = devices
        self.takenOver = takenOver
    }
}

/// A device that was this user's until another user registered its device token.
public struct TakenDevice: Hashable, Sendable, Codable {
    /// The id that the device had here.
    public var id: String
    /// When it was taken over.
    public var takenAt: Timestamp

    /// Creates an entry.
    public init(id: String, takenAt: Timestamp) {
        self.id = id
        self.takenAt = takenAt
    }
}

/// One app on one device, as it told the server last. What it did not tell is absent.
public struct DeviceEntry: Hashable, Sendable, Codable {
    /// The id of the installation, or of the registration of a phone of the rich push tutorial.
    public var id: String
    /// `installation` or `registration`.
    public var kind: String
    public var user: String
    public var platform: String
    /// The first six characters of the device token; nobody needs more to tell two apart.
    public var handle: String?
    public var environment: String?
    public var topic: String?
    public var tags: [String]
    /// Since when the device is this user's with these tags and this token.
    public var since: Timestamp
    /// As in `InstallationUpdate`.
    public var locale: String?
    public var appVersion: String?
    public var systemVersion: String?
    public var timeZone: String?
    public var permission: String?
    public var capabilities: [String]?

    /// Creates an entry; what is not named here is absent until it is set.
    public init(id: String, kind: String, user: String, platform: String, tags: [String], since: Timestamp) {
        self.id = id
        self.kind = kind
        self.user = user
        self.platform = platform
        self.tags = tags
        self.since = since
    }
}
