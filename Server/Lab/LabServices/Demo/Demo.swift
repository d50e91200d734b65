import APNsEmulation
import AsyncHTTPClient
import DeviceSimulation
import Logging
import Metrics
import NIOPosix
import RichPushModel
import ServerComposition
import ServerSettings
import SimulatedPhonePage

/// A node, a local APNs and simulated phones, composed as a newcomer meets them; tests compose the same.
struct Demo: Sendable {
    let node: ServerNode
    let apns: LocalAPNs
    let phones: [SimulatedPhone]
    private let story: DemoStory
    private let memory: EmulatorMemory
    let tools: DemoTools
    private let client: HTTPClient

    /// Starts the local APNs, and puts node and phones together in `directory`. The node will listen on `port`.
    static func make(
        directory: String, port: Int, phones count: Int = DemoPhones.count, clock: any ServiceClock = .system,
        metrics: any MetricsFactory = MetricsSystem.factory, logger: Logger
    ) async throws -> Demo {
        let folder = try EmulatorFolder(path: directory + "/apns", now: clock.now)
        let (apns, memory) = try localAPNs(folder, clock: clock, logger: logger)
        let apnsPort = try await apns.start().port
        let client = AsyncHTTPTransport.makeClient()
        do {
            let faults = DemoFaults()
            let factory = DemoPhones(
                directory: directory + "/phones", port: port, clock: clock, client: client, faults: faults)
            let phones = try (1...count).map { try factory.phone(number: $0, apns: apns) }
            let story = DemoStory(
                apns: apns, phones: Dictionary(uniqueKeysWithValues: phones.enumerated().map { (String($0 + 1), $1) }))
            let tools = try DemoTools(
                apns: apns, port: apnsPort, folder: folder, phones: phones, faults: faults,
                sender: DemoSender(port: port), clock: clock, logger: logger)
            let page = PhonePageRoutes(phones: phones, tools: tools, clock: clock)
            var options = NodeOptions(
                signIn: .nameIsPassword, clock: clock, backendObserver: story, metrics: metrics,
                addRoutes: { page.addRoutes(to: $0) })
            options.links = [StartPage.Link(path: "/phone", title: "The simulated iPhones")]
            let settings = try Settings.demo(
                directory: DemoFolder.server(in: directory), port: port, apnsPort: apnsPort, folder: folder)
            let node = try await ServerNode.make(settings, options: options, logger: logger)
            return Demo(
                node: node, apns: apns, phones: phones, story: story, memory: memory, tools: tools, client: client)
        } catch {
            await apns.shutdown()
            try? await client.shutdown()
            throw error
        }
    }

    /// Runs the node; the phones are switched on when it answers and off when it has stopped.
    func run(onListening: @escaping @Sendable (_ port: Int) async -> Void) async throws {
        let telling = exchangesTold()
        let keeping = Task { try await memory.run() }
        let result: Result<Void, any Error>
        do {
            try await node.run { port in
                for phone in phones { await phone.start() }
                await onListening(port)
            }
            result = .success(())
        } catch { result = .failure(error) }
        await stop(keeping)
        await telling.value
        try result.get()
    }

    /// Tells the story of what APNs is asked, and of what it keeps or drops, until the local APNs ends.
    private func exchangesTold() -> Task<Void, Never> {
        let (exchanges, fates) = (apns.exchanges, apns.fates)
        return Task {
            async let fatesTold: Void = { for await fate in fates { story.tell(fate) } }()
            for await exchange in exchanges { story.tell(exchange) }
            await fatesTold
        }
    }

    /// What the local APNs knows is written when nobody asks it for a device token any more, and before it is gone.
    private func stop(_ keeping: Task<Void, any Error>) async {
        for phone in phones { await phone.stop() }
        await tools.shutdown()
        keeping.cancel()
        _ = await keeping.result
        memory.save()
        await apns.shutdown()
        try? await client.shutdown()
    }

    /// A local APNs that knows the device tokens of the run before: the hub has them, and the phones are not asked for new ones.
    private static func localAPNs(
        _ folder: EmulatorFolder, clock: any ServiceClock, logger: Logger
    ) throws -> (LocalAPNs, EmulatorMemory) {
        var configuration = LocalAPNsConfiguration()
        configuration.authority = folder.authority
        let apns = try LocalAPNs(
            configuration: configuration, clock: clock, group: .singletonMultiThreadedEventLoopGroup, logger: logger)
        let memory = try EmulatorMemory(
            of: apns, at: folder.statePath(of: apns.environment.rawValue), clock: clock, logger: logger)
        try apns.registerKey(
            teamID: EmulatorFolder.teamID, keyID: EmulatorFolder.keyID, publicKeyPEM: folder.publicKeyPEM)
        try apns.registerApp(bundleID: Settings.demoTopic, teamID: EmulatorFolder.teamID)
        return (apns, memory)
    }
}
