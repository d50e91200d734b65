import RichPushModel

/// What the service extension does for rich push: turns a neutral push into the words and the picture of its notification.
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
        var best: NoticeContent
        /// What to show when whom `best` is for has signed out.
        let fallback: NoticeContent
        /// For whom it is enriched; `best` is then nobody else's business.
        var session: Session?
        /// Whether the number on the icon is the inbox's and not the push's.
        var countsUnread = false
        let result: FirstResult<NoticeContent>
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

    /// The content to show: enriched, else with the words only, else the original, always with the button "More". Returns
    /// exactly once, within `budget` or as soon as `expire` is called, whatever the network does.
    ///
    /// Where the original's words may be another user's they are replaced by neutral ones: when nobody is signed in, when the push
    /// says that it is for somebody else (then nothing is fetched), when the server does not know the notification as this
    /// user's, and on a shared phone (`Session.isShared`) unless push or server say that it is.
    public func enrich(_ request: EnrichmentRequest, budget: Duration) async -> NoticeContent {
        guard let envelope = request.envelope else { return request.original }
        var original = request.original
        if original.category == nil { original.category = PushEnvelope.category }
        let fallback = original.neutral(configuration.neutralText)
        let deadline = Deadline(device.clock, after: max(.zero, budget - configuration.limits.presentationReserve))
        let result = FirstResult<NoticeContent>()
        let key = device.identifiers.newIdentifier()
        running[key] = Running(best: mayShowWords(of: envelope) ? original : fallback, fallback: fallback, result: result)
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

    /// The system is about to end the extension: everything under way is handed over as good as it is now.
    public func expire() async {
        for key in running.keys { await settle(key) }
    }

    private func settle(_ key: String) async {
        guard let entry = running.removeValue(forKey: key) else { return }
        entry.work?.cancel()
        guard let session = entry.session, isCurrent(session) else {
            await entry.result.resolve(entry.session == nil ? entry.best : entry.fallback)
            return
        }
        var best = entry.best
        // Only now: what came while this one was fetched is counted too, and the last one shown has the last word.
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
                forgetWords(of: key)
                device.log.record(DeviceEvent(.unchanged, envelope.id, ["reason": "another-user"]))
                return
            }
            note(.delivered, of: envelope.id, in: session)
            let receipts = Task { await flush(session, authorization, within: deadline) }
            let claim = try claim(envelope.id, in: session, within: deadline)
            defer { if let claim { try? device.store.release(claim) } }
            await enrich(key, envelope, in: session, as: authorization, within: deadline)
            // Afterwards the process may be suspended at any moment; but nobody waits long for a receipt.
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
        do throws(RichPushError) {
            let entry = try await details(of: envelope.id, key, in: session, as: authorization, within: deadline)
            apply(entry, to: key, in: session)
            try await attach(to: key, entry, in: session, as: authorization, within: deadline)
        } catch {
            if error != .notFound { note(.failed, action: error.code, of: envelope.id, in: session) }
            device.log.record(DeviceEvent(.fetchFailed, envelope.id, ["reason": error.code]))
        }
    }

    /// What the server does not know as this user's has no words for them. A content that is gone is another matter: whose the
    /// notification is, the server has said.
    private func details(
        of id: RichID, _ key: String, in session: Session, as authorization: Authorization, within deadline: Deadline
    ) async throws(RichPushError) -> InboxEntry {
        do throws(RichPushError) {
            return try await fetcher.details(of: id, in: session, as: authorization, within: deadline)
        } catch {
            if error == .notFound { forgetWords(of: key) }
            throw error
        }
    }

    /// Fetches what is worth it and attaches it.
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
}
