import Crypto
import CryptoExtras
import RichPushModel
import WireText

/// What a local FCM knows that outlasts a run: without it every registration token and every key file is refused after a restart.
///
/// It holds registration tokens and the key that makes them, which are secrets. Records, faults, quotas and access tokens are
/// no part of it: a sender hears 401 and gets another access token, as it has to be able to.
public struct KeptFCM: Sendable, Hashable, Codable {
    /// An app on a device, with what waits for it.
    public struct Device: Sendable, Hashable, Codable {
        var name, project, package, fid: String
        var platform: DevicePlatform
        var token: String?
        var lastSeen: Timestamp
        var isOnline, isForceStopped, hasLostMessages: Bool
        var topics: [String]
        var waiting: [DeviceMessage]
    }

    static let presentVersion = 1

    var version = Self.presentVersion
    var tokenKey: String
    var projects: [LocalFCMProject]
    var devices: [Device]

    /// Whether there is nothing to keep.
    public var isEmpty: Bool { projects.isEmpty && devices.isEmpty }
}

extension FCMServiceState {
    var kept: KeptFCM {
        let devices = devices.sorted { $0.key < $1.key }.map { name, device in
            KeptFCM.Device(
                name: name, project: device.project, package: device.package, fid: device.fid, platform: device.platform,
                token: device.token, lastSeen: device.lastSeen, isOnline: device.isOnline, isForceStopped: device.isForceStopped,
                hasLostMessages: device.hasLostMessages, topics: device.topics.sorted(), waiting: device.waiting)
        }
        return KeptFCM(
            tokenKey: Base64URL.text(of: tokenKey.withUnsafeBytes { Array($0) }),
            projects: projects.values.sorted { $0.id < $1.id }, devices: devices)
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

    private mutating func restore(_ project: LocalFCMProject) throws(LocalFCMError) {
        guard LocalFCMProject.isID(project.id), numbers[project.number] == nil else {
            throw .badKeptState("a project has no id, or the number of another one")
        }
        let keys = project.accounts.values.flatMap(\.keys.values)
        guard keys.allSatisfy({ (try? _RSA.Signing.PublicKey(pemRepresentation: $0)) != nil }) else {
            throw .badKeptState("a key of a service account is no PEM")
        }
        projects[project.id] = project
        numbers[project.number] = project.id
    }

    /// A token that the key did not make would be answered as no token.
    private mutating func restore(_ kept: KeptFCM.Device) throws(LocalFCMError) {
        guard projects[kept.project] != nil, fids[kept.fid] == nil, kept.token.map(wasIssued) ?? true else {
            throw .badKeptState("a device and its registration token do not fit")
        }
        devices[kept.name] = AndroidDevice(
            project: kept.project, package: kept.package, platform: kept.platform, fid: kept.fid, token: kept.token,
            lastSeen: kept.lastSeen, isOnline: kept.isOnline, isForceStopped: kept.isForceStopped, topics: Set(kept.topics),
            waiting: kept.waiting, hasLostMessages: kept.hasLostMessages)
        fids[kept.fid] = kept.name
        if let token = kept.token { tokens[token] = kept.name }
        for topic in kept.topics { followers[.init(project: kept.project, topic: topic), default: []].insert(kept.name) }
    }
}
