import RichPushModel

/// Everything the app does for rich push, without a single system type: an adapter calls it, and it calls ports.
///
/// Every function ends within its deadline on every path, and a function that stands for a system callback returns exactly one answer.
/// Only `requestPermission` asks the user anything.
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
    /// The device token, as the system gave it.
    var token: String?
    /// Work under way, so that concurrent calls share it.
    var fetches: [ContentKey: Task<Result<CachedContent, RichPushError>, Never>] = [:]
    var pushes: [RichID: Task<BackgroundResult, Never>] = [:]
    var registration: Task<Void, Never>?
    /// The report of the app's Live Activities under way, and whether something changed since it was made.
    var reporting: Task<Void, Never>?
    var needsActivityReport = false
    /// Pictures of activities that the server does not give or has recalled, or that are none. A push of one asks again.
    var missingPictures: Set<RichID> = []
    /// The renewal of the credential under way; its value is the failure, or `nil` when there is a new credential.
    var renewal: Task<RichPushError?, Never>?
    /// The refresh of the inbox under way, and the next one, which calls made meanwhile share.
    var refreshing: Task<Result<Inbox, RichPushError>, Never>?
    var nextRefresh: Task<Result<Inbox, RichPushError>, Never>?
    var flushing: Task<Void, Never>?
    /// Something was noted while a flush was under way.
    var needsFlush = false
    var revoking: Task<Void, Never>?
    /// The sign-in with a token that no server has answered yet, and the work on it.
    var wanted: WantedSignIn?
    var signingIn: Task<RichPushError?, Never>?
    /// What the user did before anything was readable, oldest first.
    var waitingResponses: [NotificationResponse] = []

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
        await removeOrphanedNotifications()
        startFlush()
        startRevocation()
        startWantedSignIn()
        startActivityReport()
        await scheduleRefresh()
    }

    /// Ends all work under way, as when the process ends. Nothing is lost: what matters is on the device.
    public func stop() {
        isStopped = true
        cancelWork()
        revoking?.cancel()
        revoking = nil
        signingIn?.cancel()
        signingIn = nil
    }

    private var category: NotificationCategory {
        var actions = [NotificationCategory.Action(identifier: PushEnvelope.moreAction, title: configuration.moreTitle)]
        if configuration.offersReply {
            actions.append(.init(identifier: PushEnvelope.replyAction, title: configuration.replyTitle, takesText: true))
        }
        return NotificationCategory(
            identifier: PushEnvelope.category, actions: actions, reportsDismissal: true,
            hiddenPreviewText: configuration.neutralText)
    }

    /// Asks the user, in a moment when the app can explain why. Registering for a token needs no permission.
    public func requestPermission(provisional: Bool = false) async -> NotificationPermission {
        let permission = await app.notifications.requestPermission(provisional: provisional)
        // The server should know which users see no notifications.
        startRegistration()
        return permission
    }

    /// Reads the session. Before the first unlock nothing is readable: then there is none for now, and nothing is deleted. The remains
    /// of a sign-out that a process did not finish are removed, and so is a session restored from a backup to another device, where the
    /// secrets did not come along (Reference/IOSClient.md#5). Secrets without a session are those of an app that was removed while a
    /// user was signed in: the server gets a sign-out. Returns why the session could not be read.
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
            loadWantedSignIn()
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

    /// Whether a user is signed in, read from the device if that is possible by now.
    public var state: RichPushState {
        load()
        guard isLoaded else { return .starting }
        guard let session else { return isSignInPending ? .signingIn : .signedOut }
        return session.isRejected ? .signInNeeded(session) : .signedIn(session)
    }

    func isCurrent(_ session: Session) -> Bool { self.session?.id == session.id && !isStopped }

    func cancelWork() {
        for task in fetches.values { task.cancel() }
        for task in pushes.values { task.cancel() }
        registration?.cancel()
        reporting?.cancel()
        renewal?.cancel()
        refreshing?.cancel()
        nextRefresh?.cancel()
        flushing?.cancel()
        fetches = [:]
        pushes = [:]
        registration = nil
        reporting = nil
        renewal = nil
        refreshing = nil
        nextRefresh = nil
        flushing = nil
    }

    /// A content from the cache or the server. Concurrent calls for one content share a download, each until its own deadline. A call
    /// that shared a download which ran out of time starts a new one.
    func fetch(
        _ descriptor: ContentDescriptor, of id: RichID, variant: ContentFetcher.Variant, in session: Session,
        within deadline: Deadline
    ) async -> Result<CachedContent, RichPushError> {
        let key = ContentKey(id, sha256: descriptor.sha256, of: session.id)
        while true {
            if let cached = fetcher.cached(descriptor, of: id, in: session) { return .success(cached) }
            let shared = fetches[key]
            let task = shared ?? startFetch(key, descriptor, variant, in: session, within: deadline)
            let result = await deadline.run { await task.value } ?? .failure(.timedOut)
            guard shared != nil, result == .failure(.timedOut), deadline.remaining > .zero, isCurrent(session),
                !Task.isCancelled
            else { return result }
        }
    }

    private func startFetch(
        _ key: ContentKey, _ descriptor: ContentDescriptor, _ variant: ContentFetcher.Variant, in session: Session,
        within deadline: Deadline
    ) -> Task<Result<CachedContent, RichPushError>, Never> {
        let task = Task {
            let result = await download(descriptor, of: key.richID, variant: variant, in: session, within: deadline)
            if !Task.isCancelled { fetches[key] = nil }
            return result
        }
        fetches[key] = task
        return task
    }

    private func download(
        _ descriptor: ContentDescriptor, of id: RichID, variant: ContentFetcher.Variant, in session: Session,
        within deadline: Deadline
    ) async -> Result<CachedContent, RichPushError> {
        do throws(RichPushError) {
            let content = try await authorized(in: session, within: deadline) { authorization throws(RichPushError) in
                try await self.fetcher.download(
                    descriptor, of: id, variant: variant, in: session, as: authorization,
                    maximumBytes: self.configuration.limits.maximumContentBytes, within: deadline)
            }
            return .success(content)
        } catch {
            return .failure(error)
        }
    }

    /// Makes calls with the narrow credential. When the server refuses it, a kept password or a new token of the app gets another, once,
    /// within `deadline`. Without one that is accepted the user must sign in again, and until then nothing is fetched.
    func authorized<Value: Sendable>(
        in session: Session, within deadline: Deadline, _ work: (Authorization) async throws(RichPushError) -> Value
    ) async throws(RichPushError) -> Value {
        let credential = try self.credential()
        do {
            return try await work(.installation(credential))
        } catch .credentialRejected {
            guard isCurrent(session) else { throw .notSignedIn }
            if try self.credential() == credential { try await renewCredential(in: session, within: deadline) }
            return try await work(.installation(try self.credential()))
        } catch {
            throw error
        }
    }

    private func credential() throws(RichPushError) -> String {
        guard let credential = try storing({ () throws(StorageError) in try device.secrets.secret(.credential) }) else {
            throw .notSignedIn
        }
        return credential
    }

    /// The user's name and password, for the calls that the narrow credential may not make.
    func passwordAuthorization(in session: Session) throws(RichPushError) -> Authorization {
        guard let password = try storing({ () throws(StorageError) in try device.secrets.secret(.password) }),
            let name = UserName(session.user)
        else { throw .passwordNotKept }
        return .password(name, password)
    }

    /// Gets a new credential. Concurrent calls share one renewal, because each renewal ends the credential before; none waits beyond
    /// its own deadline. Only a refusal of the server ends the session, not a server that cannot be reached.
    private func renewCredential(in session: Session, within deadline: Deadline) async throws(RichPushError) {
        while true {
            let shared = renewal
            let task = shared ?? startRenewal(in: session)
            let failure: RichPushError? = await deadline.run { await task.value } ?? .timedOut
            guard let failure else {
                // The app's token was of another user: work for the user before must not go on in their name.
                guard isCurrent(session) else { throw .notSignedIn }
                return
            }
            if shared != nil, failure == .timedOut, deadline.remaining > .zero, isCurrent(session), !Task.isCancelled { continue }
            guard isCurrent(session) else { throw .notSignedIn }
            if failure.isTransient { throw failure }
            mark(session, isRejected: true)
            if case .tokenRejected = failure { throw failure }
            throw .credentialRejected
        }
    }

    /// Gets a new credential for `proof`; without one for what the app has: the kept password or a new token.
    func startRenewal(in session: Session, as proof: Authorization? = nil) -> Task<RichPushError?, Never> {
        let task = Task {
            var failure: RichPushError?
            do throws(RichPushError) {
                let known = if let proof { proof } else { try await renewalProof(in: session) }
                try await fetchCredential(in: session, as: known)
            } catch { failure = error }
            if !Task.isCancelled { renewal = nil }
            return failure
        }
        renewal = task
        return task
    }

    private func fetchCredential(in session: Session, as proof: Authorization) async throws(RichPushError) {
        let (taken, answer) = try await exchange(proof, in: session)
        guard isCurrent(session) else { throw .notSignedIn }
        guard let credential = answer.credential, !credential.isEmpty else { throw .badAnswer }
        guard answer.user.lowercased() == session.user.lowercased() else {
            return try await replace(session, proof, acknowledged: (taken, answer))
        }
        try storing { () throws(StorageError) in try device.secrets.setSecret(credential, for: .credential) }
        mark(session, isRejected: false)
        endSignIn(with: proof)
        startRegistration()
    }

    /// A token may be another user's, and this user's tags and key are not for them. So the server gets them afterwards.
    private func exchange(
        _ proof: Authorization, in session: Session
    ) async throws(RichPushError) -> (InstallationUpdate, InstallationAnswer) {
        let isToken = if case .token = proof { true } else { false }
        let update = isToken ? await plainUpdate() : await installationUpdate()
        let deadline = Deadline(device.clock, after: configuration.limits.callDeadline)
        guard isCurrent(session) else { throw .notSignedIn }
        if isToken { try storing { () throws(StorageError) in try forgetAcknowledgement(in: session) } }
        do throws(RichPushError) {
            return try await register(update, in: session) { update throws(RichPushError) in
                try await self.put(update, installation: session.installation, as: proof, within: deadline)
            }
        } catch {
            guard isToken, error == .notFound, isCurrent(session), !Task.isCancelled else { throw error }
            try await giveWay(session)
            throw .notSignedIn
        }
    }

    private func mark(_ session: Session, isRejected: Bool) {
        guard isCurrent(session), self.session?.isRejected != isRejected else { return }
        self.session?.isRejected = isRejected
        guard let marked = self.session else { return }
        try? device.store.update(marked)
        device.log.record(DeviceEvent(isRejected ? .rejected : .signedIn))
    }

    // MARK: The time from a restart of the device to its first unlock, when the session cannot be read.
    //
    // A tap on a notification starts the app all the same, and the system delivers it once. It waits in memory for the unlock.

    /// More than a user taps on a locked phone; the oldest go first.
    private static var waitingLimit: Int { 16 }

    /// The device was unlocked: to be called when protected data becomes available. `refresh` does the same.
    public func didUnlock() async {
        load()
        guard isLoaded else { return }
        let responses = waitingResponses
        waitingResponses = []
        for response in responses { await didRespond(response) }
        startRegistration()
        startActivityReport()
        startFlush()
        startRevocation()
        startWantedSignIn()
    }

    func keepForUnlock(_ response: NotificationResponse) async {
        waitingResponses.append(response)
        if waitingResponses.count > Self.waitingLimit { waitingResponses.removeFirst() }
        device.log.record(DeviceEvent(.ignored, response.richID, ["reason": "locked"]))
        if response.action != .dismiss {
            await app.router.show(OpenedContent(richID: response.richID, state: .missing(.storage(.locked))))
        }
    }
}
