import RichPushModel

/// What the service extension does for rich push: turns a neutral push into the text and the picture of its notification.
///
/// It is smaller than the app's engine because an extension has little memory: it downloads to files, decodes nothing and
/// reads the session anew for each push. One process may serve several pushes at once.
public actor EnrichmentEngine {
    let configuration: RichPushConfiguration
    let device: DevicePorts
    let client: BackendClient
    let records: NotificationRecords
    let outbox: Outbox
    let fetcher: ContentFetcher
    let attachments: AttachmentMaker

    /// What is under way: the best content so far, and the place of the final one.
    var running: [String: Running] = [:]

    struct Running {
        var best: NotificationContent
        /// What to show when the user that `best` is for has signed out.
        let fallback: NotificationContent
        /// The session it is enriched for; `best` must not be shown in another.
        var session: Session?
        /// Whether the number on the icon is the inbox's and not the push's.
        var countsUnread = false
        /// What is being fetched for it.
        var fetched: RichID?
        let result: FirstResult<NotificationContent>
        var work: Task<Void, Never>?
    }

    /// Creates an engine; nothing happens until `enrich`.
    public init(configuration: RichPushConfiguration, device: DevicePorts) {
        self.configuration = configuration
        self.device = device
        client = BackendClient(backend: configuration.backend, transport: device.transport, clock: device.clock)
        records = NotificationRecords(
            store: device.store, limits: configuration.limits, neutralText: configuration.neutralText)
        outbox = Outbox(store: device.store, limits: configuration.limits)
        fetcher = ContentFetcher(
            client: client, records: records, cache: device.cache, secrets: device.secrets, clock: device.clock,
            log: device.log)
        attachments = AttachmentMaker(cache: device.cache, clock: device.clock)
    }

    /// The content to show: enriched, else with the text only, else the original, always with the button "More". Returns exactly once,
    /// within `budget` or as soon as `expire` is called, whatever the network does.
    ///
    /// Text that may be another user's is replaced by neutral text: when no user is signed in, when the push names another user (then
    /// nothing is fetched), when the server does not know the notification as this user's, and on a shared phone (`Session.isShared`)
    /// unless push or server say that it is this user's.
    public func enrich(_ request: EnrichmentRequest, budget: Duration) async -> NotificationContent {
        guard let envelope = request.envelope else { return request.original }
        var original = request.original
        if original.category == nil { original.category = PushEnvelope.category }
        let fallback = original.neutral(configuration.neutralText)
        let deadline = Deadline(device.clock, after: max(.zero, budget - configuration.limits.presentationReserve))
        let result = FirstResult<NotificationContent>()
        let key = device.identifiers.newIdentifier()
        running[key] = Running(best: mayShowText(of: envelope) ? original : fallback, fallback: fallback, result: result)
        let clock = device.clock
        let timer = Task {
            try? await clock.sleep(for: deadline.remaining)
            await self.settle(key)
        }
        running[key]?.work = Task {
            await self.improve(key, envelope, within: deadline)
            await self.settle(key)
        }
        let content = await result.value
        timer.cancel()
        return content
    }

    /// The system is about to end the extension: everything under way is delivered in its current state.
    public func expire() async {
        for key in running.keys { await settle(key) }
    }

    /// Hands over the best content so far. A fetch that this cuts off is recorded first: the process may end with the answer.
    private func settle(_ key: String) async {
        if let id = running[key]?.fetched, let session = running[key]?.session { fetchFailed(.timedOut, id, key, in: session) }
        guard let entry = running.removeValue(forKey: key) else { return }
        entry.work?.cancel()
        guard let session = entry.session, isCurrent(session) else {
            await entry.result.resolve(entry.session == nil ? entry.best : entry.fallback)
            return
        }
        var best = entry.best
        // Only now: notifications that came during the fetch are counted too, and the last one shown sets the number.
        if entry.countsUnread { best.badge = unread(in: session) }
        await entry.result.resolve(best)
    }

    private func improve(_ key: String, _ envelope: PushEnvelope, within deadline: Deadline) async {
        do throws(RichPushError) {
            guard let (session, authorization) = try signedIn() else {
                device.log.record(DeviceEvent(.unchanged, envelope.id, ["reason": "not-signed-in"]))
                return
            }
            running[key]?.session = session
            guard session.owner(of: envelope.id, marked: envelope.subject) != .another else {
                forgetText(of: key)
                device.log.record(DeviceEvent(.unchanged, envelope.id, ["reason": "another-user"]))
                return
            }
            note(.delivered, of: envelope.id, in: session)
            let receipts = Task { await flush(session, authorization, within: deadline) }
            let claim = try claim(envelope.id, in: session, within: deadline)
            defer { if let claim { try? device.store.release(claim) } }
            await enrich(key, envelope, in: session, as: authorization, within: deadline)
            // Afterwards the process may be suspended at any moment; but a notification does not wait long for a receipt.
            _ = await deadline.capped(at: .seconds(1)).run {
                await receipts.value
                await self.flush(session, authorization, within: deadline)
            }
            receipts.cancel()
        } catch {
            device.log.record(DeviceEvent(.unchanged, envelope.id, ["reason": error.code]))
        }
    }

    private func enrich(
        _ key: String, _ envelope: PushEnvelope, in session: Session, as authorization: Authorization, within deadline: Deadline
    ) async {
        running[key]?.fetched = envelope.id
        do throws(RichPushError) {
            let entry = try await details(of: envelope.id, key, in: session, as: authorization, within: deadline)
            apply(entry, to: key, in: session)
            try await attach(to: key, entry, in: session, as: authorization, within: deadline)
        } catch {
            fetchFailed(error, envelope.id, key, in: session)
        }
        running[key]?.fetched = nil
    }

    /// Records a failed fetch once, whether the fetch failed or was cut off.
    private func fetchFailed(_ error: RichPushError, _ id: RichID, _ key: String, in session: Session) {
        guard running[key]?.fetched != nil else { return }
        running[key]?.fetched = nil
        if error != .notFound { note(.failed, action: error.code, of: id, in: session) }
        device.log.record(DeviceEvent(.fetchFailed, id, ["reason": error.code]))
    }

    /// If the server does not know the notification as this user's, its text is removed. If only the content is gone, the text stays:
    /// the server has confirmed whose it is.
    private func details(
        of id: RichID, _ key: String, in session: Session, as authorization: Authorization, within deadline: Deadline
    ) async throws(RichPushError) -> InboxEntry {
        do throws(RichPushError) {
            return try await fetcher.details(of: id, in: session, as: authorization, within: deadline)
        } catch {
            if error == .notFound { forgetText(of: key) }
            throw error
        }
    }

    /// Fetches content that is worth it and attaches it.
    private func attach(
        to key: String, _ entry: InboxEntry, in session: Session, as authorization: Authorization, within deadline: Deadline
    ) async throws(RichPushError) {
        guard let choice = await choice(for: entry) else {
            device.log.record(DeviceEvent(.enriched, entry.id, ["attachment": "no"]))
            return
        }
        do throws(RichPushError) {
            let content = try await content(choice, of: entry, in: session, as: authorization, within: deadline)
            note(.fetched, of: entry.id, in: session)
            attach(content, of: entry, to: key, in: session)
        } catch  where choice.isSpared(after: error) {
            device.log.record(DeviceEvent(.enriched, entry.id, ["attachment": "no", "reason": "network"]))
        }
    }

    /// The session and its credential, read anew: the app may have signed out a moment ago. `nil` also before the first unlock,
    /// when nothing is readable and nothing may be deleted.
    func signedIn() throws(RichPushError) -> (Session, Authorization)? {
        try storing { () throws(StorageError) in
            guard let session = try device.store.session(), !session.isRejected,
                let credential = try device.secrets.secret(.credential)
            else { return nil }
            return (session, .installation(credential))
        }
    }

    /// Whether a push's own text may be shown before the server has said whose it is. Before the first unlock that is unknown, and the
    /// system would show the text without this extension too.
    func mayShowText(of envelope: PushEnvelope) -> Bool {
        do throws(StorageError) {
            return try device.store.session()?.mayShowText(of: envelope.id, marked: envelope.subject) ?? false
        } catch {
            return true
        }
    }

    /// The server does not know the notification as this user's: it was recalled, or is another user's.
    func forgetText(of key: String) {
        guard let fallback = running[key]?.fallback else { return }
        running[key]?.best = fallback
    }

    /// Claims the notification, so that an app that was woken for the same push leaves the fetch to this process. It never waits: the
    /// extension fetches in any case, because it shows the notification.
    func claim(_ id: RichID, in session: Session, within deadline: Deadline) throws(RichPushError) -> HeldClaim? {
        let now = device.clock.now
        return try storing { () throws(StorageError) in
            try device.store.claim(
                RecordKey(.claims, "\(id)", of: session.id), until: now + deadline.remaining + .seconds(5), now: now)
        }
    }

    /// Replaces the push's text by the notification's.
    func apply(_ entry: InboxEntry, to key: String, in session: Session) {
        guard var best = running[key]?.best, isCurrent(session) else { return }
        if let title = entry.title { best.title = title }
        if let subtitle = entry.subtitle { best.subtitle = subtitle }
        best.body = entry.message
        running[key]?.countsUnread = best.badge == nil
        running[key]?.best = best
    }

    /// Whether the app has not signed out meanwhile: the text of the previous user must not be shown then.
    func isCurrent(_ session: Session) -> Bool { (try? device.store.session())?.id == session.id }

    /// The number on the icon; `nil` when it is unknown.
    func unread(in session: Session) -> Int? {
        guard let synchronised = try? records.synchronised(of: session.id),
            let arrived = try? records.arrived(of: session.id),
            let unsent = try? outbox.reads(of: session, now: device.clock.now),
            let read = try? records.readHere(of: session.id)
        else { return nil }
        return synchronised.merged(with: arrived, read: read.union(unsent)).unread
    }

    func attach(_ content: CachedContent, of entry: InboxEntry, to key: String, in session: Session) {
        guard isCurrent(session) else { return }
        let attachment = attachments.attachment(for: content, altText: entry.altText, in: session)
        running[key]?.best.attachment = attachment
        device.log.record(DeviceEvent(.enriched, entry.id, ["attachment": attachment == nil ? "no" : "yes"]))
    }

    func flush(_ session: Session, _ authorization: Authorization, within deadline: Deadline) async {
        let delivery = OutboxDelivery(client: client, outbox: outbox, clock: device.clock, log: device.log)
        let limit = deadline.capped(at: configuration.limits.receiptDeadline)
        try? await delivery.flush(of: session, as: authorization, within: limit)
    }

    func note(_ kind: Receipt.Kind, action: String? = nil, of id: RichID, in session: Session) {
        try? outbox.add(Receipt(richID: id, kind: kind, action: action, at: device.clock.now), of: session)
    }

    /// What is fetched for a notification, and at what cost.
    struct Choice {
        var descriptor: ContentDescriptor
        var variant: ContentFetcher.Variant
        /// Over which networks it may be fetched: large content can wait for a tap.
        var network = AllowedNetwork.any
        /// How long the notification waits for it; absent means as long as the system allows.
        var timeout: Duration?

        /// Whether a failure only means that no allowed network was available.
        func isSpared(after error: RichPushError) -> Bool { network != .any && error == .offline }
    }

    /// The bytes worth fetching here: what the system will show, the small variant first; or what is tiny and will be opened.
    ///
    /// The notification is held meanwhile. So larger content is fetched only over a fast network whose use the user does not limit, and
    /// a video without a small variant never (Reference/IOSClient.md#6).
    func choice(for entry: InboxEntry) async -> Choice? {
        let isShowable = { (content: ContentDescriptor) in
            AttachmentMaker.isShowable(mediaType: content.mediaType, byteCount: content.byteCount)
        }
        var found = entry.thumb.flatMap { isShowable($0) ? Choice(descriptor: $0, variant: .thumb) : nil }
        if found == nil, let content = entry.content, isShowable(content) || content.byteCount <= Self.tiny {
            found = Choice(descriptor: content, variant: .original)
        }
        guard var choice = found, choice.descriptor.byteCount > Self.tiny else { return found }
        guard MediaFormat(declared: choice.descriptor.mediaType)?.isFilm == false else { return nil }
        let limits = configuration.limits
        guard choice.descriptor.byteCount > limits.maximumSavingBytes else { return choice }
        guard await !device.power.isSavingPower() else { return nil }
        choice.network = choice.descriptor.byteCount > limits.maximumExpensiveBytes ? .inexpensive : .unconstrained
        choice.timeout = limits.originalDeadline
        return choice
    }

    /// Small enough to be fetched always: a link, a coupon.
    private static var tiny: Int64 { 64 << 10 }

    /// The chosen bytes, from the cache or the server.
    func content(
        _ choice: Choice, of entry: InboxEntry, in session: Session, as authorization: Authorization, within deadline: Deadline
    ) async throws(RichPushError) -> CachedContent {
        if let cached = fetcher.cached(choice.descriptor, of: entry.id, in: session) { return cached }
        var fetcher = fetcher
        fetcher.client.network = choice.network
        return try await fetcher.download(
            choice.descriptor, of: entry.id, variant: choice.variant, in: session, as: authorization,
            maximumBytes: configuration.limits.maximumContentBytes,
            within: choice.timeout.map { deadline.capped(at: $0) } ?? deadline)
    }
}

/// A push that the system hands to the service extension before it shows it.
public struct EnrichmentRequest: Hashable, Sendable, Codable {
    /// The system's identifier of the request.
    public var identifier: String
    /// What the push says to rich push; `nil` when it is not one of ours.
    public var envelope: PushEnvelope?
    /// What the system would show.
    public var original: NotificationContent

    /// Creates a request.
    public init(identifier: String, envelope: PushEnvelope?, original: NotificationContent) {
        self.identifier = identifier
        self.envelope = envelope
        self.original = original
    }
}
