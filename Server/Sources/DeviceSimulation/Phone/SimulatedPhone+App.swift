import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The app's process: how the system starts, suspends and ends it.
extension SimulatedPhone {
    /// The ports of a process. Each process opens the folder anew, as on a phone.
    func ports(for role: StoryEventLog.Role) throws -> DevicePorts {
        let group = configuration.folder.appendingPathComponent("group")
        return DevicePorts(
            transport: transport,
            secrets: try SimulatedKeychain(
                folder: configuration.folder.appendingPathComponent("keychain"), isForApp: role == .app),
            store: try FileSharedStore(folder: group.appendingPathComponent("records")),
            cache: try FileContentCache(folder: group.appendingPathComponent("content")),
            clock: clock, identifiers: identifiers, log: StoryEventLog(story: story, role: role))
    }

    /// The running app; started if it is not. Its notification delegate is in place before anything is delivered to it.
    func runningApp() async throws(PhoneActionError) -> RichPushEngine {
        if let engine { return engine }
        guard let ports = try? ports(for: .app) else { throw .notPossible("The phone's folder cannot be used") }
        let link = PhoneLink(phone: self)
        let app = AppPorts(notifications: link, push: link, environment: link, router: link)
        let engine = RichPushEngine(configuration: configuration.app, device: ports, app: app)
        self.engine = engine
        await engine.start()
        await readApp()
        return engine
    }

    /// Brings the app to the front; what the system held back for it is delivered then.
    func bringToFront() async throws(PhoneActionError) -> RichPushEngine {
        view.locked = false
        view.banner = nil
        suspension?.cancel()
        process.open()
        publish()
        let engine = try await runningApp()
        deliverHeld()
        return engine
    }

    func goHome() {
        process.goHome()
        publish()
        suspendLater()
    }

    func lock() {
        guard !view.locked else { return }
        view.locked = true
        view.banner = nil
        process.resign()
        publish()
        process.enterBackground()
        publish()
        suspendLater()
    }

    func unlock() {
        view.locked = false
        process.unlock()
        if process.isActive { suspension?.cancel() }
        publish()
    }

    func forceQuit() async {
        let engine = engine
        self.engine = nil
        process.forceQuit()
        held = nil
        offers = []
        loading = []
        view.content = nil
        opened = nil
        view.signIn = .init()
        view.sending = .init()
        if appScreen == .content { appScreen = .main }
        publish()
        await engine?.stop()
    }

    /// Some seconds in the background without a task, and the process stands still.
    func suspendLater() {
        suspension?.cancel()
        guard process.state == .background else { return }
        let (clock, delay) = (clock, configuration.suspensionDelay)
        suspension = Task {
            guard (try? await clock.sleep(for: delay)) != nil else { return }
            if process.suspend() { publish() }
        }
    }
}
