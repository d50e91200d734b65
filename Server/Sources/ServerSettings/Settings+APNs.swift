import APNsHTTP2
import APNsProtocol
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Settings.APNs {
    init(from resolver: inout SettingsResolver) {
        environment = resolver.value(SettingCatalog.apnsEnvironment)
        host = resolver.value(SettingCatalog.apnsHost)
        port = resolver.value(SettingCatalog.apnsPort)
        proxy = resolver.value(SettingCatalog.apnsProxy)
        trustRootsPath = resolver.value(SettingCatalog.apnsTrustRootsPath)
        if let trustRootsPath { resolver.checkTrustRoots(trustRootsPath, for: SettingCatalog.apnsTrustRootsPath) }
        allowsLocalHost = resolver.value(SettingCatalog.allowLocalAPNs)
        credential = Settings.Credential(from: &resolver)
        if environment == .production, !mayServeProduction {
            resolver.complain(
                SettingCatalog.apnsHost,
                "is not Apple's and the environment is production; set apns-environment: sandbox, or allow-local-apns: true if it is meant"
            )
        }
        if trustRootsPath != nil, host == nil {
            resolver.complain(SettingCatalog.apnsTrustRootsPath, "is for another host than Apple's; set apns-host as well")
        }
        sandboxHost = SandboxHost(from: &resolver)
    }
}

extension Settings.APNs.SandboxHost {
    /// The host, if one is set. Complains of a port or of certificates without a host.
    fileprivate init?(from resolver: inout SettingsResolver) {
        let host = resolver.value(SettingCatalog.apnsSandboxHost)
        let port = resolver.value(SettingCatalog.apnsSandboxPort)
        let path = resolver.value(SettingCatalog.apnsSandboxTrustRootsPath)
        if let path { resolver.checkTrustRoots(path, for: SettingCatalog.apnsSandboxTrustRootsPath) }
        guard let host else {
            let sentence = "belongs to apns-sandbox-host; set that as well"
            if port != nil { resolver.complain(SettingCatalog.apnsSandboxPort, sentence) }
            if path != nil { resolver.complain(SettingCatalog.apnsSandboxTrustRootsPath, sentence) }
            return nil
        }
        self.init(host: host, port: port ?? 443, trustRootsPath: path)
    }
}

/// Where the pushes of one environment go.
package struct APNsPlace: Hashable, Sendable {
    package var host: String
    package var port: Int
    package var trustRootsPath: String?
    /// The settings that name host and certificates.
    package var hostSetting: String
    package var trustRootsSetting: String
    /// Whether the host is Apple's because no setting names another.
    package var isStandard: Bool

    package var endpoint: APNsClientConfiguration.Endpoint { APNsClientConfiguration.Endpoint(host: host, port: port) }

    /// Whose certificates are trusted there. Throws `not-ready` when the file cannot be read.
    package func trust() throws(ServiceError) -> APNsClientConfiguration.Trust {
        guard let path = trustRootsPath else { return .system }
        guard let pem = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw ServiceError(.notReady, "\(trustRootsSetting): \(path) cannot be read")
        }
        return .additional(pem: pem)
    }
}

extension Settings.APNs {
    /// Where pushes of the environment go.
    package func place(for environment: APNsEnvironment) -> APNsPlace {
        if environment == .sandbox, let sandboxHost {
            return APNsPlace(
                host: sandboxHost.host, port: sandboxHost.port, trustRootsPath: sandboxHost.trustRootsPath,
                hostSetting: SettingCatalog.apnsSandboxHost.declaration.key,
                trustRootsSetting: SettingCatalog.apnsSandboxTrustRootsPath.declaration.key, isStandard: false)
        }
        return APNsPlace(
            host: host ?? environment.host, port: port, trustRootsPath: trustRootsPath,
            hostSetting: SettingCatalog.apnsHost.declaration.key,
            trustRootsSetting: SettingCatalog.apnsTrustRootsPath.declaration.key, isStandard: host == nil)
    }

    /// The environments that `clarion doctor` tries to reach: that of the node, and the other one where the sandbox has a host of
    /// its own, since then hubs with credentials of their own use both.
    package var environmentsInUse: [APNsEnvironment] {
        guard sandboxHost != nil else { return [environment] }
        return mayServeProduction ? [.production, .sandbox] : [.sandbox]
    }
}

extension Settings.APNs {
    /// Whether what is for production may be sent to the host: a slip must not show a real audience's pushes to a simulation, or
    /// take a simulation's answers for theirs.
    package var mayServeProduction: Bool { allowsLocalHost || host.map { $0.lowercased().hasSuffix(".push.apple.com") } ?? true }
}

extension Settings.Credential {
    /// The credential, if any part of one is set; then every part must be.
    fileprivate init?(from resolver: inout SettingsResolver) {
        let topic = resolver.value(SettingCatalog.apnsTopic)
        let teamID = resolver.value(SettingCatalog.apnsTeamID)
        let keyID = resolver.value(SettingCatalog.apnsKeyID)
        let key = resolver.value(SettingCatalog.apnsKey)
        let path = resolver.value(SettingCatalog.apnsKeyPath)
        guard topic != nil || teamID != nil || keyID != nil || key != nil || path != nil else { return nil }
        let sentence = "is needed too: apns-topic, apns-team-id, apns-key-id and the key belong together"
        if topic == nil { resolver.complain(SettingCatalog.apnsTopic, sentence) }
        if teamID == nil { resolver.complain(SettingCatalog.apnsTeamID, sentence) }
        if keyID == nil { resolver.complain(SettingCatalog.apnsKeyID, sentence) }
        if key == nil, path == nil { resolver.complain(SettingCatalog.apnsKeyPath, sentence) }
        if key != nil, path != nil {
            resolver.complain(SettingCatalog.apnsKeyPath, "apns-key is given as well; set only one of them")
        }
        let found =
            key.map { resolver.checkAPNsKey($0, for: SettingCatalog.apnsKey) }
            ?? path.flatMap { resolver.readText($0, for: SettingCatalog.apnsKeyPath) }.map(SecretText.init)
            .map { resolver.checkAPNsKey($0, for: SettingCatalog.apnsKeyPath) }
        guard let topic, let teamID, let keyID, let found else { return nil }
        self.init(teamID: teamID, keyID: keyID, topic: topic, key: found, keyPath: path)
    }
}
