/// With what a hub proves to APNs who it is (Reference/APNs.md#2). Never printed.
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

    /// Creates a credential.
    public init(identity: Identity, topic: String?, environment: Environment) {
        self.identity = identity
        self.topic = topic
        self.environment = environment
    }
}

extension HubAPNsCredential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        let kind =
            switch identity {
            case .token(_, let keyID, let teamID): "signing key \(keyID) of team \(teamID)"
            case .certificate: "certificate"
            }
        return "\(kind) for \(topic ?? "the app it names"), \(environment.rawValue) (not shown)"
    }

    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
