import ServerSettings

extension Settings {
    /// The bundle id of the demo's app.
    static let demoTopic = "org.clarion.demo"

    /// The settings of the demo's node: loopback only, pushing to a local APNs. Throws `SettingsError` for a directory that no setting
    /// may name.
    static func demo(
        directory: String, port: Int, apnsPort: Int, folder: EmulatorFolder
    ) throws(SettingsError) -> Settings {
        var surroundings = SettingsSurroundings.server
        // A file of settings on this machine is that of another server.
        surroundings.isReadable = { _ in false }
        let environment = [
            "CLARION_DATA_DIRECTORY": directory, "CLARION_CONTENT_LIMIT": "50MB",
            "CLARION_LISTEN_HOST": "127.0.0.1", "CLARION_LISTEN_PORT": String(port),
            "CLARION_CONNECTION_LIMIT": "1000", "CLARION_REQUEST_LIMIT": "1000",
            "CLARION_APNS_ENVIRONMENT": "sandbox", "CLARION_APNS_HOST": "127.0.0.1", "CLARION_APNS_PORT": String(apnsPort),
            "CLARION_APNS_TRUST_ROOTS_PATH": folder.authorityPath, "CLARION_APNS_TEAM_ID": EmulatorFolder.teamID,
            "CLARION_APNS_KEY_ID": EmulatorFolder.keyID, "CLARION_APNS_TOPIC": demoTopic,
            "CLARION_APNS_KEY": folder.signingKeyPEM, "CLARION_HUB_NAME": "demo", "CLARION_LOG_LEVEL": "warning",
            "CLARION_PUSH_DEADLINE": "10s", "CLARION_SHUTDOWN_DEADLINE": "5s",
        ]
        return try SettingsLoader(arguments: [], environment: environment, path: nil, surroundings: surroundings).load()
    }
}
