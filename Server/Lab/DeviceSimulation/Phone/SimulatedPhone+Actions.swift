import RichPushDevice
import RichPushModel

extension SimulatedPhone {
    /// The most characters of an answer that the server takes, each mark and joiner counted.
    static let replyLimit = 2_000

    /// Performs a user action, and returns when the phone has finished.
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
        case .openApp, .home, .lock, .unlock, .terminate, .endApp: try await use(action)
        case .restart: try await restart()
        case .removeApp: try await replace(.removeApp)
        case .installApp: try await replace(.installApp)
        case .restoreBackup: try await replace(.restoreBackup)
        case .setDoze: throw .notPossible("An iPhone has no Doze")
        case .setNetwork(let offline): await setConnection(offline ? .offline : .online)
        case .setConnection(let connection): await setConnection(connection)
        case .setBackgroundRefresh, .setPermission, .setAlerts, .setFocus, .setLowPower, .setWakeBudget, .setPreviews:
            try await set(action)
        case .tapNotification(let id): try await respond(to: id, .open)
        case .moreNotification(let id): try await more(id)
        case .dismissNotification(let id): try await dismiss(id)
        case .replyNotification(let id, let text): try await reply(text, to: id)
        case .clearNotifications: removeAllNotices()
        case .alertOK: try await answerOffer(more: false)
        case .alertMore: try await answerOffer(more: true)
        case .openInbox(let richID): try await openInbox(richID)
        case .closeContent: closeContent()
        case .openLink: try openLink()
        case .allowActivity, .dismissActivity, .setLiveActivities, .setFrequentActivityUpdates, .setActivitiesSurviveRestart,
            .startActivity, .rotateActivityTokens:
            try await use(activity: action)
        }
    }

    private func use(_ action: PhoneAction) async throws(PhoneActionError) {
        switch action {
        case .openApp:
            try await happen(.openApp)
            await cameToFront()
        case .unlock:
            try await happen(.unlock)
            if system.process.isActive { await cameToFront() }
        case .home: try await happen(.goHome)
        case .lock: try await happen(.lock)
        case .terminate: try await happen(.forceQuit)
        default: try await happen(.endApp)
        }
    }

    /// What an app does whenever it becomes active, even when no user is signed in: the server may not know the installation yet.
    private func cameToFront() async {
        guard let engine else { return }
        await engine.activitiesChanged()
        _ = try? await engine.refresh()
        await readApp()
    }

    private func set(_ action: PhoneAction) async throws(PhoneActionError) {
        var settings = system.settings
        switch action {
        case .setBackgroundRefresh(let on): settings.backgroundRefresh = on
        case .setPermission(let permission): settings.permission = permission
        case .setAlerts(let on): settings.alerts = on
        case .setFocus(let on): settings.focus = on
        case .setLowPower(let on): settings.lowPower = on
        case .setWakeBudget(let on): settings.wakeBudget = on
        case .setPreviews(let whenUnlocked): settings.hidesPreviews = whenUnlocked
        default: break
        }
        try await happen(.settings(settings))
        if action == .setLowPower(on: false) { endPowerSaving() }
    }

    private func setConnection(_ wanted: PhoneSnapshot.Network) async {
        let before = network.connection
        guard before != wanted else { return }
        network.connection = wanted
        publish()
        if wanted == .offline {
            connection?.cancel()
            connection = nil
            await service.disconnect(device: configuration.identity.id)
        } else if before == .offline {
            connect()
            if system.process.isActive { await cameToFront() }
        }
    }

    /// The user touches a notification. A locked phone is unlocked by the same gesture, and the app starts if it must.
    private func respond(to id: String, _ action: NotificationResponse.Action) async throws(PhoneActionError) {
        guard let entry = list[id] else { throw .notPossible("The notification is gone") }
        removeNotices([id])
        try await happen(.touch(.open))
        if let engine, let richID = entry.notice.richID {
            await engine.didRespond(NotificationResponse(identifier: id, richID: richID, action: action))
        }
        await cameToFront()
    }

    private func more(_ id: String) async throws(PhoneActionError) {
        guard let entry = list[id] else { throw .notPossible("The notification is gone") }
        guard category(entry)?.actions.contains(where: { $0.id == PushEnvelope.moreAction }) == true else {
            throw .notPossible("The notification has no button More")
        }
        try await respond(to: id, .button(PushEnvelope.moreAction))
    }

    /// The app sends the answer in the background; the notification goes, as on a phone.
    private func reply(_ text: String, to id: String) async throws(PhoneActionError) {
        guard let entry = list[id] else { throw .notPossible("The notification is gone") }
        guard let action = category(entry)?.actions.first(where: { $0.takesText == true }), let richID = entry.notice.richID
        else {
            throw .notPossible("The notification has no field for an answer")
        }
        guard text.unicodeScalars.count <= Self.replyLimit, text.contains(where: { !$0.isWhitespace }) else {
            throw .notPossible("An answer has 1 to \(Self.replyLimit) characters")
        }
        removeNotices([id])
        try await happen(.touch(.reply))
        let engine = try await runningApp()
        story.record(.opened, richID, "The user answered in the notification", ["button": action.title])
        await engine.didRespond(NotificationResponse(identifier: id, richID: richID, action: .reply(text), kind: entry.kind))
        await readApp()
        try await happen(.taskEnded)
    }

    /// The app hears of it, in the background, if its category asks for that.
    private func dismiss(_ id: String) async throws(PhoneActionError) {
        guard let entry = list[id] else { throw .notPossible("The notification is gone") }
        removeNotices([id])
        guard category(entry)?.reportsDismissal == true, let richID = entry.notice.richID else { return }
        try await happen(.touch(.dismiss))
        let engine = try await runningApp()
        await engine.didRespond(NotificationResponse(identifier: id, richID: richID, action: .dismiss))
        try await happen(.taskEnded)
    }

    private func answerOffer(more: Bool) async throws(PhoneActionError) {
        let engine = try visibleApp()
        guard let offer = offers.popLast() else { throw .notPossible("The app asks nothing") }
        publish()
        await engine.didAnswerOffer(of: offer.richID, more: more)
        await readApp()
    }

    private func openInbox(_ richID: RichID) async throws(PhoneActionError) {
        let engine = try visibleApp()
        guard view.inbox.contains(where: { $0.id == richID }) else { throw .notPossible("It is not in the inbox") }
        await engine.show(richID)
        await readApp()
    }

    private func openLink() throws(PhoneActionError) {
        guard let link = opened?.link else { throw .notPossible("There is no link on the display") }
        story.record(.opened, opened?.richID, "The user confirmed the link", ["host": link.host ?? ""])
    }

    // MARK: The app's screens, as an app would write them on top of the engine

    /// The limit of unanswered questions; the oldest go.
    private static let offerLimit = 5

    func ask(_ offer: ContentOffer) {
        offers.removeAll { $0.richID == offer.richID }
        offers.append(offer)
        if offers.count > Self.offerLimit { offers.removeFirst() }
        publish()
        noteSeen()
    }

    func closeContent() {
        view.content = nil
        opened = nil
        if appScreen == .content { appScreen = .main }
        publish()
    }

    private func signIn(
        by ask: (any AppRole) async throws(RichPushError) -> Session
    ) async throws(PhoneActionError) {
        let engine = try visibleApp()
        guard !view.signIn.busy else { throw .notPossible("The app is signing in already") }
        // The screen may still show what belongs to the previous user.
        leaveUser()
        view.signIn = .init(busy: true)
        publish()
        do throws(RichPushError) {
            _ = try await ask(engine)
            guard isRunning(engine) else { return }
            view.signIn = .init()
            view.undelivered = nil
            await readApp()
            _ = await engine.requestPermission(provisional: false)
            _ = try? await engine.refresh()
        } catch {
            guard isRunning(engine) else { return }
            view.signIn = .init(failedSignIn: error)
        }
        await readApp()
        publish()
    }

    /// Whether the app that was asked still runs: answers of an ended process are not displayed.
    func isRunning(_ app: any AppRole) -> Bool { engine === app }

    func signOut() async throws(PhoneActionError) {
        let engine = try visibleApp()
        do throws(RichPushError) {
            let result = try await engine.signOut()
            guard isRunning(engine) else { return }
            view.undelivered = PhoneMessages.sentence(for: result)
        } catch {
            guard isRunning(engine) else { return }
            throw .notPossible(PhoneMessages.sentence(for: error))
        }
        leaveUser()
        await readApp()
        publish()
    }

    private func leaveUser() {
        closeContent()
        offers = []
        view.sending = .init()
    }

    func refreshInbox() async throws(PhoneActionError) {
        let engine = try visibleApp()
        do throws(RichPushError) {
            try await engine.refresh()
        } catch {
            await readApp()
            guard isRunning(engine) else { return }
            throw .notPossible(PhoneMessages.sentence(for: error))
        }
        await readApp()
    }

    /// The app, while the user can touch it.
    func visibleApp() throws(PhoneActionError) -> any AppRole {
        guard system.process.isActive, !system.lock.isLocked, let engine else {
            throw .notPossible("The app is not on the display")
        }
        return engine
    }

    // MARK: The app's send screen

    func sendPush(_ draft: PhoneAction.PushDraft) async throws(PhoneActionError) {
        let engine = try visibleApp()
        guard !view.sending.busy else { throw .notPossible("The app is sending already") }
        view.sending = .init(busy: true)
        publish()
        story.record(
            .send, nil, "The app asks the backend to send a push",
            draft.isEmpty ? ["body": "none, as in the rich push tutorial"] : ["style": draft.style?.rawValue ?? "default"])
        do throws(RichPushError) {
            let id = try await engine.sendPush(
                draft.isEmpty ? nil : try await configuration.request(for: draft, by: engine, at: clock.now))
            story.record(.accepted, id, "The app has the answer of the backend")
            if isRunning(engine) { view.sending = .init() }
        } catch {
            story.record(.failed, nil, "The backend did not take the push", ["reason": error.code])
            if isRunning(engine) { view.sending = .init(busy: false, error: PhoneMessages.sentence(for: error)) }
        }
        publish()
    }
}
