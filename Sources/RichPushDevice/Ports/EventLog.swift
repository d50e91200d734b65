import RichPushModel

/// Hears what the engine does. Called often and from any thread: it must return at once.
public protocol EventLog: Sendable {
    func record(_ event: DeviceEvent)
}

/// One thing that the engine did. Never a secret, a token or content.
public struct DeviceEvent: Hashable, Sendable, Codable {
    /// What.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        case signedIn, signedOut, registered, registrationFailed
        /// A user signed out, and the server did not get everything that waited for it: `replies` and `notes` count what is lost.
        case undelivered
        /// The server takes the installation without its tags only; `kept` of those that it took before are left.
        case tagsRefused
        /// A push is not for this session.
        case ignored
        /// A push for something that is being handled or was shown already.
        case repeated
        case fetched
        case fetchFailed
        /// A local notification was handed to the system.
        case presented
        case presentFailed
        /// The extension handed edited content to the system.
        case enriched
        /// The extension left the content as it was.
        case unchanged
        /// The system shows a notification of this user's over the app: the inbox has something new.
        case arrived
        /// OK / More was offered.
        case offered
        case opened
        case dismissed
        case receiptsSent
        case sent
        case storageFailed
    }

    public var kind: Kind
    public var richID: RichID?
    /// Facts, for example `reason`, `bytes`, `source`.
    public var detail: [String: String]

    /// Creates an event.
    public init(_ kind: Kind, _ richID: RichID? = nil, _ detail: [String: String] = [:]) {
        self.kind = kind
        self.richID = richID
        self.detail = detail
    }
}
