import RichPushDevice
import RichPushModel

/// What both kinds of phones show in the same way: notifications with their banner, and the content screen of the app.
protocol PhoneDisplay: Actor {
    var configuration: SimulatedPhoneConfiguration { get }
    var clock: any ServiceClock { get }
    var shelf: AttachmentShelf { get }
    var view: PhoneSnapshot { get set }
    var list: NoticeList { get set }
    var appScreen: PhoneSnapshot.Screen { get set }
    /// What the content screen shows.
    var opened: OpenedContent? { get set }
    /// Contents that were shown as loading and whose end has not come.
    var loading: Set<RichID> { get set }
    var bannerTimer: Task<Void, Never>? { get set }

    func publish()
}

extension PhoneDisplay {
    /// The engine shows a content: first as loading, then as it ends.
    func route(_ content: OpenedContent) {
        if content.state == .loading {
            loading.insert(content.richID)
        } else if loading.remove(content.richID) != nil, view.content?.richID != content.richID {
            // The user closed the screen while it was loading.
            return
        }
        opened = content
        view.content = PhoneSnapshot.Content(content)
        appScreen = .content
        publish()
    }

    func hangBanner(_ notice: PhoneSnapshot.Notice) {
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

    /// The file of a content that the screen shows, or that `app` has downloaded.
    func media(of richID: RichID, in app: (any AppRole)?) async -> PhoneMedia? {
        if let opened, opened.richID == richID, let content = opened.content {
            return PhoneMedia(mediaType: content.mediaType, file: content.file, fileName: opened.fileName)
        }
        guard let content = await app?.downloadedContent(of: richID) else { return nil }
        return PhoneMedia(mediaType: content.mediaType, file: content.file)
    }
}
