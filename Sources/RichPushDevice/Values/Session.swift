import RichPushModel

/// A random name for the time from one sign-in to the next sign-out.
public struct SessionID: Hashable, Sendable, Codable {
    /// 1 to 64 of `a-z 0-9 -`; it becomes the name of a folder.
    public let text: String

    /// Creates an id; `nil` when the text breaks the rule above.
    public init?(_ text: String) {
        let allowed = text.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || byte == UInt8(ascii: "-")
        }
        guard (1...64).contains(text.utf8.count), allowed else { return nil }
        self.text = text
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = SessionID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a session id")
        }
        self = id
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// Who is signed in on this device. It holds no secret.
public struct Session: Hashable, Sendable, Codable {
    public var id: SessionID
    /// The name as the server stored it.
    public var user: String
    public var installation: InstallationID
    public var signedInAt: Timestamp
    /// The server no longer takes the credential: nothing is fetched until the user signs in again.
    public var isRejected: Bool
    /// Somebody else has been signed in on this installation: a push that comes now may have been sent to them, since APNs keeps
    /// pushes for a phone that was off. Its own words are then not shown before the server has said that it is this user's.
    public var isShared: Bool

    /// Creates a session.
    public init(
        id: SessionID, user: String, installation: InstallationID, signedInAt: Timestamp, isRejected: Bool = false,
        isShared: Bool = false
    ) {
        self.id = id
        self.user = user
        self.installation = installation
        self.signedInAt = signedInAt
        self.isRejected = isRejected
        self.isShared = isShared
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(SessionID.self, forKey: .id)
        user = try container.decode(String.self, forKey: .user)
        installation = try container.decode(InstallationID.self, forKey: .installation)
        signedInAt = try container.decode(Timestamp.self, forKey: .signedInAt)
        isRejected = try container.decode(Bool.self, forKey: .isRejected)
        // Of a session that says nothing about it the careful answer is taken.
        isShared = try container.decodeIfPresent(Bool.self, forKey: .isShared) ?? true
    }
}
