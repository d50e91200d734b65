import Crypto
import CryptoExtras
import RichPushModel
import WireText

/// What a local FCM knows that outlasts a run: without it every registration token and every key file is refused after a restart.
///
/// It holds registration tokens and the key that makes them, which are secrets. Records, faults, quotas and access tokens are no part of
/// it: a sender hears 401 and gets another access token, as it has to be able to.
public struct KeptFCM: Sendable, Hashable, Codable {
    /// A project with its service accounts, of which the public keys are kept.
    public struct Project: Sendable, Hashable, Codable {
        struct Account: Sendable, Hashable, Codable {
            var maySend: Bool
            /// PEM by the ids of the keys.
            var keys: [String: String]
        }

        var id: String
        var number: String
        var settings: LocalFCMProjectSettings
        var accounts: [String: Account]
    }

    /// An app on a device, with what waits for it.
    public struct Device: Sendable, Hashable, Codable {
        var name: String
        var project: String
        var package: String
        var platform: DevicePlatform
        var fid: String
        var token: String?
        var lastSeen: Timestamp
        var isOnline: Bool
        var isForceStopped: Bool?
        var topics: [String]
        var waiting: [DeviceMessage]
        var hasLostMessages: Bool?
    }

    /// The form of this document.
    static let presentVersion = 1

    var version = Self.presentVersion
    var tokenKey: String
    var projects: [Project] = []
    var devices: [Device] = []

    /// Whether there is nothing to keep.
    public var isEmpty: Bool { projects.isEmpty && devices.isEmpty }
}

extension FCMServiceState {
    var kept: KeptFCM {
        var kept = KeptFCM(tokenKey: Base64URL.text(of: tokenKey.withUnsafeBytes { Array($0) }))
        kept.projects = projects.values.sorted { $0.id < $1.id }.map { project in
            KeptFCM.Project(
                id: project.id, number: project.number, settings: project.settings,
                accounts: project.accounts.mapValues { account in
                    .init(maySend: account.maySend, keys: account.keys.mapValues(\.pemRepresentation))
                })
        }
        kept.devices = devices.sorted { $0.key < $1.key }.map { name, device in
            KeptFCM.Device(
                name: name, project: device.project, package: device.package, platform: device.platform, fid: device.fid,
                token: device.token, lastSeen: device.lastSeen, isOnline: device.isOnline,
                isForceStopped: device.isForceStopped ? true : nil, topics: device.topics.sorted(), waiting: device.waiting,
                hasLostMessages: device.hasLostMessages ? true : nil)
        }
        return kept
    }

    mutating func restore(_ kept: KeptFCM) throws(LocalFCMError) {
        guard kept.version == KeptFCM.presentVersion else { throw .badKeptState("it has another version") }
        guard let key = Base64URL.bytes(of: kept.tokenKey), key.count == 32 else {
            throw .badKeptState("the key of the registration tokens has not 32 bytes")
        }
        tokenKey = SymmetricKey(data: key)
        for project in kept.projects { try restore(project) }
        for device in kept.devices { try restore(device) }
        keptRevision += 1
    }

    private mutating func restore(_ kept: KeptFCM.Project) throws(LocalFCMError) {
        guard LocalFCMProject.isID(kept.id), numbers[kept.number] == nil else {
            throw .badKeptState("a project has no id, or the number of another one")
        }
        var project = LocalFCMProject(id: kept.id, number: kept.number, settings: kept.settings)
        for (email, account) in kept.accounts {
            var keys: [String: _RSA.Signing.PublicKey] = [:]
            for (id, pem) in account.keys {
                guard let key = try? _RSA.Signing.PublicKey(pemRepresentation: pem) else {
                    throw .badKeptState("a key of a service account is no PEM")
                }
                keys[id] = key
            }
            project.accounts[email] = .init(maySend: account.maySend, keys: keys)
        }
        projects[kept.id] = project
        numbers[kept.number] = kept.id
    }

    /// A token that the key did not make would be answered as no token.
    private mutating func restore(_ kept: KeptFCM.Device) throws(LocalFCMError) {
        guard projects[kept.project] != nil, fids[kept.fid] == nil, kept.token.map(wasIssued) ?? true else {
            throw .badKeptState("a device and its registration token do not fit")
        }
        var device = AndroidDevice(
            project: kept.project, package: kept.package, platform: kept.platform, fid: kept.fid, token: kept.token,
            lastSeen: kept.lastSeen)
        device.isOnline = kept.isOnline
        device.isForceStopped = kept.isForceStopped ?? false
        (device.topics, device.waiting) = (Set(kept.topics), kept.waiting)
        device.hasLostMessages = kept.hasLostMessages ?? false
        devices[kept.name] = device
        fids[kept.fid] = kept.name
        if let token = kept.token { tokens[token] = kept.name }
        for topic in kept.topics { followers[.init(project: kept.project, topic: topic), default: []].insert(kept.name) }
    }
}
