import APNsHTTP2
import APNsProtocol
import ServiceErrors
import SharedAccess

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How pushes reach Apple, or a local APNs.
public struct APNsSettings: SettingGroup {
    package let environment = Setting(
        "apns-environment", .choice, default: APNsEnvironment.production,
        "The world of devices that say none of their own: sandbox for builds from Xcode, production for TestFlight and the store."
    )
    package let topic = Setting(
        "apns-topic", .optional(.topic), default: nil,
        "The bundle id of the app. Needed with a signing key.")
    package let teamID = Setting(
        "apns-team-id", .optional(.tenLetters), default: nil,
        "The team that owns the signing key: ten letters and digits from Apple's developer site.")
    package let keyID = Setting(
        "apns-key-id", .optional(.tenLetters), default: nil,
        "The id of the signing key: ten letters and digits, also in the name of the .p8 that Apple hands out.")
    package let key = Setting(
        "apns-key", .optional(.secret), default: nil, secret: true,
        "The signing key itself, the text of the .p8. Give apns-key-path instead where the key lies in the file system.")
    package let keyPath = Setting(
        "apns-key-path", .optional(.path), default: nil,
        "Where the .p8 lies; only the server needs to be able to read it.")
    package let host = Setting(
        "apns-host", .optional(.host), default: nil,
        "Another host in place of Apple's, such as a local APNs. With the production environment it needs allow-local-apns.")
    package let port = Setting(
        "apns-port", .remotePort, default: 443,
        "The port at that host. Apple also answers on 2197, for networks that let 443 through for browsers only.")
    package let managementPort = Setting(
        "apns-management-port", .optional(.remotePort), default: nil,
        "The port at apns-host where broadcast channels are managed. Without it such a host has none; Apple's own is known.")
    package let proxy = Setting(
        "apns-proxy", .optional(.proxy), default: nil, secret: true,
        """
        An HTTP proxy that lets connections to Apple out by CONNECT, such as http://proxy.example:3128; name and password may \
        stand before the host. It resolves Apple's name; TLS runs through it untouched. A host that is this machine itself \
        (localhost, 127.0.0.0/8 or ::1) is reached without it.
        """)
    package let trustRootsPath = Setting(
        "apns-trust-roots-path", .optional(.path), default: nil,
        "The certificates (PEM) that vouch for apns-host in place of the system's. A local APNs writes its own beside its data.")
    package let sandboxHost = Setting(
        "apns-sandbox-host", .optional(.host), default: nil,
        """
        Another host for pushes of the sandbox only, in place of apns-host and of Apple's. Production then keeps apns-host, or Apple's \
        host where that is not set. Without it both environments use apns-host.
        """)
    package let sandboxPort = Setting(
        "apns-sandbox-port", .optional(.remotePort), default: nil,
        "The port at apns-sandbox-host; 443 without it.")
    package let sandboxManagementPort = Setting(
        "apns-sandbox-management-port", .optional(.remotePort), default: nil,
        "The port at apns-sandbox-host where broadcast channels are managed.")
    package let sandboxTrustRootsPath = Setting(
        "apns-sandbox-trust-roots-path", .optional(.path), default: nil,
        "The certificates (PEM) that vouch for apns-sandbox-host in place of the system's.")
    package let allowsLocalHost = Setting(
        "allow-local-apns", .flag, default: false,
        "Allows apns-host with the production environment. It keeps a slip from sending a real audience to a simulation.")
}

extension Settings {
    public typealias APNs = GroupedSettings<APNsSettings>

    /// A signing key and what belongs to it.
    public struct Credential: Hashable, Sendable {
        public var teamID: String
        public var keyID: String
        /// The bundle id.
        public var topic: String
        /// The text of the `.p8`.
        public var key: SecretText
        /// Where the `.p8` lies; absent when its text was given.
        public var keyPath: String?
    }
}

extension Settings.APNs {
    /// The credential for APNs; without it nothing is pushed to Apple's devices. `key` holds the text of the file that `keyPath` names.
    public var credential: Settings.Credential? {
        get {
            guard let topic = self.topic, let teamID = self.teamID, let keyID = self.keyID, let key = self.key else { return nil }
            return Settings.Credential(teamID: teamID, keyID: keyID, topic: topic, key: key, keyPath: self.keyPath)
        }
        set {
            self.topic = newValue?.topic
            self.teamID = newValue?.teamID
            self.keyID = newValue?.keyID
            self.key = newValue?.key
            self.keyPath = newValue?.keyPath
        }
    }

    /// Whether what is for production may be sent to the host: a slip must not show a real audience's pushes to a simulation, or
    /// take a simulation's answers for theirs.
    package var mayServeProduction: Bool {
        self.allowsLocalHost || self.host.map { $0.lowercased().hasSuffix(".push.apple.com") } ?? true
    }

    /// The environments that `clarion doctor` tries to reach: that of the node, and the other one where the sandbox has a host of
    /// its own, since then hubs with credentials of their own use both.
    package var environmentsInUse: [APNsEnvironment] {
        guard self.sandboxHost != nil else { return [self.environment] }
        return mayServeProduction ? [.production, .sandbox] : [.sandbox]
    }

    /// Where pushes of the environment go.
    package func place(for environment: APNsEnvironment) -> APNsPlace {
        if environment == .sandbox, let host = self.sandboxHost {
            return APNsPlace(
                host: host, port: self.sandboxPort ?? 443, managementPort: self.sandboxManagementPort,
                trustRootsPath: self.sandboxTrustRootsPath,
                hostSetting: group.sandboxHost.declaration.key,
                trustRootsSetting: group.sandboxTrustRootsPath.declaration.key, isStandard: false, proxy: proxy(to: host))
        }
        let host = self.host ?? environment.host
        return APNsPlace(
            host: host, port: self.port, managementPort: self.managementPort, trustRootsPath: self.trustRootsPath,
            hostSetting: group.host.declaration.key,
            trustRootsSetting: group.trustRootsPath.declaration.key, isStandard: self.host == nil, proxy: proxy(to: host))
    }

    /// None to this machine itself: for a proxy elsewhere `localhost` is the machine of the proxy.
    private func proxy(to host: String) -> APNsProxy? { AddressRange.isLoopback(host: host) ? nil : self.proxy }
}

/// Where the pushes of one environment go.
package struct APNsPlace: Hashable, Sendable {
    package var host: String
    package var port: Int
    /// Where channels are managed at the host; absent where the host is Apple's or has none.
    package var managementPort: Int?
    package var trustRootsPath: String?
    /// The settings that name host and certificates.
    package var hostSetting: String
    package var trustRootsSetting: String
    /// Whether the host is Apple's because no setting names another.
    package var isStandard: Bool
    /// The proxy on the way there; absent for a direct way.
    package var proxy: APNsProxy?

    package var endpoint: APNsClientConfiguration.Endpoint { APNsClientConfiguration.Endpoint(host: host, port: port) }

    /// Whether it is known where channels are managed.
    package var managesChannels: Bool { managementPort != nil || host.lowercased().hasSuffix(".push.apple.com") }

    /// Where channels are managed; absent where that is not set.
    package var management: APNsClientConfiguration.Endpoint? {
        managementPort.map { APNsClientConfiguration.Endpoint(host: host, port: $0) }
    }

    /// Whose certificates are trusted there. Throws `not-ready` when the file cannot be read.
    package func trust() throws(ServiceError) -> APNsClientConfiguration.Trust {
        guard let path = trustRootsPath else { return .system }
        guard let pem = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw ServiceError(.notReady, "\(trustRootsSetting): \(path) cannot be read")
        }
        return .additional(pem: pem)
    }
}

extension SettingsResolver {
    /// A problem for a credential that is not whole, and for hosts and certificates that do not fit each other.
    mutating func checkAPNs() {
        checkTrustRoots(\.apns.trustRootsPath)
        checkCredential()
        if settings.apns.environment == .production, !settings.apns.mayServeProduction {
            complain(
                \.apns.host,
                "is not Apple's and the environment is production; set apns-environment: sandbox, or allow-local-apns: true if it is meant"
            )
        }
        if settings.apns.trustRootsPath != nil, settings.apns.host == nil {
            complain(\.apns.trustRootsPath, "is for another host than Apple's; set apns-host as well")
        }
        if settings.apns.managementPort != nil, settings.apns.host == nil {
            complain(\.apns.managementPort, "is for another host than Apple's; set apns-host as well")
        }
        checkTrustRoots(\.apns.sandboxTrustRootsPath)
        guard settings.apns.sandboxHost == nil else { return }
        let sentence = "belongs to apns-sandbox-host; set that as well"
        if settings.apns.sandboxPort != nil { complain(\.apns.sandboxPort, sentence) }
        if settings.apns.sandboxManagementPort != nil { complain(\.apns.sandboxManagementPort, sentence) }
        if settings.apns.sandboxTrustRootsPath != nil { complain(\.apns.sandboxTrustRootsPath, sentence) }
    }

    /// Takes the key from its file. When any part of a credential is set, every part must be.
    private mutating func checkCredential() {
        let apns = settings.apns
        let hasKey = apns.key != nil || apns.keyPath != nil
        guard hasKey || apns.topic != nil || apns.teamID != nil || apns.keyID != nil else { return }
        let sentence = "is needed too: apns-topic, apns-team-id, apns-key-id and the key belong together"
        if apns.topic == nil { complain(\.apns.topic, sentence) }
        if apns.teamID == nil { complain(\.apns.teamID, sentence) }
        if apns.keyID == nil { complain(\.apns.keyID, sentence) }
        if !hasKey { complain(\.apns.keyPath, sentence) }
        if let key = apns.key {
            if apns.keyPath != nil { complain(\.apns.keyPath, "apns-key is given as well; set only one of them") }
            checkAPNsKey(key, for: \.apns.key)
        } else if let text = readText(of: \.apns.keyPath) {
            let key = SecretText(text)
            checkAPNsKey(key, for: \.apns.keyPath)
            settings.apns.key = key
        }
    }
}
