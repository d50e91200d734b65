import PushHub
import RichPushModel
import ServiceErrors
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The credential for APNs that a hub is to have of its own: a signing key, or a certificate with its key.
public struct HubCredentialRequest: Sendable, Codable {
    /// The signing key: the text of the `.p8`.
    public var key: String?
    /// Ten letters and digits.
    public var keyId: String?
    /// Ten letters and digits.
    public var teamId: String?
    /// A certificate with its key, PEM or PKCS #12, in Base64.
    public var certificate: String?
    /// The password of the PKCS #12.
    public var password: String?
    /// The bundle id; a certificate may name it itself.
    public var topic: String?
    /// `sandbox` or `production`; the default is `production`.
    public var environment: String?

    /// Creates a request.
    public init(
        key: String? = nil, keyId: String? = nil, teamId: String? = nil, certificate: String? = nil, password: String? = nil,
        topic: String? = nil, environment: String? = nil
    ) {
        self.key = key
        self.keyId = keyId
        self.teamId = teamId
        self.certificate = certificate
        self.password = password
        self.topic = topic
        self.environment = environment
    }

    /// Throws `invalid-field` unless it is one of the two, and whole.
    func credential() throws(ServiceError) -> HubAPNsCredential {
        guard let environment = HubAPNsCredential.Environment(rawValue: environment ?? "production") else {
            throw ServiceError(.invalidField, "environment: sandbox or production")
        }
        return HubAPNsCredential(identity: try identity(), topic: topic, environment: environment)
    }

    private func identity() throws(ServiceError) -> HubAPNsCredential.Identity {
        switch (key, certificate) {
        case (let key?, nil):
            guard let keyId, let teamId else { throw ServiceError(.invalidField, "key: it needs keyId and teamId") }
            guard password == nil else { throw ServiceError(.invalidField, "password: it belongs to a certificate") }
            return .token(key: key, keyID: keyId, teamID: teamId)
        case (nil, let text?):
            guard keyId == nil, teamId == nil else {
                throw ServiceError(.invalidField, "keyId and teamId: they belong to a signing key")
            }
            guard let data = Data(base64Encoded: text) else { throw ServiceError(.invalidField, "certificate: it is Base64") }
            return .certificate(data: Array(data), password: password)
        default: throw ServiceError(.invalidField, "key and certificate: give one of them")
        }
    }
}

/// A hub's own credential for APNs as its managers see it.
public struct ManagedHubCredential: Sendable, Codable {
    /// `key` or `certificate`.
    public var kind: String
    public var keyId: String?
    public var teamId: String?
    /// Absent for a certificate that names the app itself.
    public var topic: String?
    /// `sandbox` or `production`.
    public var environment: String

    init(_ credential: HubAPNsCredential) {
        switch credential.identity {
        case .token(_, let keyID, let teamID): (kind, keyId, teamId) = ("key", keyID, teamID)
        case .certificate: kind = "certificate"
        }
        (topic, environment) = (credential.topic, credential.environment.rawValue)
    }
}

/// What APNs says of the credential with which a hub sends.
public struct HubCredentialTrial: Sendable, Codable {
    /// What it comes to.
    public enum Result: String, Sendable, Codable {
        /// APNs takes pushes with it.
        case accepted
        /// APNs refuses it, or the topic.
        case refused
        /// There is no answer that says so.
        case unknown
    }

    public var result: Result
    /// The reason of APNs or of the way to it.
    public var reason: String?

    /// Takes the outcome of a push to a device that does not exist.
    init(_ outcome: PushOutcome?) {
        switch outcome {
        case .accepted, .gone, .badToken: result = .accepted
        case .misconfigured(let reason): (result, self.reason) = (.refused, reason)
        case .unsupported: (result, reason) = (.refused, "no credential for this environment")
        // It is another app's device, so APNs has looked at the credential.
        case .rejected("DeviceTokenNotForTopic"): result = .accepted
        case .rejected(let reason) where RefusalReasons.ofTopic.contains(reason): (result, self.reason) = (.refused, reason)
        case .rejected(let reason), .retry(_, let reason), .delayed(_, let reason), .notSent(let reason),
            .unavailable(let reason, _), .unknown(let reason):
            (result, self.reason) = (.unknown, reason)
        case .tooLarge, nil: result = .unknown
        }
    }
}

/// The credentials of hubs for APNs.
extension RichPushBackend {
    /// Gives a hub a credential of its own, or replaces it; its next sends use it, on every node within five seconds. Throws `not-found`;
    /// `invalid-field` for one that cannot be used; `forbidden` as `rollHubKey` does.
    public func setHubCredential(
        _ request: HubCredentialRequest, of name: String, by principal: Principal? = nil
    ) async throws -> ManagedHub {
        try await changeCredential(.set(.apns(try request.credential())), of: name, by: principal)
    }

    /// Removes a hub's own credential, so that the node's holds again. Throws as `setHubCredential`.
    public func removeHubCredential(of name: String, by principal: Principal? = nil) async throws -> ManagedHub {
        try await changeCredential(.remove(.apns), of: name, by: principal)
    }

    private func changeCredential(
        _ credential: HubChange.Credential, of name: String, by principal: Principal?
    ) async throws -> ManagedHub {
        let (hubs, name) = (try managedHubs(), try Self.knownHub(name))
        try hubs.requirePower(over: name, principal, "changes its credential")
        let change = HubChange(credentials: [credential])
        _ = try await hubs.registry.update(
            name, with: change, audit: entry(.hubChanged, by: principal, object: name.text, details: change.words()))
        hubs.catalog.forget()
        return try await hub(name.text)
    }

    /// Asks APNs about the credential with which a hub sends: one silent push to a device token that no device has. It counts as a send of
    /// the caller. Throws `not-found` and `too-many-requests`.
    public func tryHubCredential(of name: String, by principal: Principal) async throws -> HubCredentialTrial {
        let (hubs, name) = (try managedHubs(), try Self.knownHub(name))
        guard let transport = hubs.transport else { throw ServiceError(.notFound, "this node sends no pushes") }
        guard let record = try await hubs.registry.hub(named: name) else { throw Self.noHub }
        try countSend(of: principal)
        guard let token = DeviceToken(Hexadecimal.random(byteCount: 32), platform: .apns) else { throw ServiceError(.internal) }
        let batch = PushBatch(
            hub: record.id, bodies: [Array(#"{"aps":{"content-available":1}}"#.utf8)],
            headers: [PushBatch.Headers(pushType: "background", priority: 5, expiration: 0)],
            targets: [PushBatch.Target(handle: token, pushID: PushID(UUID()))], isExpress: true)
        await transport.prepare(for: record.id, on: .apns)
        return HubCredentialTrial(await transport.send(batch).first)
    }
}
