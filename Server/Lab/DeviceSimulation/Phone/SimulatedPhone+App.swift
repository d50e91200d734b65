import RichPushDevice
import RichPushModel

/// The app's process: how it is made.
extension SimulatedPhone {
    /// The ports of an app or an extension in this very process.
    func ports(for role: StoryEventLog.Role) throws -> DevicePorts {
        try DevicePorts.simulated(
            folder: configuration.folder, isForApp: role == .app, limits: configuration.contentLimits, transport: transport,
            clock: clock,
            identifiers: identifiers, log: StoryEventLog(story: story, role: role))
    }

    /// The running app; started if it is not. Its notification delegate is in place before anything is delivered to it.
    ///
    /// Throws when the system has ended it since it was asked to run.
    func runningApp() async throws(PhoneActionError) -> any AppRole {
        guard system.process.isRunning else { throw Self.endedSince }
        if let engine { return engine }
        let engine: any AppRole
        if let program = configuration.program {
            let ends = ends
            engine = try await makeProcess(program)
            guard ends == self.ends else {
                await engine.stop()
                throw Self.endedSince
            }
            if let other = self.engine {
                // Somebody else was faster.
                await engine.stop()
                return other
            }
        } else {
            engine = try makeEngine()
        }
        self.engine = engine
        await engine.start()
        await readApp()
        guard self.engine === engine else { throw Self.endedSince }
        return engine
    }

    static let endedSince = PhoneActionError.notPossible("The app was ended before it ran")

    private func makeEngine() throws(PhoneActionError) -> RichPushEngine {
        guard let ports = try? ports(for: .app) else { throw .notPossible("The phone's folder cannot be used") }
        let link = PhoneLink(phone: self)
        let app = AppPorts(notifications: link, push: link, environment: link, router: link, scheduling: link)
        return RichPushEngine(configuration: configuration.app, device: ports, app: app)
    }

    private func makeProcess(_ program: String) async throws(PhoneActionError) -> AppClient {
        let log = StoryEventLog(story: story, role: .app)
        guard let client = try? AppClient(configuration, program: program, system: PhoneLink(phone: self), log: log),
            await client.run(onEnd: { [weak self] client in await self?.processEnded(client) })
        else { throw .notPossible("The app's process cannot be started") }
        return client
    }

    /// What the story says of a completion that came twice. A phone takes the first, and may end the process for the second.
    static let surplusContent = "The service extension handed over a second time"
    static let surplusAnswer = "The app answered a second time"

    /// The app answered what was answered before.
    func noteSurplusAnswer() { story.tell(.failed, nil, Self.surplusAnswer) }

    /// The process of the app ended by itself.
    private func processEnded(_ client: AppClient) async {
        guard engine === client else { return }
        story.tell(.failed, nil, "The app crashed")
        try? await happen(.endApp)
    }

    /// Where the service extension runs for the next push.
    func extensionHost() -> (any ExtensionHost)? {
        let log = StoryEventLog(story: story, role: .serviceExtension)
        if let program = configuration.program {
            return ExtensionProcess(configuration, program: program, log: log) { [story] in
                story.tell(.failed, nil, Self.surplusContent)
            }
        }
        guard let ports = try? ports(for: .serviceExtension) else { return nil }
        return InProcessExtension(
            configuration: configuration.app, ports: ports, time: configuration.backgroundTime,
            warning: configuration.expiryWarning)
    }
}
