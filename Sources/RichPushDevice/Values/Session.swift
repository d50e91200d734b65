import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

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
    /// The server refuses the credential: nothing is fetched until the user signs in again.
    public var isRejected: Bool
    /// Another user has been signed in on this installation: a push that comes now may have been sent to them, since APNs keeps pushes
    /// for a phone that was off. Its own text is not shown before the server has said that it is this user's.
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
        // A record without the field counts as shared, which is the safe default.
        isShared = try container.decodeIfPresent(Bool.self, forKey: .isShared) ?? true
    }

    /// Compares the mark of a push with this user's.
    func owner(of id: RichID, marked subject: SubjectMark?) -> PushOwner {
        guard let subject else { return .unmarked }
        let own = SubjectMark(digest: SHA256.hash(data: SubjectMark.message(of: id, for: user)))
        return subject == own ? .thisUser : .another
    }

    /// Whether the text of a push may be shown before the server has said whose it is.
    func mayShowText(of id: RichID, marked subject: SubjectMark?) -> Bool {
        switch owner(of: id, marked: subject) {
        case .thisUser: true
        case .another: false
        case .unmarked: !isShared
        }
    }
}

/// Whose a push is, according to its mark.
enum PushOwner: Hashable, Sendable {
    case thisUser, another
    /// It carries no mark: it is for several users, or its server makes none.
    case unmarked
}

/// Whether a user is signed in, as an app's root screen shows it.
public enum RichPushState: Hashable, Sendable {
    /// Not read yet, as right after the launch and before the first unlock of a restarted device.
    case starting
    case signedOut
    /// A sign-in with a token waits for the server, and goes on by itself.
    case signingIn
    case signedIn(Session)
    /// The server refuses the credential. What is on the device can be read, nothing is fetched, and the user must sign in again.
    case signInNeeded(Session)

    /// Who is signed in, also when they must do it again.
    public var session: Session? {
        switch self {
        case .signedIn(let session), .signInNeeded(let session): session
        case .starting, .signedOut, .signingIn: nil
        }
    }
}

/// What a sign-out could not send to the server. It is lost: nothing of the user stays on the device.
public struct SignOutResult: Hashable, Sendable, Codable {
    /// Replies of the user that are lost: not accepted before `DeviceLimits.signOutDeadline`, or refused permanently. Inform the user.
    public var lostReplies: Int
    /// Receipts and read marks that the server did not get, so another device may still count these notifications as unread.
    public var lostNotes: Int

    /// Whether the server has everything.
    public var isComplete: Bool { lostReplies == 0 && lostNotes == 0 }

    /// Creates a result; by default one that lost nothing.
    public init(lostReplies: Int = 0, lostNotes: Int = 0) {
        self.lostReplies = lostReplies
        self.lostNotes = lostNotes
    }
}

/// Digests as text.
enum DigestText {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Two lower-case digits for each byte.
    static func text(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// SHA-256 of a text: a file name that is safe for any text.
    static func digest(_ text: String) -> String { self.text(SHA256.hash(data: Data(text.utf8))) }
}
