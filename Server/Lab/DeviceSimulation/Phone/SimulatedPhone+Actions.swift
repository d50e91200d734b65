import RichPushDevice
import RichPushModel

extension SimulatedPhone {
    /// The most characters of an answer that the server takes, each mark and joiner counted.
    static let replyLimit = 2_000

    /// Does what a person does, and returns when the phone has done it all.
    ///
    /// Throws only when there is nothing to touch; what the user would see of a failure is in the snapshot.
    public func perform(_ action: PhoneAction) async throws(PhoneActionError) {
        switch action {
        case .signIn(let user, let password): try await signIn(user: user, password: password)
        case .signOut: try await signOut()
        case .sendPush(let draft): try await sendPush(draft)
        case .refreshInbox: try await refreshInbox()
        case .openApp, .home, .lock, .unlock, .terminate, .endApp: try await use(action)
        case .restart: try await restart()
        case .removeApp: try await replace(.removeApp)
        case .installApp: try await replace(.installApp)
        case .restoreBackup: try await replace(.restoreBackup)
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

    /// What an app does whenever it becomes active, also when nobody is signed in: the server may not have heard of it yet.
    private func cameToFront() async {
        guard let engine else { return }
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
    private func respond(to id: String, _ action: NoticeResponse.Action) async throws(PhoneActionError) {
        guard let entry = list[id] else { throw .notPossible("The notification is gone") }
        removeNotices([id])
        try await happen(.touch(.open))
        if let engine, let richID = entry.notice.richID {
            await engine.didRespond(NoticeResponse(identifier: id, richID: richID, action: action))
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
        story.tell(.opened, richID, "The user answered in the notification", ["button": action.title])
        await engine.didRespond(NoticeResponse(identifier: id, richID: richID, action: .reply(text), kind: entry.kind))
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
        await engine.didRespond(NoticeResponse(identifier: id, richID: richID, action: .dismiss))
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
        story.tell(.opened, opened?.richID, "The user confirmed the link", ["host": link.host ?? ""])
    }
}
