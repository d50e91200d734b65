import FCMEmulation
import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension AndroidPhone {
    /// Performs a user action, and returns when the phone has finished. Messages that it lets through arrive afterwards.
    ///
    /// Throws only when there is nothing to touch; what the user would see of a failure is in the snapshot.
    public func perform(_ action: PhoneAction) async throws(PhoneActionError) {
        switch action {
        case .signIn(let user, let password):
            try await signIn { app throws(RichPushError) in try await app.signIn(user: user, password: password) }
        case .signInWithToken(let token): try await signIn { app throws(RichPushError) in try await app.signIn(token: token) }
        case .signOut: try await signOut()
        case .sendPush(let draft): try await sendPush(draft)
        case .refreshInbox: try await refreshInbox()
        case .openInbox(let richID): try await openInbox(richID)
        case .closeContent: closeContent()
        case .openLink: try openLink()
        case .setNetwork(let offline): try await setConnection(offline ? .offline : .online)
        case .setConnection(let connection): try await setConnection(connection)
        case .setPermission(let permission): memory.settings.permission = permission
        case .tapNotification(let id): try await touch(id, .open)
        case .moreNotification(let id): try await touch(id, .button(PushEnvelope.moreAction))
        case .dismissNotification(let id): try await dismiss(id)
        case .replyNotification(let id, let text): try await reply(text, to: id)
        case .clearNotifications: for entry in list.entries { try await dismiss(entry.notice.id) }
        default: try await use(action)
        }
        publish()
    }

    /// What the user does with the phone itself.
    private func use(_ action: PhoneAction) async throws(PhoneActionError) {
        switch action {
        case .openApp: try await bringToFront()
        case .home: try leaveApp()
        case .lock: try lock()
        case .unlock: try await unlock()
        case .setDoze(let on): try setDoze(on)
        case .terminate: try await forceStop()
        case .endApp: await endProcess(.notRunning)
        case .restart: try await restart()
        case .removeApp: try await removeApp()
        case .installApp: try await installApp()
        default: throw .notPossible("This Android phone does not have that")
        }
    }

    private func happen(_ action: AndroidAction) throws(PhoneActionError) {
        do throws(LocalFCMError) { try device.act(action) } catch { throw .notPossible("\(error)") }
    }

    // MARK: The phone

    /// The user opens the app, which ends a force stop. What waited for that arrives, and what has expired meanwhile is in the inbox.
    private func bringToFront() async throws(PhoneActionError) {
        guard !view.locked else { throw .notPossible("The phone is locked") }
        // What starts for the user is in front from the beginning.
        view.process = .active
        do throws(PhoneActionError) { _ = try await runningApp() } catch {
            view.process = .notRunning
            throw error
        }
        try happen(.openApp)
        _ = try? await app?.refresh()
        await readApp()
    }

    private func leaveApp() throws(PhoneActionError) {
        guard isInFront else { throw .notPossible("The app is not on the display") }
        view.process = .background
        try happen(.leaveApp)
    }

    private func lock() throws(PhoneActionError) {
        view.locked = true
        view.banner = nil
        if view.process == .active { view.process = .inactive }
        try happen(.leaveApp)
    }

    private func unlock() async throws(PhoneActionError) {
        (view.locked, view.beforeFirstUnlock, view.dozing) = (false, false, false)
        protected.unlock()
        story.endLocked()
        try happen(.unlock)
        try happen(.leaveDoze)
        await app?.didUnlock()
        if view.process == .inactive { try await bringToFront() } else { await readApp() }
    }

    /// A phone that lies still with its display off.
    private func setDoze(_ on: Bool) throws(PhoneActionError) {
        if on { try lock() }
        view.dozing = on
        try happen(on ? .enterDoze : .leaveDoze)
    }

    /// The user stops the app in the settings: its process, and what it shows.
    private func forceStop() async throws(PhoneActionError) {
        guard memory.isInstalled else { throw .notPossible(HoldReason.notInstalled.sentence) }
        try happen(.forceStop)
        await endProcess(.forceQuit)
        removeAllNotices()
    }

    /// The phone is switched off and on. Until it is unlocked, FCM keeps what comes for it.
    private func restart() async throws(PhoneActionError) {
        await endProcess(view.process == .forceQuit ? .forceQuit : .notRunning)
        removeAllNotices()
        (view.locked, view.beforeFirstUnlock, view.dozing) = (true, true, false)
        protected.lock()
        try happen(.restart)
        story.record(.held, nil, "The phone restarted; until it is unlocked, the app gets nothing")
    }

    /// Nothing of the app stays, its secrets included.
    private func removeApp() async throws(PhoneActionError) {
        try happen(.uninstall)
        await endProcess(.notRunning)
        removeAllNotices()
        for name in ["group", "keychain"] {
            try? FileManager.default.removeItem(at: configuration.folder.appendingPathComponent(name))
        }
        var fresh = SystemMemory()
        fresh.isInstalled = false
        memory = fresh
        appScreen = .signIn
        (view.user, view.inbox, view.unread, view.badge) = (nil, [], 0, 0)
    }

    private func installApp() async throws(PhoneActionError) {
        if memory.isInstalled { try await removeApp() }
        memory.isInstalled = true
        try happen(.install)
    }

    private func setConnection(_ wanted: PhoneSnapshot.Network) async throws(PhoneActionError) {
        let before = network.connection
        network.connection = wanted
        publish()
        if (before == .offline) != (wanted == .offline) { try happen(wanted == .offline ? .goOffline : .goOnline) }
        guard before == .offline, view.process == .active, let app else { return }
        _ = try? await app.refresh()
        await readApp()
    }

    // MARK: Notifications

    /// A tap on a notification or on its button opens the app, and unlocks the phone.
    private func touch(_ id: String, _ action: NotificationResponse.Action) async throws(PhoneActionError) {
        guard let entry = list[id] else { throw .notPossible("The notification is gone") }
        if case .button(let button) = action {
            let buttons = memory.categories.first { $0.identifier == entry.category }?.actions ?? []
            guard buttons.contains(where: { $0.id == button }) else { throw .notPossible("The notification has no such button") }
        }
        removeNotices([id])
        if view.locked { try await unlock() }
        device.tap(id)
        try await bringToFront()
        guard let richID = entry.notice.richID, let app else { return }
        await app.didRespond(NotificationResponse(identifier: id, richID: richID, action: action, kind: entry.kind))
        await readApp()
    }

    /// The app hears of it (`setDeleteIntent`), in the background.
    private func dismiss(_ id: String) async throws(PhoneActionError) {
        guard let entry = list[id] else { throw .notPossible("The notification is gone") }
        removeNotices([id])
        guard let richID = entry.notice.richID else { return }
        let app = try await runningApp()
        await app.didRespond(NotificationResponse(identifier: id, richID: richID, action: .dismiss, kind: entry.kind))
    }

    /// The app sends the answer in the background (`RemoteInput`).
    private func reply(_ text: String, to id: String) async throws(PhoneActionError) {
        guard let entry = list[id], let richID = entry.notice.richID else { throw .notPossible("The notification is gone") }
        guard text.unicodeScalars.count <= SimulatedPhone.replyLimit, text.contains(where: { !$0.isWhitespace }) else {
            throw .notPossible("An answer has 1 to \(SimulatedPhone.replyLimit) characters")
        }
        removeNotices([id])
        story.record(.opened, richID, "The user answered in the notification")
        let app = try await runningApp()
        await app.didRespond(NotificationResponse(identifier: id, richID: richID, action: .reply(text), kind: entry.kind))
        await readApp()
    }

    // MARK: The app's screens

    /// The app, while the user can touch it.
    private func visibleApp() throws(PhoneActionError) -> any AppRole {
        guard view.process == .active, !view.locked, let app else { throw .notPossible("The app is not on the display") }
        return app
    }

    private func signIn(
        by ask: (any AppRole) async throws(RichPushError) -> Session
    ) async throws(PhoneActionError) {
        let app = try visibleApp()
        guard !view.signIn.busy else { throw .notPossible("The app is signing in already") }
        closeContent()
        view.signIn = .init(busy: true)
        publish()
        var ended = PhoneSnapshot.Progress()
        do throws(RichPushError) {
            _ = try await ask(app)
            _ = await app.requestPermission(provisional: false)
            _ = try? await app.refresh()
        } catch { ended = .init(failedSignIn: error) }
        guard self.app === app else { return }
        view.signIn = ended
        await readApp()
    }

    private func signOut() async throws(PhoneActionError) {
        let app = try visibleApp()
        do throws(RichPushError) {
            let result = try await app.signOut()
            if self.app === app { view.undelivered = PhoneMessages.sentence(for: result) }
        } catch { throw .notPossible(PhoneMessages.sentence(for: error)) }
        closeContent()
        await readApp()
    }

    private func sendPush(_ draft: PhoneAction.PushDraft) async throws(PhoneActionError) {
        let app = try visibleApp()
        guard !view.sending.busy else { throw .notPossible("The app is sending already") }
        view.sending = .init(busy: true)
        publish()
        story.record(.send, nil, "The app asks the backend to send a push")
        var ended = PhoneSnapshot.Progress()
        do throws(RichPushError) {
            let request = draft.isEmpty ? nil : try await configuration.request(for: draft, by: app, at: clock.now)
            story.record(.accepted, try await app.sendPush(request), "The app has the answer of the backend")
        } catch {
            story.record(.failed, nil, "The backend did not take the push", ["reason": error.code])
            ended.error = PhoneMessages.sentence(for: error)
        }
        if self.app === app { view.sending = ended }
    }

    private func refreshInbox() async throws(PhoneActionError) {
        let app = try visibleApp()
        do throws(RichPushError) { try await app.refresh() } catch {
            await readApp()
            throw .notPossible(PhoneMessages.sentence(for: error))
        }
        await readApp()
    }

    private func openInbox(_ richID: RichID) async throws(PhoneActionError) {
        let app = try visibleApp()
        guard view.inbox.contains(where: { $0.id == richID }) else { throw .notPossible("It is not in the inbox") }
        await app.show(richID)
        await readApp()
    }

    private func closeContent() {
        (view.content, opened) = (nil, nil)
        if appScreen == .content { appScreen = .main }
        publish()
    }

    private func openLink() throws(PhoneActionError) {
        guard let link = opened?.link else { throw .notPossible("There is no link on the display") }
        story.record(.opened, opened?.richID, "The user confirmed the link", ["host": link.host ?? ""])
    }
}
