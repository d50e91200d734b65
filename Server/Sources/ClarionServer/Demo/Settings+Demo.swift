import AppBackend
import RichPushModel

extension Settings {
    /// The bundle id of the demo's app.
    static let demoTopic = "org.clarion.demo"

    /// The settings of the demo's node: loopback only, pushing to a local APNs.
    static func demo(directory: String, port: Int, apnsPort: Int, folder: EmulatorFolder) -> Settings {
        Settings(
            dataDirectory: directory, contentLimit: 50_000_000, contentQuota: 1_000_000_000, retention: RetentionSettings(),
            listening: Listening(
                address: Address(host: "127.0.0.1", port: port), publicURL: nil, isBehindTLSProxy: false, trustedProxies: [],
                connectionLimit: 1_000, requestLimit: 1_000),
            metrics: nil, logging: Logging(level: .warning, format: .text),
            apns: APNs(
                environment: .sandbox,
                credential: Credential(
                    teamID: EmulatorFolder.teamID, keyID: EmulatorFolder.keyID, topic: demoTopic,
                    key: SecretText(folder.signingKeyPEM)),
                host: "127.0.0.1", port: apnsPort, trustRootsPath: folder.authorityPath),
            notifications: Notifications(
                hubName: "demo", protectedTagPrefixes: BackendSettings().protectedTagPrefixes,
                neutralText: "You have a new message",
                defaultPicturePath: nil),
            pushDeadline: .seconds(10), shutdownDeadline: .seconds(5))
    }
}
