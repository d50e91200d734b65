import RichPushDevice
import RichPushModel

/// The system's notification centre.
extension SimulatedPhone {
    /// Shows a notification, or asks the app how while the user looks at it.
    func show(_ content: NoticeContent, identifier: String, richID: RichID?, by shower: String, push: String? = nil) async {
        var options: PresentationOptions = [.banner, .list, .sound]
        if process.isActive, !view.locked, let engine {
            options = await engine.willPresent(ForegroundNotice(identifier: identifier, richID: richID, content: content))
        }
        if let badge = content.badge { setBadge(badge) }
        guard options.contains(.list) || options.contains(.banner) else { return }
        let entry = entry(content, identifier: identifier, richID: richID)
        for gone in list.add(entry) { shelf.remove(gone.file) }
        if options.contains(.banner), !view.locked { hangBanner(entry.notice) }
        let attachment = entry.file == nil ? "no" : entry.notice.mediaType ?? "yes"
        story.tell(.shown, richID, "The phone shows the notification", ["by": shower, "attachment": attachment], push: push)
        publish()
    }

    private func entry(_ content: NoticeContent, identifier: String, richID: RichID?) -> NoticeList.Entry {
        var notice = PhoneSnapshot.Notice(
            id: identifier, richID: richID, title: content.title, subtitle: content.subtitle.isEmpty ? nil : content.subtitle,
            body: content.body, thread: content.thread, at: clock.now)
        let file = content.attachment.flatMap(shelf.take)
        if let attachment = content.attachment, file != nil {
            notice.hasAttachment = true
            notice.mediaType = attachment.mediaType
            notice.altText = attachment.altText
        }
        return NoticeList.Entry(notice: notice, category: content.category, file: file)
    }

    private func hangBanner(_ notice: PhoneSnapshot.Notice) {
        view.banner = notice
        bannerTimer?.cancel()
        let (clock, time) = (clock, configuration.bannerTime)
        bannerTimer = Task {
            guard (try? await clock.sleep(for: time)) != nil else { return }
            view.banner = nil
            publish()
        }
    }

    /// Removes entries with their files and their banner.
    func removeNotices(_ ids: Set<String>) {
        for gone in list.remove(ids) { shelf.remove(gone.file) }
        if let banner = view.banner, ids.contains(banner.id) { view.banner = nil }
        publish()
    }

    func removeAllNotices() {
        for gone in list.removeAll() { shelf.remove(gone.file) }
        view.banner = nil
        publish()
    }

    /// The icon shows a number only if notifications are allowed.
    func setBadge(_ count: Int) {
        view.badge = memory.permission == .granted ? max(0, count) : 0
        publish()
    }

    /// What the app shows itself.
    func present(_ notice: LocalNotice) async throws(PresentationError) {
        guard memory.permission == .granted else { throw .notPermitted }
        await show(notice.content, identifier: notice.identifier, richID: notice.richID, by: "the app")
    }
}
