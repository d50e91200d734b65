import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Does what `PhoneSystem` decides.
extension SimulatedPhone {
    /// Passes an event to the system and follows its instructions. Throws when the user cannot do that now.
    func happen(_ event: SystemEvent) async throws(PhoneActionError) {
        let instructions = system.handle(event, at: clock.now)
        for instruction in instructions { try await follow(instruction) }
        publish()
    }

    private func follow(_ instruction: SystemInstruction) async throws(PhoneActionError) {
        switch instruction {
        case .refuse(let reason): throw .notPossible(reason)
        case .startApp: _ = try await runningApp()
        case .resumeApp, .becomeActive: suspension?.cancel()
        case .endApp: await endApp()
        case .handOver(let push):
            handing += 1
            let ends = ends
            Task { await handOver(push, since: ends) }
        case .setBadge(let badge): setBadge(badge)
        case .lockData: protected.lock()
        case .unlockData: await unlockData()
        case .hideBanner: view.banner = nil
        case .suspendLater: suspendLater()
        case .clearNotices: removeAllNotices()
        case .removeFiles:
            refreshTimer?.cancel()
            removeFiles()
        case .removeSecrets: removeFolder("keychain")
        case .unregister:
            await service.unregister(device: configuration.identity.id, topic: configuration.bundleID)
            await removeActivities()
        case .replace(let isInstalled): _ = system.handle(.replaced(isInstalled: isInstalled), at: clock.now)
        case .runExtension, .showNotice, .place, .refreshApp, .hold, .drop: break
        }
    }

    private func unlockData() async {
        protected.unlock()
        story.endLocked()
        guard let engine else { return }
        await engine.didUnlock()
        await readApp()
    }

    /// Everything that the app kept in its own places; secrets stay in the key chain, as on a phone.
    private func removeFiles() {
        removeFolder("group")
        memory.categories = []
    }

    private static let doomedPrefix = "removed-"

    /// All of it is gone at one moment: an extension may still be writing, and what it writes after that finds no folder.
    private func removeFolder(_ name: String) {
        let folder = configuration.folder.appendingPathComponent(name)
        let doomed = configuration.folder.appendingPathComponent(Self.doomedPrefix + identifiers.newIdentifier())
        guard FileManager.default.fileExists(atPath: folder.path) else { return }
        let isMoved = (try? FileManager.default.moveItem(at: folder, to: doomed)) != nil
        do {
            try FileManager.default.removeItem(at: isMoved ? doomed : folder)
        } catch {
            story.record(.failed, nil, "What the app kept on the phone could not be removed")
        }
    }

    /// Finishes removals that the end of this process interrupted.
    static func removeLeftovers(in folder: URL) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for name in names where name.hasPrefix(doomedPrefix) {
            try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        }
    }

    /// The process of the app is gone, and with it what only it knew.
    func endApp() async {
        let engine = engine
        self.engine = nil
        ends += 1
        offers = []
        loading = []
        view.content = nil
        opened = nil
        view.signIn = .init()
        view.undelivered = nil
        view.sending = .init()
        if appScreen == .content { appScreen = .main }
        publish()
        await engine?.stop()
    }

    /// Some seconds in the background without a task, and the process stands still.
    func suspendLater() {
        suspension?.cancel()
        guard system.process.state == .background else { return }
        let (clock, delay) = (clock, configuration.suspensionDelay)
        suspension = Task {
            guard (try? await clock.sleep(for: delay)) != nil else { return }
            try? await happen(.idle)
        }
    }

    /// The phone is switched off and on. It is locked, and the app does not run.
    func restart() async throws(PhoneActionError) {
        connection?.cancel()
        await service.disconnect(device: configuration.identity.id)
        suspension?.cancel()
        story.endLocked()
        try await happen(.restart)
        story.record(.held, nil, "The phone restarted; until it is unlocked, what is protected cannot be read")
        appScreen = .signIn
        view.inbox = []
        view.unread = 0
        publish()
        if network.isOn { connect() }
        await restartActivities()
    }

    /// The app is removed, put there anew, or comes from a backup.
    func replace(_ event: SystemEvent) async throws(PhoneActionError) {
        try await happen(event)
        appScreen = .signIn
        setUser(nil)
        view.inbox = []
        view.unread = 0
        publish()
    }

    // MARK: The app's process: how it is made

    /// The ports of an app or an extension in this very process.
    func ports(for role: StoryEventLog.Role) throws -> DevicePorts {
        try DevicePorts.simulated(
            folder: configuration.folder, isForApp: role == .app, limits: configuration.contentLimits, transport: transport,
            clock: clock, identifiers: identifiers, log: eventLog(of: role))
    }

    /// The app's screen follows its session, as a view that reads `RichPush.state`.
    private func eventLog(of role: StoryEventLog.Role) -> StoryEventLog {
        guard role == .app else { return StoryEventLog(story: story, role: role) }
        return StoryEventLog(story: story, role: role) { [weak self] in
            Task { await self?.readApp() }
        }
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
                // A concurrent call started the app first.
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
        let app = AppPorts(
            notifications: link, push: link, environment: link, router: link, scheduling: link,
            activities: configuration.activityTypes.isEmpty ? nil : link)
        return RichPushEngine(configuration: configuration.app, device: ports, app: app)
    }

    private func makeProcess(_ program: String) async throws(PhoneActionError) -> AppClient {
        let log = eventLog(of: .app)
        guard let client = try? AppClient(configuration, program: program, system: PhoneLink(phone: self), log: log),
            await client.run(onEnd: { [weak self] client in await self?.processEnded(client) })
        else { throw .notPossible("The app's process cannot be started") }
        return client
    }

    /// What the story says of a completion that came twice. A phone takes the first, and may end the process for the second.
    static let surplusContent = "The service extension handed over a second time"
    static let surplusAnswer = "The app answered a second time"

    /// The app answered what was answered before.
    func noteSurplusAnswer() { story.record(.failed, nil, Self.surplusAnswer) }

    /// The process of the app ended by itself.
    private func processEnded(_ client: AppClient) async {
        guard engine === client else { return }
        story.record(.failed, nil, "The app crashed")
        try? await happen(.endApp)
    }

    /// Where the service extension runs for the next push.
    func extensionHost() -> (any ExtensionHost)? {
        let log = eventLog(of: .serviceExtension)
        if let program = configuration.program {
            return ExtensionProcess(configuration, program: program, log: log) { [story] in
                story.record(.failed, nil, Self.surplusContent)
            }
        }
        guard let ports = try? ports(for: .serviceExtension) else { return nil }
        return InProcessExtension(
            configuration: configuration.app, ports: ports, time: configuration.backgroundTime,
            warning: configuration.expiryWarning)
    }

    // MARK: What the system does with an app that wants to be run now and then (Reference/IOSClient.md#3): when the app said, and not
    // while the user or the budget is against it.

    /// How long the system waits after it could not.
    private static let secondThought: Duration = .seconds(900)

    /// The app's wish; the last one counts.
    func scheduleRefresh(after pause: Duration) {
        refreshTimer?.cancel()
        let clock = clock
        refreshTimer = Task {
            guard (try? await clock.sleep(for: pause)) != nil else { return }
            await refreshApp()
        }
    }

    private func refreshApp() async {
        for instruction in system.handle(.refresh, at: clock.now) {
            switch instruction {
            case .drop(let reason): story.record(.held, nil, "The app's refresh: " + reason.sentence)
            case .hold(let reason):
                story.record(.held, nil, "The app's refresh: " + reason.sentence)
                scheduleRefresh(after: Self.secondThought)
            case .startApp, .resumeApp: story.record(.woken, nil, "The system wakes the app for its refresh")
            case .refreshApp:
                handing += 1
                await runRefresh()
            default: break
            }
        }
        publish()
    }

    /// The app has to answer in time, as for a push; one that does not is ended.
    private func runRefresh() async {
        defer { handing -= 1 }
        suspension?.cancel()
        let ends = ends
        guard let app = await app(since: ends, nil, nil) else { return await endTask(since: ends) }
        let start = clock.uptime
        let answer = await inTime { await app.handleBackgroundRefresh(budget: $0) }
        let took = ["refresh-ms": "\((clock.uptime - start).wholeMilliseconds)"]
        if let answer {
            let detail = took.merging(["refreshed": answer ? "yes" : "no"]) { first, _ in first }
            story.record(.woken, nil, "The app is done with its refresh", detail)
        } else {
            story.record(.failed, nil, "The system ended the app: it did not answer in time", took)
            if engine === app { try? await happen(.endApp) }
        }
        await readApp()
        await endTask(since: ends)
    }
}
