import RichPushModel

/// All that the app does for rich push, without a single system type: an adapter calls in, ports are called out.
///
/// Every function ends within its deadline on every path, and a function that stands for a system callback returns exactly one
/// answer. Nothing is asked of the user here except through `requestPermission`.
public actor RichPushEngine {
    let configuration: RichPushConfiguration
    let device: DevicePorts
    let app: AppPorts
    let client: BackendClient
    let records: NotificationRecords
    let outbox: Outbox
    let fetcher: ContentFetcher
    let attachments: AttachmentMaker

    /// Who is signed in.
    public internal(set) var session: Session?
    var isLoaded = false
    var isChangingSession = false
    var isStopped = false
    /// The device token, upper-case hexadecimal.
    var token: String?
    /// Work under way, so that the same is not done twice at once.
    var fetches: [ContentKey: Task<Result<CachedContent, RichPushError>, Never>] = [:]
    var pushes: [RichID: Task<BackgroundResult, Never>] = [:]
    var registration: Task<Void, Never>?
    /// Why there is no new credential; nothing when there is one.
    var renewal: Task<RichPushError?, Never>?
    /// The look at the inbox that is under way, and the one that begins after it for whoever has asked meanwhile.
    var refreshing: Task<Result<Inbox, RichPushError>, Never>?
    var nextRefresh: Task<Result<Inbox, RichPushError>, Never>?
    var flushing: Task<Void, Never>?
    /// Something was noted while a flush was under way.
    var needsFlush = false
    var revoking: Task<Void, Never>?
    /// What the user did before anything was readable, oldest first.
    var waitingResponses: [NoticeResponse] = []

    /// Creates an engine. One app has one; nothing happens until `start`.
    public init(configuration: RichPushConfiguration, device: DevicePorts, app: AppPorts) {
        self.configuration = configuration
        self.device = device
        self.app = app
        client = BackendClient(backend: configuration.backend, transport: device.transport, clock: device.clock)
        records = NotificationRecords(
            store: device.store, limits: configuration.limits, neutralText: configuration.neutralText)
        outbox = Outbox(store: device.store, limits: configuration.limits)
        fetcher = ContentFetcher(
            client: client, records: records, cache: device.cache, secrets: device.secrets, clock: device.clock,
            log: device.log)
        attachments = AttachmentMaker(cache: device.cache, clock: device.clock)
    }

    /// To be called at every launch, before the system delivers anything: reads who is signed in, registers the category and
    /// asks for a device token. It waits for no network.
    public func start() async {
        load()
        await app.notifications.register([category])
        await app.push.registerForPush()
        await removeOrphanedNotices()
        startFlush()
        startRevocation()
        await scheduleRefresh()
    }

    /// Ends all work under way, as when the process ends. Nothing is lost: what matters is on the device.
    public func stop() {
        isStopped = true
        cancelWork()
        revoking?.cancel()
        revoking = nil
    }

    private var category: NoticeCategory {
        var actions = [NoticeCategory.Action(identifier: PushEnvelope.moreAction, title: configuration.moreTitle)]
        if configuration.offersReply {
            actions.append(.init(identifier: PushEnvelope.replyAction, title: configuration.replyTitle, takesText: true))
        }
        return NoticeCategory(
            identifier: PushEnvelope.category, actions: actions, reportsDismissal: true,
            hiddenPreviewText: configuration.neutralText)
    }

    /// Asks the user, in a moment when the app can explain why. Registering for a token needs no permission.
    public func requestPermission(provisional: Bool = false) async -> NoticePermission {
        let permission = await app.notifications.requestPermission(provisional: provisional)
        // The server should know who sees nothing.
        startRegistration()
        return permission
    }

    /// Reads who is signed in. Before the first unlock nothing is readable: then nobody is, for now, and nothing is deleted.
    /// What a sign-out left behind when the process ended in the middle of it is removed; so is what a backup brought to another
    /// device, where the secrets did not come along (Reference/IOSClient.md#5). Secrets without a session are those of an app
    /// that was removed while somebody was signed in: the server hears of it. Returns why it could not be read.
    @discardableResult
    func load() -> StorageError? {
        guard !isLoaded else { return nil }
        do throws(StorageError) {
            let kept = try device.store.session()
            session = try device.secrets.secret(.credential) == nil ? nil : kept
            if session == nil {
                if kept == nil { try noteRemovedApp() }
                try forgetEverything()
            }
            isLoaded = true
            return nil
        } catch {
            device.log.record(DeviceEvent(.storageFailed, nil, ["reason": "\(error)"]))
            return error
        }
    }

    /// The session, if something may be fetched in it.
    var activeSession: Session? {
        load()
        guard let session, !session.isRejected, !isChangingSession, !isStopped else { return nil }
        return session
    }

    func isCurrent(_ session: Session) -> Bool { self.session?.id == session.id && !isStopped }

    func cancelWork() {
        for task in fetches.values { task.cancel() }
        for task in pushes.values { task.cancel() }
        registration?.cancel()
        renewal?.cancel()
        refreshing?.cancel()
        nextRefresh?.cancel()
        flushing?.cancel()
        fetches = [:]
        pushes = [:]
        registration = nil
        renewal = nil
        refreshing = nil
        nextRefresh = nil
        flushing = nil
    }
}
