import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The system's notification centre.
extension SimulatedPhone {
    /// Shows a notification where the system says, or asks the app how while the user looks at it.
    func show(
        _ content: NoticeContent, identifier: String, richID: RichID?, kind: ContentKind?, subject: SubjectMark? = nil,
        by shower: String, traits: SystemEvent.AlertTraits = .init(), push: String? = nil
    ) async {
        guard let place = place(of: traits, richID, push) else { return discard(content) }
        if let badge = content.badge { setBadge(badge) }
        let asked = ForegroundNotice(identifier: identifier, richID: richID, subject: subject, content: content)
        let options = await options(asked, at: place)
        guard !options.isDisjoint(with: [.list, .banner]) else { return discard(content) }
        let entry = entry(content, identifier: identifier, richID: richID, kind: kind)
        for gone in list.add(entry) { shelf.remove(gone.file) }
        if options.contains(.banner) { hangBanner(entry.notice) }
        let attachment = entry.file == nil ? "no" : entry.notice.mediaType ?? "yes"
        story.tell(
            .shown, richID, "The phone shows the notification",
            ["by": shower, "attachment": attachment, "place": place.rawValue], push: push)
        publish()
        noteSeen()
        if place == .asAppSays { await updateInbox() }
    }

    /// The app's inbox behind what it asks or shows: at once what the extension left for it, then what the server says. However many
    /// come at once, one question is under way and one waits, which sees all that came before it.
    private func updateInbox() async {
        await readApp()
        needsInbox = true
        guard !isUpdatingInbox else { return }
        isUpdatingInbox = true
        handing += 1
        Task {
            defer {
                isUpdatingInbox = false
                handing -= 1
            }
            while needsInbox, let engine {
                needsInbox = false
                _ = try? await engine.refresh()
                await readApp()
            }
        }
    }

    private func place(of traits: SystemEvent.AlertTraits, _ richID: RichID?, _ push: String?) -> NoticePlace? {
        for instruction in system.handle(.notice(traits), at: clock.now) {
            if case .place(let place) = instruction { return place }
            if case .drop(let reason) = instruction { story.tell(.held, richID, reason.sentence, push: push) }
        }
        return nil
    }

    /// How it is shown; the app in front may want it otherwise.
    private func options(_ notice: ForegroundNotice, at place: NoticePlace) async -> PresentationOptions {
        switch place {
        case .banner: return [.banner, .list, .sound]
        case .lockScreen: return [.list, .sound]
        case .quietly: return [.list]
        case .asAppSays:
            return await engine?.willPresent(notice) ?? [.banner, .list, .sound]
        }
    }

    /// The system has taken nothing of it.
    private func discard(_ content: NoticeContent) {
        if let file = content.attachment?.file { try? FileManager.default.removeItem(at: file) }
    }

    private func entry(
        _ content: NoticeContent, identifier: String, richID: RichID?, kind: ContentKind?
    ) -> NoticeList.Entry {
        var notice = PhoneSnapshot.Notice(
            id: identifier, richID: richID, title: content.title, subtitle: content.subtitle.isEmpty ? nil : content.subtitle,
            body: content.body, thread: content.thread, at: clock.now)
        let file = content.attachment.flatMap(shelf.take)
        if let attachment = content.attachment, file != nil {
            notice.hasAttachment = true
            notice.mediaType = attachment.mediaType
            notice.altText = attachment.altText
        }
        return NoticeList.Entry(notice: notice, category: content.category, kind: kind, file: file)
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
        view.badge = system.settings.permission == .granted ? max(0, count) : 0
        memory.badge = view.badge
        publish()
    }

    /// What the app shows itself.
    func present(_ notice: LocalNotice) async throws(PresentationError) {
        guard system.settings.permission == .granted else { throw .notPermitted }
        await show(notice.content, identifier: notice.identifier, richID: notice.richID, kind: notice.kind, by: "the app")
    }
}
