import RichPushModel

/// A credential of which nothing but its description is printed, in no way of printing.
public protocol UnprintedCredential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension UnprintedCredential {
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The credential with which a hub authenticates to the push service of one platform. Never printed.
public enum HubCredential: Sendable, Hashable, Codable {
    case apns(HubAPNsCredential)
    case browser(HubBrowserCredential)
    case fcm(HubFCMCredential)

    /// The platforms whose push services this version sends to.
    public static let platforms: [Platform] = [.apns, .browser, .fcmv1]

    /// Whose push service takes it.
    public var platform: Platform {
        switch self {
        case .apns: .apns
        case .browser: .browser
        case .fcm: .fcmv1
        }
    }

    /// The credential for APNs, if it is one.
    public var apns: HubAPNsCredential? { if case .apns(let credential) = self { credential } else { nil } }
}

extension HubCredential: UnprintedCredential {
    public var description: String {
        switch self {
        case .apns(let credential): credential.description
        case .browser(let credential): credential.description
        case .fcm(let credential): credential.description
        }
    }
}

/// The credential with which a hub authenticates to APNs (Reference/APNs.md#2). Never printed.
public struct HubAPNsCredential: Sendable, Hashable, Codable {
    /// The two worlds of APNs.
    public enum Environment: String, Sendable, Hashable, Codable, CaseIterable {
        case sandbox
        case production
    }

    /// How it proves it.
    public enum Identity: Sendable, Hashable, Codable {
        /// A signing key: the text of the `.p8`, its id, and the team that owns it.
        case token(key: String, keyID: String, teamID: String)
        /// A certificate with its key, as it was given: PEM or PKCS #12, and the password of the latter.
        case certificate(data: [UInt8], password: String?)
    }

    public var identity: Identity
    /// The bundle id. Absent for a certificate that names it itself.
    public var topic: String?
    public var environment: Environment

    public init(identity: Identity, topic: String?, environment: Environment) {
        self.identity = identity
        self.topic = topic
        self.environment = environment
    }
}

extension HubAPNsCredential: UnprintedCredential {
    public var description: String {
        let kind =
            switch identity {
            case .token(_, let keyID, let teamID): "signing key \(keyID) of team \(teamID)"
            case .certificate: "certificate"
            }
        return "\(kind) for \(topic ?? "the app it names"), \(environment.rawValue) (not shown)"
    }
}

/// The key pair with which a hub authenticates to the push services of browsers (RFC 8292). Never printed.
public struct HubBrowserCredential: Sendable, Hashable, Codable {
    /// Where the operator of a push service reaches the sender: `mailto:` or `https:`.
    public var subject: String
    /// With which browsers subscribe: a point on P-256 in Base64 for URLs.
    public var publicKey: String
    /// 32 bytes in Base64 for URLs.
    public var privateKey: String

    public init(subject: String, publicKey: String, privateKey: String) {
        self.subject = subject
        self.publicKey = publicKey
        self.privateKey = privateKey
    }
}

extension HubBrowserCredential: UnprintedCredential {
    public var description: String { "VAPID key \(publicKey.prefix(11))… of \(subject) (the private key is not shown)" }
}

/// The service account with which a hub authenticates to Firebase: Azure's three values (Reference/FCM.md#9-1), and the id of the key. Never
/// printed.
public struct HubFCMCredential: Sendable, Hashable, Codable {
    public var projectID: String
    public var clientEmail: String
    /// PEM of an RSA key.
    public var privateKey: String
    /// Names the key at Google. Azure's form of a credential has no place for it.
    public var keyID: String?

    public init(projectID: String, clientEmail: String, privateKey: String, keyID: String? = nil) {
        self.projectID = projectID
        self.clientEmail = clientEmail
        self.privateKey = privateKey
        self.keyID = keyID
    }
}

extension HubFCMCredential: UnprintedCredential {
    public var description: String {
        let account = "service account \(clientEmail) of project \(projectID) (the private key is not shown)"
        return keyID.map { "key \($0) of \(account)" } ?? account
    }
}
