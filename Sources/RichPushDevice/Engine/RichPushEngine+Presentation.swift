import RichPushModel

extension RichPushEngine {
    /// The identifier of the local notification of a rich notification: a repeat replaces it.
    static func identifier(_ id: RichID) -> String { "rich-\(id)" }

    /// Shows a silent push: a question while the user looks at the app, otherwise a local notification.
    func present(_ entry: InboxEntry, with content: CachedContent?, in session: Session) async {
        var notice = NoticeContent(
            title: entry.title ?? "", subtitle: entry.subtitle ?? "", body: entry.message, category: PushEnvelope.category)
        if let content { notice.attachment = attachments.attachment(for: content, altText: entry.altText, in: session) }
        guard await show(notice, of: entry.id, kind: entry.kind, in: session) else { return }
        try? records.markShown(entry.id, of: session.id)
    }

    /// Whether it was shown. What may be another user's is not asked about, whatever it says.
    @discardableResult
    func show(
        _ content: NoticeContent, of id: RichID, kind: ContentKind, in session: Session, isProven: Bool = true
    ) async -> Bool {
        let isActive = await app.environment.appState() == .active
        guard isCurrent(session) else { return false }
        if isActive, isProven, configuration.offersInForeground {
            await offer(id, content)
            return true
        }
        var notice = LocalNotice(identifier: Self.identifier(id), richID: id, kind: kind, content: content)
        notice.content.badge = try? inbox(of: session).unread
        let isShown = await post(notice)
        guard isShown, self.session?.id != session.id else { return isShown }
        // The user signed out while the system took it, perhaps after everything shown was removed.
        await app.notifications.removeDelivered([notice.identifier])
        return false
    }

    /// Without the attachment when the system refuses it: words are better than nothing.
    private func post(_ notice: LocalNotice) async -> Bool {
        do throws(PresentationError) {
            try await app.notifications.present(notice)
        } catch {
            // The copy was for the system, which did not take it.
            if let copy = notice.content.attachment?.file { try? FileAccess.remove(copy) }
            if error == .badAttachment, notice.content.attachment != nil {
                var plain = notice
                plain.content.attachment = nil
                return await post(plain)
            }
            device.log.record(DeviceEvent(.presentFailed, notice.richID, ["reason": "\(error)"]))
            return false
        }
        let hasAttachment = notice.content.attachment != nil
        device.log.record(DeviceEvent(.presented, notice.richID, ["attachment": hasAttachment ? "yes" : "no"]))
        return true
    }

    private func offer(_ id: RichID, _ content: NoticeContent) async {
        device.log.record(DeviceEvent(.offered, id))
        let stated = { (text: String) in text.isEmpty ? nil : text }
        await app.router.offer(
            ContentOffer(richID: id, title: stated(content.title), subtitle: stated(content.subtitle), message: content.body))
    }

    /// The system is about to show a notification over the app. A rich one goes to the list only, and the app asks OK / More,
    /// as in the rich push tutorial; one that came for a user who has signed out is not shown. One that says that it is another
    /// user's is not asked about, and is in the list only with neutral words; on a shared phone the same goes for one of which
    /// neither it nor the server has said that it is this user's.
    public func willPresent(_ notice: ForegroundNotice) async -> PresentationOptions {
        guard let id = notice.richID else { return [.banner, .list, .sound] }
        guard let session = activeSession else { return mayList(notice) ? [.list] : [] }
        guard isTheirs(notice, id, in: session) else {
            return notice.content.saysOnly(configuration.neutralText) ? [.list] : []
        }
        device.log.record(DeviceEvent(.arrived, id))
        guard configuration.offersInForeground else { return [.banner, .list, .sound] }
        await offer(id, notice.content)
        return [.list]
    }

    /// In a session that the server has ended the person is the same: what another app state would show is at least listed.
    private func mayList(_ notice: ForegroundNotice) -> Bool {
        guard let session, session.isRejected, let id = notice.richID, !isChangingSession, !isStopped else { return false }
        return isTheirs(notice, id, in: session)
    }

    private func isTheirs(_ notice: ForegroundNotice, _ id: RichID, in session: Session) -> Bool {
        switch session.owner(of: id, marked: notice.subject) {
        case .another: false
        case .thisUser: true
        case .unsaid: !session.isShared || ((try? records.entry(id, of: session.id)) ?? nil) != nil
        }
    }

    /// Takes away what is shown for nobody: a process that ended in the middle of a sign-out left it, or it came afterwards.
    func removeOrphanedNotices() async {
        guard isLoaded, session == nil else { return }
        let shown = await app.notifications.delivered().filter { $0.richID != nil }.map(\.identifier)
        guard !shown.isEmpty, session == nil else { return }
        await app.notifications.removeDelivered(shown)
        await app.notifications.setBadge(0)
    }

    /// Sets the number on the icon to what is unread.
    func updateBadge(in session: Session) async {
        guard isCurrent(session), let inbox = try? inbox(of: session) else { return }
        await app.notifications.setBadge(inbox.unread)
    }
}
