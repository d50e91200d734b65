import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The app's process: how it is made.
extension SimulatedPhone {
    /// The ports of a process. Each process opens the folder anew, as on a phone.
    func ports(for role: StoryEventLog.Role) throws -> DevicePorts {
        let group = configuration.folder.appendingPathComponent("group")
        return DevicePorts(
            transport: transport,
            secrets: try SimulatedKeychain(
                folder: configuration.folder.appendingPathComponent("keychain"), isForApp: role == .app, data: protected),
            store: ProtectedStore(
                store: try FileSharedStore(folder: group.appendingPathComponent("records")), data: protected),
            cache: ProtectedCache(
                cache: try FileContentCache(folder: group.appendingPathComponent("content")), data: protected),
            clock: clock, identifiers: identifiers, log: StoryEventLog(story: story, role: role))
    }

    /// The running app; started if it is not. Its notification delegate is in place before anything is delivered to it.
    func runningApp() async throws(PhoneActionError) -> any AppRole {
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
}
