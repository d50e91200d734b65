import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A phone made of the real device engine and simulated services of an operating system: a simulation, not iOS.
///
/// The app's process is a `RichPushEngine`, the service extension an `EnrichmentEngine` made anew for every push; the two share
/// nothing but a folder. It proves protocol, engine and timing policy; it does not prove what iOS schedules, kills or draws.
public actor SimulatedPhone: PhoneDisplay {
    let configuration: SimulatedPhoneConfiguration
    let service: any SimulatedPushService
    let transport: any HTTPTransport
    let clock: any ServiceClock
    let identifiers: any IdentifierSource
    let story: PhoneStory
    let network: NetworkSwitch
    let protected: ProtectedData
    let shelf: AttachmentShelf

    /// What the display shows; `snapshot` completes it.
    var view: PhoneSnapshot
    /// The notification centre, which survives a restart of the phone.
    var list: NoticeList {
        didSet { if list != oldValue { noticeFile.write(list) } }
    }
    let noticeFile: NoticeFile
    /// What the operating system knows and decides.
    var system: PhoneSystem {
        didSet {
            memory.settings = system.settings
            // A replacement that is cut off has not happened.
            if !system.isReplacing { memory.isInstalled = system.isInstalled }
        }
    }
    /// The app's process, while there is one.
    var engine: (any AppRole)?
    /// How often a process of the app was ended: one that was being started meanwhile is ended too.
    var ends = 0
    /// What survives a restart of the phone.
    var memory: SystemMemory {
        didSet { if memory != oldValue { memory.write(memoryFile) } }
    }
    let memoryFile: URL
    /// The app's own screen, under the lock and behind the home screen.
    var appScreen: PhoneSnapshot.Screen = .signIn
    /// What the content screen shows.
    var opened: OpenedContent?
    var offers: [ContentOffer] = []
    /// Contents that were shown as loading and whose end has not come.
    var loading: Set<RichID> = []
    /// Whether the app asks for its inbox because something came over it, and whether more came since it asked.
    var isUpdatingInbox = false
    var needsInbox = false
    /// Background pushes that are on their way through the app.
    var handing = 0
    /// How often the app was read.
    var readings = 0
    /// Notifications and questions that no watcher has counted yet.
    var unseen = 0
    var watchers: [Int: (count: Int, waiter: FirstResult<Bool>)] = [:]
    var lastWatcher = 0
    var connection: Task<Void, Never>?
    var suspension: Task<Void, Never>?
    var bannerTimer: Task<Void, Never>?
    /// The refresh that the app wants.
    var refreshTimer: Task<Void, Never>?
    /// What the system knows of Live Activities, and the tokens that it gave for them by name; both survive a restart.
    var activities: ActivitySystem { didSet { if activities != oldValue { keepActivities() } } }
    var activityTokens: [String: String] { didSet { if activityTokens != oldValue { keepActivities() } } }
    /// Runs until one of them becomes stale or goes.
    var activityTimer: Task<Void, Never>?
    /// The channels that its Live Activities follow.
    var followedChannels: Set<String>

    /// Builds a phone in its folder. It is off the network until `start`.
    ///
    /// Throws when the folder cannot be made.
    public init(
        configuration: SimulatedPhoneConfiguration, service: any SimulatedPushService, transport: any HTTPTransport,
        clock: any ServiceClock = SystemClock(), identifiers: any IdentifierSource = SystemIdentifierSource()
    ) throws {
        self.configuration = configuration
        self.service = service
        self.clock = clock
        self.identifiers = identifiers
        // Other users of this machine must not read what the phone received. An existing folder keeps its permissions; the
        // folders in it that hold such data are restricted one by one.
        try FileManager.default.createDirectory(
            at: configuration.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let network = NetworkSwitch(folder: configuration.folder)
        self.network = network
        self.transport = SwitchedTransport(
            connection: { network.connection }, delay: configuration.slowAnswerDelay, transport: transport, clock: clock)
        protected = ProtectedData(folder: configuration.folder)
        protected.unlock()
        Self.removeLeftovers(in: configuration.folder)
        story = PhoneStory(
            phone: configuration.identity.id, clock: clock, log: configuration.eventLog.map { StoryFile($0) })
        shelf = try AttachmentShelf(folder: configuration.folder.appendingPathComponent("system"))
        noticeFile = NoticeFile(
            file: configuration.folder.appendingPathComponent("notifications.json"), shelf: shelf)
        let list = noticeFile.read()
        self.list = list
        shelf.removeAll(but: list.entries.compactMap(\.file))
        memoryFile = configuration.folder.appendingPathComponent(SystemMemory.fileName)
        let memory = SystemMemory.read(memoryFile)
        self.memory = memory
        (activities, activityTokens) = Self.keptActivities(in: configuration.folder)
        followedChannels = Self.followed(by: activities)
        view = PhoneSnapshot(phone: configuration.identity, time: clock.now)
        view.badge = memory.badge
        view.user = memory.user
        system = PhoneSystem(
            settings: memory.settings, isInstalled: memory.isInstalled, wakesPerHour: configuration.backgroundWakesPerHour)
    }

    /// Switches the phone on: it connects to the push service. The app is not running yet.
    public func start() {
        connect()
        publish()
    }

    /// Switches the phone off and ends every subscription. What is on its disk stays.
    public func stop() async {
        connection?.cancel()
        suspension?.cancel()
        bannerTimer?.cancel()
        refreshTimer?.cancel()
        activityTimer?.cancel()
        ends += 1
        await engine?.stop()
        engine = nil
        await service.disconnect(device: configuration.identity.id)
        story.end()
    }

    func category(_ entry: NoticeList.Entry) -> SystemMemory.Category? {
        memory.categories.first { $0.identifier == entry.category }
    }

    /// What the phone looks like now.
    public var snapshot: PhoneSnapshot { currentSnapshot() }

    /// What happened so far, at most the last 500 steps.
    public nonisolated var steps: [StoryStep] { story.steps }

    /// What happens from now on, beginning with a snapshot. Every subscriber has a buffer of 256 updates of which the oldest go;
    /// story steps count up, so that a gap shows.
    public nonisolated func updates() -> AsyncStream<PhoneUpdate> { story.updates() }

    /// Adds what others know of a push to this phone's story: the backend's answer, the APNs request and its answer.
    public nonisolated func record(
        _ kind: StoryStep.Kind, richID: RichID?, title: String, detail: [String: String] = [:], push: String? = nil,
        at moment: Timestamp? = nil
    ) {
        story.record(kind, richID, title, detail, push: push, at: moment)
    }

    func publish() { story.show(currentSnapshot()) }

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
        snapshot.liveActivities = activities.isEnabled
        snapshot.frequentActivityUpdates = activities.allowsFrequentUpdates
        snapshot.activitiesSurviveRestart = activities.survivesRestart
        snapshot.activities = shownActivities
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

    /// The bytes behind a notification's attachment or the picture of a Live Activity, or behind the content screen and the inbox when
    /// `noticeID` is absent; `nil` when they are not on the phone, or hidden by the lock.
    public func media(for richID: RichID, attachmentOf noticeID: String?) async -> PhoneMedia? {
        if let noticeID {
            if let picture = activityPicture(of: noticeID), picture.id == richID { return PhoneMedia(picture: picture.file) }
            guard let entry = list[noticeID], entry.notice.richID == richID, let file = entry.file,
                let mediaType = entry.notice.mediaType, !(system.lock.isLocked && system.settings.hidesPreviews)
            else { return nil }
            return PhoneMedia(mediaType: mediaType, file: file)
        }
        return await media(of: richID, in: engine)
    }

    /// Sets the signed-in user, also for the time when the app does not run.
    func setUser(_ user: String?) {
        view.user = user
        memory.user = user
    }

    /// Reads the inbox and the user from the app, if it runs. Of several readings under way the last one counts.
    func readApp() async {
        guard let engine else { return }
        readings += 1
        var (reading, session, inbox, downloaded) = (0, nil as Session?, Inbox(), [] as Set<RichID>)
        repeat {
            reading = readings
            session = await engine.session
            inbox = (try? await engine.inbox()) ?? Inbox()
            downloaded = await engine.downloaded(among: inbox.entries)
        } while reading != readings && self.engine === engine
        guard self.engine === engine else { return }
        let items = inbox.entries.map { PhoneSnapshot.InboxItem(entry: $0, downloaded: downloaded.contains($0.id)) }
        // Before the first unlock the app cannot read its user, and reports none.
        if session != nil || system.lock != .beforeFirstUnlock { setUser(session?.user) }
        view.inbox = items
        view.unread = inbox.unread
        if session == nil || session?.isRejected == true {
            appScreen = .signIn
        } else {
            if appScreen == .signIn { appScreen = .main }
            // A sign-in that failed may have gone on by itself.
            view.signIn.error = nil
        }
        publish()
    }

    // MARK: For scripts that wait for what the user would see

    /// Something was shown or asked.
    func noteSeen() {
        unseen += 1
        settleWatchers()
    }

    /// Returns `true` when `count` notifications and questions were seen that no earlier call has counted; `false` when the task
    /// is cancelled.
    public func seen(_ count: Int) async -> Bool {
        lastWatcher += 1
        let number = lastWatcher
        let waiter = FirstResult<Bool>()
        watchers[number] = (count, waiter)
        settleWatchers()
        return await withTaskCancellationHandler {
            await waiter.value
        } onCancel: {
            Task { await self.cancelWatcher(number) }
        }
    }

    private func settleWatchers() {
        for (number, watcher) in watchers.sorted(by: { $0.key < $1.key }) where unseen >= watcher.count {
            unseen -= watcher.count
            watchers[number] = nil
            Task { await watcher.waiter.resolve(true) }
        }
    }

    private func cancelWatcher(_ number: Int) async {
        await watchers.removeValue(forKey: number)?.waiter.resolve(false)
    }
}
