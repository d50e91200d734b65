import RichPushModel

/// Why a call of the engine failed.
public enum RichPushError: Error, Hashable, Sendable, Codable {
    /// No user is signed in.
    case notSignedIn
    /// A user name has 1 to 64 of `A-Z a-z 0-9 _ @ . -`.
    case badUserName
    /// A tag has 1 to 120 letters, digits and `_ @ # . : -`, and an installation has at most 59 of them.
    case badTag
    /// The server does not know this user with this password.
    case wrongPassword
    /// A sign-in token has 1 to 16,384 visible ASCII characters.
    case badToken
    /// The server does not accept this sign-in token; the problem's `detail` says why.
    case tokenRejected(Problem)
    /// The app's token provider threw an error, or gave nothing in time; the engine asks it again.
    case tokenUnavailable
    /// The server refuses this installation's credential; the user must sign in again.
    case credentialRejected
    /// The app does not keep the password that this call needs. An app that signs in with tokens sends from its own backend instead.
    case passwordNotKept
    /// A sign-in or sign-out is under way.
    case busy
    /// The server could not be reached.
    case offline
    case timedOut
    /// The server has no such thing for this user: it never existed, is gone, or is another user's. The server does not say which.
    case notFound
    /// The notification is gone: its sender recalled it, or it expired.
    case recalled
    /// The server is busy; it asked for this pause.
    case serverBusy(retryAfter: Duration?)
    /// The server failed, with this HTTP status; also what is between device and server, such as a proxy that answers 404.
    case serverFailed(Int)
    /// The server refused, with this problem.
    case refused(Problem)
    /// The answer is not what the API promises.
    case badAnswer
    /// A redirect to an origin from which no content is fetched.
    case badRedirect
    /// The bytes are not the ones that the server described.
    case contentMismatch
    /// The bytes do not match their type, or have a type that this app does not accept.
    case badMediaType
    case tooLarge
    /// It is end-to-end encrypted, and not for the key of this device: sealed before this sign-in, or for others.
    case notSealedForThisDevice
    /// It is end-to-end encrypted and does not open: damaged, or exchanged for something else.
    case sealBroken
    /// Another process of this app fetches it right now.
    case claimed
    case storage(StorageError)

    /// What an app does about an error.
    public enum Remedy: Hashable, Sendable {
        /// The same call may succeed later without any change.
        case tryLater
        /// The user signs in again, with a new token or with name and password.
        case signIn
        /// The app passes something else: another name, tag, token or request.
        case change
        /// Nothing helps: the content is gone or cannot be shown here. The user reads why.
        case tell
    }

    /// What the app does about it.
    public var remedy: Remedy {
        switch self {
        case .offline, .timedOut, .serverBusy, .serverFailed, .busy, .claimed, .tokenUnavailable, .storage(.locked): .tryLater
        case .notSignedIn, .wrongPassword, .tokenRejected, .credentialRejected: .signIn
        case .badUserName, .badTag, .badToken, .passwordNotKept, .refused, .tooLarge: .change
        case .notFound, .recalled, .badAnswer, .badRedirect, .contentMismatch, .badMediaType, .notSealedForThisDevice,
            .sealBroken, .storage:
            .tell
        }
    }

    /// Whether the same call may succeed later without any change.
    public var isTransient: Bool { remedy == .tryLater }

    /// A short code for logs and receipts: `a-z` and `-`.
    public var code: String {
        switch self {
        case .notSignedIn: "not-signed-in"
        case .badUserName: "bad-user-name"
        case .badTag: "bad-tag"
        case .wrongPassword: "wrong-password"
        case .badToken: "bad-token"
        case .tokenRejected: "token-rejected"
        case .tokenUnavailable: "token-unavailable"
        case .credentialRejected: "credential-rejected"
        case .passwordNotKept: "password-not-kept"
        case .busy: "busy"
        case .offline: "offline"
        case .timedOut: "timed-out"
        case .notFound: "not-found"
        case .recalled: "recalled"
        case .serverBusy: "server-busy"
        case .serverFailed: "server-failed"
        case .refused: "refused"
        case .badAnswer: "bad-answer"
        case .badRedirect: "bad-redirect"
        case .contentMismatch: "content-mismatch"
        case .badMediaType: "bad-media-type"
        case .tooLarge: "too-large"
        case .notSealedForThisDevice: "not-sealed-for-this-device"
        case .sealBroken: "seal-broken"
        case .claimed: "claimed"
        case .storage: "storage"
        }
    }
}

/// Why something could not be stored or read on the device.
public enum StorageError: Error, Hashable, Sendable, Codable {
    /// The device was not unlocked since it started: nothing is readable, nothing may be deleted (Reference/IOSClient.md#5).
    case locked
    /// The session to which this belongs has ended, perhaps in another process. What is written now would outlive the sign-out.
    case sessionEnded
    /// The file system or the key chain refused.
    case failed
}
