import RichPushDevice
import RichPushModel

extension SimulatedPhone {
    func currentSnapshot() -> PhoneSnapshot {
        var snapshot = view
        let settings = system.settings
        snapshot.process = system.process.state
        snapshot.locked = system.lock.isLocked
        snapshot.beforeFirstUnlock = system.lock == .beforeFirstUnlock
        snapshot.installed = memory.isInstalled
        snapshot.permission = settings.permission
        snapshot.alerts = settings.alerts
        snapshot.hidesPreviews = settings.hidesPreviews
        snapshot.focus = settings.focus
        snapshot.lowPower = settings.lowPower
        snapshot.wakeBudget = system.hasWakeBudget
        snapshot.backgroundRefresh = settings.backgroundRefresh
        snapshot.network = network.connection
        snapshot.screen = snapshot.locked ? .lock : system.process.isInFront ? appScreen : .home
        snapshot.notifications = list.entries.map(visible)
        snapshot.banner = view.banner.flatMap { list[$0.id] }.map(visible)
        snapshot.alert = system.process.isInFront ? offers.last.map(Self.alert) : nil
        if appScreen != .content { snapshot.content = nil }
        snapshot.time = clock.now
        return snapshot
    }

    private static func alert(_ offer: ContentOffer) -> PhoneSnapshot.Alert {
        PhoneSnapshot.Alert(richID: offer.richID, title: offer.title, subtitle: offer.subtitle, message: offer.message)
    }

    /// An entry as it may be seen: the category's placeholder while the phone is locked and hides previews.
    private func visible(_ entry: NoticeList.Entry) -> PhoneSnapshot.Notice {
        var notice = entry.notice
        let category = category(entry)
        notice.actions = category?.actions ?? []
        if notice.title.isEmpty { notice.title = configuration.appName }
        guard system.lock.isLocked, system.settings.hidesPreviews else { return notice }
        notice.title = configuration.appName
        notice.subtitle = nil
        notice.body = category?.hiddenPreviewText ?? "Notification"
        notice.hasAttachment = false
        notice.mediaType = nil
        notice.altText = nil
        notice.actions = []
        notice.previewHidden = true
        return notice
    }

    /// The bytes behind a notification's attachment, or behind the content screen and the inbox when `noticeID` is absent; `nil`
    /// when they are not on the phone, or hidden by the lock.
    public func media(for richID: RichID, attachmentOf noticeID: String?) async -> PhoneMedia? {
        if let noticeID {
            guard let entry = list[noticeID], entry.notice.richID == richID, let file = entry.file,
                let mediaType = entry.notice.mediaType, !(system.lock.isLocked && system.settings.hidesPreviews)
            else { return nil }
            return PhoneMedia(mediaType: mediaType, file: file)
        }
        if let opened, opened.richID == richID, let content = opened.content {
            return PhoneMedia(mediaType: content.mediaType, file: content.file, fileName: opened.fileName)
        }
        guard let content = await engine?.downloadedContent(of: richID) else { return nil }
        return PhoneMedia(mediaType: content.mediaType, file: content.file)
    }

    /// Who is signed in, also for the time when the app does not run.
    func setUser(_ user: String?) {
        view.user = user
        memory.user = user
    }

    /// Reads the inbox and the user from the app, if it runs.
    func readApp() async {
        guard let engine else { return }
        let session = await engine.session
        let inbox = (try? await engine.inbox()) ?? Inbox()
        let downloaded = await engine.downloaded(among: inbox.entries)
        let items = inbox.entries.map { PhoneSnapshot.InboxItem(entry: $0, downloaded: downloaded.contains($0.id)) }
        guard self.engine === engine else { return }
        // Before the first unlock the app cannot read who it is, and says nobody.
        if session != nil || system.lock != .beforeFirstUnlock { setUser(session?.user) }
        view.inbox = items
        view.unread = inbox.unread
        if session == nil || session?.isRejected == true {
            appScreen = .signIn
        } else if appScreen == .signIn {
            appScreen = .main
        }
        publish()
    }
}
