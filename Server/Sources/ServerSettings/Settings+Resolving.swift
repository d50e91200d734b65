import AppBackend

extension Settings {
    /// Takes every setting from the sources. Values that do not fit leave a problem in the resolver and count as their default.
    init(from resolver: inout SettingsResolver) {
        dataDirectory = resolver.value(SettingCatalog.dataDirectory)
        let connections = resolver.value(SettingCatalog.databaseConnections)
        let pooler = resolver.value(SettingCatalog.databasePooler)
        let isWithoutFsync = resolver.value(SettingCatalog.databaseWithoutFsync)
        database = resolver.value(SettingCatalog.databaseURL).map {
            Database(url: $0, connections: connections, pooler: pooler, isWithoutFsync: isWithoutFsync)
        }
        contentStore = ContentStore(from: &resolver)
        role = resolver.value(SettingCatalog.role)
        if role != .all, database == nil {
            resolver.complain(SettingCatalog.role, "is for nodes that share a database; set database-url as well")
        }
        contentLimit = resolver.value(SettingCatalog.contentLimit)
        contentPixels = Int64(resolver.value(SettingCatalog.contentPixels))
        contentQuota = resolver.value(SettingCatalog.contentQuota)
        masterKey = resolver.value(SettingCatalog.masterKey)
        if contentQuota < contentLimit {
            resolver.complain(
                SettingCatalog.contentQuota, "is less than content-limit, so the largest content could never be stored")
        }
        retention = Self.retention(from: &resolver)
        listening = Listening(from: &resolver)
        metrics = Self.metrics(from: &resolver)
        logging = Logging(
            level: resolver.value(SettingCatalog.logLevel), format: resolver.value(SettingCatalog.logFormat))
        apns = APNs(from: &resolver)
        notifications = Notifications(from: &resolver)
        hubBounds = HubBounds(from: &resolver)
        users = UserBounds(from: &resolver)
        remoteHub = RemoteHub(from: &resolver)
        pushDeadline = resolver.value(SettingCatalog.pushDeadline)
        shutdownDeadline = resolver.value(SettingCatalog.shutdownDeadline)
    }

    private static func retention(from resolver: inout SettingsResolver) -> RetentionSettings {
        var retention = RetentionSettings()
        retention.content = resolver.value(SettingCatalog.retentionContent)
        retention.grace = resolver.value(SettingCatalog.retentionGrace)
        retention.audit = resolver.value(SettingCatalog.retentionAudit)
        return retention
    }

    private static func metrics(from resolver: inout SettingsResolver) -> Address? {
        let host = resolver.value(SettingCatalog.metricsHost)
        let port = resolver.value(SettingCatalog.metricsPort)
        let isOpen = resolver.value(SettingCatalog.metricsOpen)
        guard let port else { return nil }
        if !AddressRange.isLoopback(host: host), !isOpen {
            resolver.complain(
                SettingCatalog.metricsHost, "is beyond this machine and /metrics asks for no password; set metrics-open: true")
        }
        return Address(host: host, port: port)
    }
}

extension Settings.Listening {
    fileprivate init(from resolver: inout SettingsResolver) {
        address = Settings.Address(
            host: resolver.value(SettingCatalog.listenHost), port: resolver.value(SettingCatalog.listenPort))
        publicURL = resolver.value(SettingCatalog.publicURL)
        isBehindTLSProxy = resolver.value(SettingCatalog.behindTLSProxy)
        trustedProxies = resolver.value(SettingCatalog.trustedProxies)
        connectionLimit = resolver.value(SettingCatalog.connectionLimit)
        backlog = resolver.value(SettingCatalog.listenBacklog)
        requestLimit = resolver.value(SettingCatalog.requestLimit)
        tls = Settings.TLS(from: &resolver)
        priorKnowledgePort = resolver.value(SettingCatalog.priorKnowledgePort)
        let isInsecure = resolver.value(SettingCatalog.insecure)
        if !AddressRange.isLoopback(host: address.host), !isBehindTLSProxy, !isInsecure {
            resolver.complain(
                SettingCatalog.listenHost,
                "is beyond this machine, and passwords would cross the network unprotected; put a TLS proxy in front and set behind-tls-proxy: true"
            )
        }
    }
}

extension Settings.TLS {
    fileprivate init?(from resolver: inout SettingsResolver) {
        let host = resolver.value(SettingCatalog.tlsListenHost)
        let port = resolver.value(SettingCatalog.tlsListenPort)
        let certificatePath = resolver.value(SettingCatalog.tlsCertificatePath)
        let keyPath = resolver.value(SettingCatalog.tlsKeyPath)
        names = resolver.value(SettingCatalog.tlsNames)
        let sentence = "is needed too: tls-certificate-path and tls-key-path belong together"
        if certificatePath == nil, keyPath != nil { resolver.complain(SettingCatalog.tlsCertificatePath, sentence) }
        if certificatePath != nil, keyPath == nil { resolver.complain(SettingCatalog.tlsKeyPath, sentence) }
        if let certificatePath { resolver.requireReadable(certificatePath, for: SettingCatalog.tlsCertificatePath) }
        if let keyPath { resolver.requireReadable(keyPath, for: SettingCatalog.tlsKeyPath) }
        if port == nil, certificatePath != nil {
            resolver.complain(SettingCatalog.tlsCertificatePath, "is for the HTTPS interface; set tls-listen-port as well")
        }
        guard let port else { return nil }
        address = Settings.Address(host: host, port: port)
        if let certificatePath, let keyPath { files = Files(certificatePath: certificatePath, keyPath: keyPath) }
    }
}

extension Settings.Notifications {
    fileprivate init(from resolver: inout SettingsResolver) {
        hubName = resolver.value(SettingCatalog.hubName)
        hubSendsPerSecond = resolver.value(SettingCatalog.hubSendsPerSecond)
        hubWritesPerSecond = resolver.value(SettingCatalog.hubWritesPerSecond)
        protectedTagPrefixes = resolver.value(SettingCatalog.protectedTagPrefixes)
        neutralText = resolver.value(SettingCatalog.neutralText)
        defaultPicturePath = resolver.value(SettingCatalog.defaultPicturePath)
        if let path = defaultPicturePath { resolver.requireReadable(path, for: SettingCatalog.defaultPicturePath) }
        if !protectedTagPrefixes.contains("username:") {
            resolver.complain(SettingCatalog.protectedTagPrefixes, "must hold username:, because access to content rests on it")
        }
    }
}
