import FCMEmulation
import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An Android phone made of the real device engine and simulated services of the system: a simulation, not Android.
///
/// The local FCM is the system's side: it knows when a message arrives, in Doze, after a force stop and after the phone was away. The app
/// gets each message as data and draws the notification itself (Reference/FCM.md#6-2). Its process is a `RichPushEngine`, made anew
/// whenever the system starts the app.
public actor AndroidPhone: PhoneDisplay {
    let configuration: SimulatedPhoneConfiguration
    let device: SimulatedAndroid
    let transport: any HTTPTransport
    let clock: any ServiceClock
    let identifiers: any IdentifierSource
    let story: PhoneStory
    let network: NetworkSwitch
    let protected: ProtectedData
    let shelf: AttachmentShelf
    private let noticeFile: NoticeFile
    private let memoryFile: URL

    /// What the display shows; `snapshot` completes it.
    var view: PhoneSnapshot
    /// What the notification shade shows.
    var list: NoticeList { didSet { if list != oldValue { noticeFile.write(list) } } }
    /// What survives a restart of the phone.
    var memory: SystemMemory { didSet { if memory != oldValue { memory.write(memoryFile) } } }
    /// The app's process, while there is one.
    var app: (any AppRole)?
    /// Ends the wait for an answer of that process, when it ends before.
    var abandon: (@Sendable () async -> Void)?
    /// The app's own screen, under the lock and behind the home screen.
    var appScreen: PhoneSnapshot.Screen = .signIn
    /// What the content screen shows.
    var opened: OpenedContent?
    /// Contents that were shown as loading and whose end has not come.
    var loading: Set<RichID> = []
    private var readings = 0
    private var receiving: Task<Void, Never>?
    var bannerTimer: Task<Void, Never>?

    /// Builds a phone in its folder, with the app that `device` has at a local FCM. It receives nothing until `start`.
    ///
    /// Throws when the folder cannot be made.
    public init(
        configuration: SimulatedPhoneConfiguration, device: SimulatedAndroid, transport: any HTTPTransport,
        clock: any ServiceClock = SystemClock(), identifiers: any IdentifierSource = SystemIdentifierSource()
    ) throws {
        let folder = configuration.folder
        (self.configuration, self.device, self.clock, self.identifiers) = (configuration, device, clock, identifiers)
        // Other users of this machine must not read what the phone received.
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let network = NetworkSwitch(folder: folder)
        self.network = network
        self.transport = SwitchedTransport(
            connection: { network.connection }, delay: configuration.slowAnswerDelay, transport: transport, clock: clock)
        protected = ProtectedData(folder: folder)
        protected.unlock()
        story = PhoneStory(phone: configuration.identity.id, clock: clock, log: configuration.eventLog.map { StoryFile($0) })
        shelf = try AttachmentShelf(folder: folder.appendingPathComponent("system"))
        noticeFile = NoticeFile(file: folder.appendingPathComponent("notifications.json"), shelf: shelf)
        list = noticeFile.read()
        shelf.removeAll(but: list.entries.compactMap(\.file))
        memoryFile = folder.appendingPathComponent(SystemMemory.fileName)
        memory = SystemMemory.read(memoryFile)
        view = PhoneSnapshot(phone: configuration.identity, time: clock.now)
        view.liveActivities = false
        view.user = memory.user
        // FCM keeps what comes before this phone can take it.
        try? device.act(.goOffline)
    }

    /// Switches the phone on: it is in reach of FCM. The app is not running yet.
    public func start() {
        let events = device.events
        // A local FCM that knows nothing of its last run has given another token.
        let renewed = memory.token == nil || memory.token == device.token ? nil : device.token
        receiving = Task {
            if let renewed { await receive(.newToken(renewed)) }
            for await event in events { await receive(event) }
        }
        try? device.act(.goOnline)
        publish()
    }

    /// Switches the phone off and ends every subscription. What is on its disk stays, and FCM keeps what comes.
    public func stop() async {
        receiving?.cancel()
        bannerTimer?.cancel()
        try? device.act(.goOffline)
        await endProcess(.notRunning)
        story.end()
    }

    /// What the phone looks like now.
    public var snapshot: PhoneSnapshot {
        var snapshot = view
        let settings = memory.settings
        snapshot.installed = memory.isInstalled
        snapshot.permission = settings.permission
        snapshot.network = network.connection
        snapshot.screen = view.locked ? .lock : isInFront ? appScreen : .home
        snapshot.notifications = list.entries.map(visible)
        snapshot.banner = view.banner.flatMap { list[$0.id] }.map(visible)
        if appScreen != .content { snapshot.content = nil }
        snapshot.time = clock.now
        return snapshot
    }

    /// What happened so far, at most the last 500 steps.
    public nonisolated var steps: [StoryStep] { story.steps }

    /// What happens from now on, beginning with a snapshot, as of a `SimulatedPhone`.
    public nonisolated func updates() -> AsyncStream<PhoneUpdate> { story.updates() }

    /// Adds what others know of a message to this phone's story.
    public nonisolated func record(
        _ kind: StoryStep.Kind, richID: RichID?, title: String, detail: [String: String] = [:], push: String? = nil,
        at moment: Timestamp? = nil
    ) {
        story.record(kind, richID, title, detail, push: push, at: moment)
    }

    /// The bytes behind a notification's picture, or behind the content screen and the inbox when `noticeID` is absent; `nil` when they
    /// are not on the phone.
    public func media(for richID: RichID, attachmentOf noticeID: String?) async -> PhoneMedia? {
        if let noticeID {
            guard let entry = list[noticeID], entry.notice.richID == richID, let file = entry.file,
                let mediaType = entry.notice.mediaType
            else { return nil }
            return PhoneMedia(mediaType: mediaType, file: file)
        }
        return await media(of: richID, in: app)
    }

    func publish() { story.show(snapshot) }

    /// Whether the user sees the app, or would see it on an unlocked phone.
    var isInFront: Bool { [.active, .inactive].contains(view.process) }

    private func visible(_ entry: NoticeList.Entry) -> PhoneSnapshot.Notice {
        var notice = entry.notice
        notice.actions = memory.categories.first { $0.identifier == entry.category }?.actions ?? []
        if notice.title.isEmpty { notice.title = configuration.appName }
        return notice
    }

    /// Reads the inbox and the user from the app, if it runs. Of several readings under way the last one counts.
    func readApp() async {
        guard let app else { return }
        readings += 1
        let reading = readings
        let session = await app.session
        let inbox = (try? await app.inbox()) ?? Inbox()
        let downloaded = await app.downloaded(among: inbox.entries)
        guard reading == readings, self.app === app else { return }
        // Before the first unlock the app cannot read its user, and reports none.
        if session != nil || !view.beforeFirstUnlock { (view.user, memory.user) = (session?.user, session?.user) }
        view.inbox = inbox.entries.map { PhoneSnapshot.InboxItem(entry: $0, downloaded: downloaded.contains($0.id)) }
        view.unread = inbox.unread
        if session == nil || session?.isRejected == true {
            appScreen = .signIn
        } else if appScreen == .signIn {
            appScreen = .main
        }
        publish()
    }
}
