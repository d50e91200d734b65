import APNsEmulation
import AsyncHTTPClient
import DeviceSimulation
import Logging
import Metrics
import NIOCore
import NIOPosix
import RichPushModel
import ServerComposition
import ServerSettings
import ServerStorage
import ServiceErrors
import SimulatedPhonePage
import SQLiteDatabase
import SQLStorage
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A node, a local APNs, a local FCM and simulated phones, composed as a newcomer meets them; tests compose the same.
struct Demo: Sendable {
    let node: ServerNode
    let apns: LocalAPNs
    let phones: [SimulatedPhone]
    /// The local FCM, and the Android phone that it reaches.
    let fcm: AndroidService
    let android: AndroidPhone
    private let story: DemoStory
    private let memory: EmulatorMemory<LocalAPNs>
    let tools: DemoTools
    private let client: HTTPClient

    /// Starts the local APNs and FCM, and puts node and phones together in `directory`. The node will listen on `port`.
    static func make(
        directory: String, port: Int, phones count: Int = DemoPhones.count, clock: any ServiceClock = .system,
        metrics: any MetricsFactory = MetricsSystem.factory, logger: Logger
    ) async throws -> Demo {
        let folder = try EmulatorFolder(path: directory + "/apns", now: clock.now)
        let (apns, memory) = try localAPNs(folder, clock: clock, logger: logger)
        let address = try await apns.start()
        let apnsPort = address.port
        let client = AsyncHTTPTransport.makeClient()
        let fcm = try localFCM(folder, clock: clock, logger: logger)
        do {
            let (fcmPort, fcmKey) = try await fcm.start()
            let faults = DemoFaults()
            let factory = DemoPhones(
                directory: directory + "/phones", port: port, clock: clock, client: client, faults: faults)
            let phones = try (1...count).map { try factory.phone(number: $0, apns: apns) }
            let android = try factory.androidPhone(fcm)
            var recorded: [String: any StoryPhone] = ["android": android]
            for (place, phone) in phones.enumerated() { recorded[String(place + 1)] = phone }
            let story = DemoStory(apns: apns, phones: recorded)
            let tools = try DemoTools(
                apns: apns, port: apnsPort, folder: folder, phones: phones, fcm: fcm, faults: faults,
                sender: DemoSender(port: port), clock: clock, logger: logger)
            let page = PhonePageRoutes(phones: phones + [android], tools: tools, clock: clock)
            var options = NodeOptions(signIn: .nameIsPassword, clock: clock)
            options.backendObserver = story
            options.metrics = metrics
            options.addRoutes = { router, backend in
                page.addRoutes(to: router)
                DemoConsole(backend: backend, clock: clock).addRoutes(to: router)
            }
            options.links = [StartPage.Link(path: "/phone", title: "The simulated phones")]
            let settings = try Settings.demo(
                directory: DemoFolder.server(in: directory), port: port, apnsPort: apnsPort,
                managementPort: address.managementPort, folder: folder,
                webPushKey: try DemoWebPushKey.kept(in: directory), fcm: (fcmPort, fcmKey))
            let node = try await ServerNode.make(settings, options: options, logger: logger)
            return Demo(
                node: node, apns: apns, phones: phones, fcm: fcm, android: android, story: story, memory: memory, tools: tools,
                client: client)
        } catch {
            await fcm.shutdown()
            await apns.shutdown()
            try? await client.shutdown()
            throw error
        }
    }

    /// Runs the node; the phones are switched on when it answers and off when it has stopped.
    func run(onListening: @escaping @Sendable (_ port: Int) async -> Void) async throws {
        let recording = recordExchanges()
        let keeping = Task { try await memory.run() }
        let result: Result<Void, any Error>
        do {
            try await node.run { port in
                for phone in phones { await phone.start() }
                await android.start()
                await onListening(port)
            }
            result = .success(())
        } catch { result = .failure(error) }
        await stop(keeping)
        await recording.value
        try result.get()
    }

    /// Records the requests to APNs and FCM, and the pushes that they keep or drop, until both end.
    private func recordExchanges() -> Task<Void, Never> {
        let (exchanges, fates) = (apns.exchanges, apns.fates)
        return Task {
            async let recordedMessages: Void = fcm.record { id, device in story.noteRequest(for: id, to: device) }
            async let recordedFates: Void = { for await fate in fates { story.record(fate) } }()
            for await exchange in exchanges { story.record(exchange) }
            await recordedFates
            await recordedMessages
        }
    }

    /// The state of the local APNs is written after the last request for a device token, and before it ends.
    private func stop(_ keeping: Task<Void, any Error>) async {
        for phone in phones { await phone.stop() }
        await android.stop()
        await tools.shutdown()
        keeping.cancel()
        _ = await keeping.result
        memory.save()
        await fcm.shutdown()
        await apns.shutdown()
        try? await client.shutdown()
    }

    /// A local FCM with a certificate of the folder's authority.
    private static func localFCM(
        _ folder: EmulatorFolder, clock: any ServiceClock, logger: Logger
    ) throws -> AndroidService {
        let leaf = try folder.authority.issueServerCertificate(
            names: ["127.0.0.1", "localhost"], subject: "Clarion local FCM", now: clock.now)
        return AndroidService(
            certificatePEM: leaf.certificatePEM + "\n" + folder.authority.certificatePEM, privateKeyPEM: leaf.privateKeyPEM,
            clock: clock, logger: logger)
    }

    /// A local APNs that knows the device tokens of the run before: the hub has them, and the phones are not asked for new ones.
    private static func localAPNs(
        _ folder: EmulatorFolder, clock: any ServiceClock, logger: Logger
    ) throws -> (LocalAPNs, EmulatorMemory<LocalAPNs>) {
        var configuration = LocalAPNsConfiguration()
        configuration.authority = folder.authority
        configuration.managementPort = 0
        let apns = try LocalAPNs(
            configuration: configuration, clock: clock, group: .singletonMultiThreadedEventLoopGroup, logger: logger)
        let memory = try EmulatorMemory(
            of: apns, at: folder.statePath(of: apns.environment.rawValue), clock: clock, logger: logger)
        try apns.registerKey(
            teamID: EmulatorFolder.teamID, keyID: EmulatorFolder.keyID, publicKeyPEM: folder.publicKeyPEM)
        try apns.registerApp(bundleID: Settings.demoTopic, teamID: EmulatorFolder.teamID, broadcasts: true)
        return (apns, memory)
    }
}

/// The folder with the state of a demo.
enum DemoFolder {
    /// Marks a folder as ours, so that a typing error in `--directory` cannot remove other files.
    private static let mark = "clarion-demo"

    /// The data directory of the demo's server.
    static func server(in directory: String) -> String { directory + "/server" }

    /// Creates the folder, or empties it first if that was asked for. Throws `ServiceError` for a folder without the mark.
    static func prepare(_ options: DemoOptions) throws {
        let manager = FileManager.default
        let path = options.directory
        let contents = (try? manager.contentsOfDirectory(atPath: path)) ?? []
        guard contents.isEmpty || contents.contains(mark) else {
            throw ServiceError(.conflict, "\(path) holds files that are not of a demo; choose another --directory")
        }
        if options.startsAfresh, contents.contains(mark) {
            try remove(path)
        }
        try PrivateFile.makeFolder(path)
        guard manager.createFile(atPath: path + "/" + mark, contents: Data()) else {
            throw ServiceError(.storageUnavailable, "\(path) cannot be written")
        }
    }

    /// Holds the lock of its server meanwhile, so that no running demo loses its files.
    private static func remove(_ path: String) throws {
        let file = server(in: path) + "/clarion.sqlite"
        do {
            guard FileManager.default.fileExists(atPath: file) else { return try FileManager.default.removeItem(atPath: path) }
            try SQLiteDatabase(path: file, access: .server).close { try FileManager.default.removeItem(atPath: path) }
        } catch SQLFault.lockedByAnotherProcess {
            throw ServiceError(.conflict, "another demo runs in \(path); stop it, or choose another --directory")
        } catch {
            // A database that cannot be opened is no reason to keep it.
            guard (try? FileManager.default.removeItem(atPath: path)) != nil else {
                throw ServiceError(.storageUnavailable, "\(path) cannot be removed")
            }
        }
    }
}

/// Finds the port of the demo's page before anything else starts, because phones and links need to know it.
enum DemoPort {
    /// The port that is tried first when none was asked for.
    static let customary = 8080

    /// Outside the range of ephemeral ports, so that no outgoing connection takes one before the page listens there.
    private static let quiet = 20_000..<32_000

    /// Where the search for a port continues, so that concurrent callers do not get the same one before either listens.
    private static let next = Atomic(Int.random(in: 0..<quiet.count))

    /// The port asked for, else the customary one, else any free one; 0 asks for any. Throws `ServiceError` if the one asked for is taken.
    static func choose(_ wanted: Int?) async throws -> Int {
        if let wanted, wanted != 0 {
            guard let port = await free(wanted) else {
                throw ServiceError(.notReady, "port \(wanted) of 127.0.0.1 cannot be used; choose another with --port")
            }
            return port
        }
        if wanted == nil, let port = await free(customary) { return port }
        for _ in 0..<100 {
            let place = next.wrappingAdd(1, ordering: .relaxed).oldValue
            if let port = await free(quiet.lowerBound + place % quiet.count) { return port }
        }
        throw ServiceError(.notReady, "no port of 127.0.0.1 is free")
    }

    /// The port, if it could be bound a moment ago.
    private static func free(_ port: Int) async -> Int? {
        let bootstrap = ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        guard let channel = try? await bootstrap.bind(host: "127.0.0.1", port: port).get() else { return nil }
        try? await channel.close()
        return port
    }
}

extension Settings {
    /// The bundle id of the demo's app.
    static let demoTopic = "org.clarion.demo"

    /// Where the push services of browsers may write. The demo has no operator that they could reach, and they refuse an address at
    /// localhost (Reference/WebPush.md#4-2).
    static let demoSubject = "mailto:demo@example.com"

    /// The settings of the demo's node: loopback only, pushing to a local APNs and `fcm`, a local FCM with the key of a service account,
    /// and to the vendors' push services once a browser has subscribed. Throws `SettingsError` for a directory that no setting may name.
    static func demo(
        directory: String, port: Int, apnsPort: Int, managementPort: Int? = nil, folder: EmulatorFolder, webPushKey: String,
        fcm: (port: Int, key: String)? = nil
    ) throws(SettingsError) -> Settings {
        var system = SettingsEnvironment.server
        // A file of settings on this machine is that of another server.
        system.isReadable = { _ in false }
        var environment = [
            "CLARION_DATA_DIRECTORY": directory, "CLARION_CONTENT_LIMIT": "50MB",
            "CLARION_LISTEN_HOST": "127.0.0.1", "CLARION_LISTEN_PORT": String(port),
            "CLARION_CONNECTION_LIMIT": "1000", "CLARION_REQUEST_LIMIT": "1000",
            "CLARION_APNS_ENVIRONMENT": "sandbox", "CLARION_APNS_HOST": "127.0.0.1", "CLARION_APNS_PORT": String(apnsPort),
            "CLARION_APNS_TRUST_ROOTS_PATH": folder.authorityPath, "CLARION_APNS_TEAM_ID": EmulatorFolder.teamID,
            "CLARION_APNS_KEY_ID": EmulatorFolder.keyID, "CLARION_APNS_TOPIC": demoTopic,
            "CLARION_APNS_KEY": folder.signingKeyPEM, "CLARION_HUB_NAME": "demo", "CLARION_LOG_LEVEL": "warning",
            "CLARION_PUSH_DEADLINE": "10s", "CLARION_SHUTDOWN_DEADLINE": "5s", "CLARION_FREQUENCY_CAPS": "marketing=20/1d",
            "CLARION_USER_QUIET_HOURS": "true", "CLARION_WEB_PUSH_SUBJECT": demoSubject,
            "CLARION_WEB_PUSH_KEYS": webPushKey,
            "CLARION_WEB_PUSH_NETWORKS": "127.0.0.0/8",
        ]
        // A local push service on this machine too, for a Firefox that has it.
        environment["CLARION_WEB_PUSH_HOSTS"] = (WebPushSettings.knownHosts + ["127.0.0.1"]).joined(separator: ",")
        environment["CLARION_APNS_MANAGEMENT_PORT"] = managementPort.map(String.init)
        if let fcm {
            environment["CLARION_FCM_HOST"] = "127.0.0.1"
            environment["CLARION_FCM_PORT"] = String(fcm.port)
            environment["CLARION_FCM_KEY"] = fcm.key
            environment["CLARION_FCM_TRUST_ROOTS_PATH"] = folder.authorityPath
        }
        return try SettingsLoader(arguments: [], environment: environment, path: nil, system: system).load()
    }
}
