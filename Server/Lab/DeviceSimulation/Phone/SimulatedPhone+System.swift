import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Does what `PhoneSystem` decides.
extension SimulatedPhone {
    /// Takes an event to the system and does what it says. Throws when the person cannot do that now.
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
        case .unregister: await service.unregister(device: configuration.identity.id, topic: configuration.bundleID)
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
            story.tell(.failed, nil, "What the app kept on the phone could not be removed")
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
        story.tell(.held, nil, "The phone restarted; until it is unlocked, what is protected cannot be read")
        appScreen = .signIn
        view.inbox = []
        view.unread = 0
        publish()
        if network.isOn { connect() }
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
}
