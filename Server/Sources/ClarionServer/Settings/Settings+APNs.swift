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
    }
}

extension Settings.APNs {
    /// Whether what is for production may be sent to the host: a slip must not show a real audience's pushes to a simulation, or
    /// take a simulation's answers for theirs.
    var mayServeProduction: Bool { allowsLocalHost || host.map { $0.lowercased().hasSuffix(".push.apple.com") } ?? true }
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
