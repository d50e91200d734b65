import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension RichPushEngine {
    /// A push that woke the app: fetches its content and, unless the system shows the push itself, presents it. Returns exactly once,
    /// within `budget`, in every session state and for every payload.
    ///
    /// A duplicate of a push under way returns the same result; a duplicate of one that was shown does nothing.
    public func handleBackgroundPush(_ envelope: PushEnvelope, budget: Duration) async -> BackgroundResult {
        guard let session = activeSession else {
            device.log.record(DeviceEvent(.ignored, envelope.id, ["reason": isLoaded ? "not-signed-in" : "locked"]))
            return isLoaded ? .noData : .failed
        }
        if session.owner(of: envelope.id, marked: envelope.subject) == .another {
            device.log.record(DeviceEvent(.ignored, envelope.id, ["reason": "another-user"]))
            return .noData
        }
        let running = pushes[envelope.id]
        if running != nil { device.log.record(DeviceEvent(.repeated, envelope.id)) }
        let task = running ?? start(envelope, in: session, budget: budget)
        // The steps keep their deadlines; a port that presents may not, and must not delay the answer.
        return await Deadline(device.clock, after: budget).run { await task.value } ?? .failed
    }

    private func start(_ envelope: PushEnvelope, in session: Session, budget: Duration) -> Task<BackgroundResult, Never> {
        let deadline = Deadline(device.clock, after: max(.zero, budget - configuration.limits.presentationReserve))
        let task = Task {
            let result = await handle(envelope, in: session, within: deadline)
            if !Task.isCancelled { pushes[envelope.id] = nil }
            return result
        }
        pushes[envelope.id] = task
        return task
    }

    private func handle(_ envelope: PushEnvelope, in session: Session, within deadline: Deadline) async -> BackgroundResult {
        if !envelope.hasAlert, (try? records.wasShown(envelope.id, of: session.id)) == true {
            device.log.record(DeviceEvent(.repeated, envelope.id))
            return .noData
        }
        note(.delivered, of: envelope.id, in: session)
        startFlush()
        let key = RecordKey(.claims, "\(envelope.id)", of: session.id)
        let expiry = device.clock.now + deadline.remaining + .seconds(5)
        let claim = (try? device.store.claim(key, until: expiry, now: device.clock.now)) ?? nil
        defer { if let claim { try? device.store.release(claim) } }
        let result = await fetchAndPresent(envelope, isOurs: claim != nil, in: session, within: deadline)
        await flush(within: deadline.capped(at: configuration.limits.receiptDeadline))
        // The push may have woken the app for the picture that an update of an activity names.
        missingPictures.remove(envelope.id)
        await reportActivities(within: deadline.capped(at: configuration.limits.receiptDeadline))
        return result
    }

    private func fetchAndPresent(
        _ envelope: PushEnvelope, isOurs: Bool, in session: Session, within deadline: Deadline
    ) async -> BackgroundResult {
        do throws(RichPushError) {
            guard isOurs else { throw .claimed }
            let entry = try await authorized(in: session, within: deadline) { authorization throws(RichPushError) in
                try await self.fetcher.details(of: envelope.id, in: session, as: authorization, within: deadline)
            }
            let warmed = await warm(entry, in: session, within: deadline)
            guard isCurrent(session) else { return .noData }
            if case .failure(let error) = warmed { fail(envelope.id, error, in: session) }
            if !envelope.hasAlert {
                let picture = await picture(for: entry, warmed: try? warmed.get(), in: session, within: deadline)
                await present(entry, with: picture, envelope.words, in: session)
            }
            // The sender's own number stands until something is read.
            if envelope.words?.badge == nil { await updateBadge(in: session) }
            return if case .failure = warmed { .failed } else { .newData }
        } catch {
            return await fallBack(envelope, error, in: session)
        }
    }

    /// Fetches what a later tap will open, if it is small enough for the background; else the small variant; else nothing.
    private func warm(
        _ entry: InboxEntry, in session: Session, within deadline: Deadline
    ) async -> Result<CachedContent?, RichPushError> {
        let limit = await backgroundLimit()
        let fetched: Result<CachedContent, RichPushError>
        if let content = entry.content, content.byteCount <= limit {
            fetched = await fetch(content, of: entry.id, variant: .original, in: session, within: deadline)
        } else if let thumb = entry.thumb, thumb.byteCount <= limit {
            fetched = await fetch(thumb, of: entry.id, variant: .thumb, in: session, within: deadline)
        } else {
            return .success(nil)
        }
        if case .success = fetched { note(.fetched, of: entry.id, in: session) }
        return fetched.map { $0 }
    }

    /// The limit is lower while the user saves power: large content can wait for a tap.
    func backgroundLimit() async -> Int64 {
        let limits = configuration.limits
        let isSaving = await app.environment.isSavingPower()
        return isSaving ? min(limits.maximumSavingBytes, limits.maximumBackgroundBytes) : limits.maximumBackgroundBytes
    }

    /// What the system can show with the notification: what was fetched for the tap, else the small variant, which is the only picture
    /// of a link, a coupon, a document or a long video.
    private func picture(
        for entry: InboxEntry, warmed: CachedContent?, in session: Session, within deadline: Deadline
    ) async -> CachedContent? {
        if let warmed, AttachmentMaker.isShowable(mediaType: warmed.mediaType, byteCount: warmed.byteCount) { return warmed }
        guard let thumb = entry.thumb, thumb.byteCount <= (await backgroundLimit()),
            AttachmentMaker.isShowable(mediaType: thumb.mediaType, byteCount: thumb.byteCount)
        else { return warmed }
        return (try? await fetch(thumb, of: entry.id, variant: .thumb, in: session, within: deadline).get()) ?? warmed
    }

    /// Nothing could be fetched. A push for another user is not shown; otherwise the push's own text is better than nothing.
    private func fallBack(_ envelope: PushEnvelope, _ error: RichPushError, in session: Session) async -> BackgroundResult {
        guard isCurrent(session) else { return .noData }
        if error == .notFound {
            device.log.record(DeviceEvent(.ignored, envelope.id, ["reason": error.code]))
            return .noData
        }
        if error == .claimed, envelope.hasAlert { return .noData }
        fail(envelope.id, error, in: session)
        let mayShow = configuration.showsTextWhenFetchFails && error != .credentialRejected
        guard mayShow, !envelope.hasAlert else { return .failed }
        // On a shared phone the text may be another user's, and the server cannot be asked.
        let isProven = session.mayShowText(of: envelope.id, marked: envelope.subject)
        await show(
            ownContent(of: envelope, isProven: isProven), of: envelope.id, kind: envelope.kind, in: session, isProven: isProven)
        return .failed
    }

    /// What a push says itself, or the neutral text.
    private func ownContent(of envelope: PushEnvelope, isProven: Bool) -> NotificationContent {
        var content = NotificationContent(body: envelope.message, category: PushEnvelope.category)
        if let words = envelope.words {
            (content.title, content.subtitle) = (words.title ?? "", words.subtitle ?? "")
            (content.body, content.thread) = (words.body ?? "", words.thread)
            (content.sound, content.badge) = (words.sound, words.badge)
        }
        // Text beside a seal was not sealed.
        let isEmpty = envelope.words == nil && envelope.message.isEmpty
        return isEmpty || envelope.kind == .sealed || !isProven ? content.neutral(configuration.neutralText) : content
    }

    private func fail(_ id: RichID, _ error: RichPushError, in session: Session) {
        device.log.record(DeviceEvent(.fetchFailed, id, ["reason": error.code]))
        note(.failed, action: error.code, of: id, in: session)
    }

    /// Notes a receipt; it is sent at the next occasion.
    func note(_ kind: Receipt.Kind, action: String? = nil, of id: RichID, in session: Session) {
        let receipt = Receipt(richID: id, kind: kind, action: action, at: device.clock.now)
        do throws(StorageError) {
            try outbox.add(receipt, of: session)
        } catch {
            device.log.record(DeviceEvent(.storageFailed, id, ["reason": "\(error)"]))
        }
    }

    /// The identifier of the local notification of a rich notification: showing it again replaces it.
    static func identifier(_ id: RichID) -> String { "rich-\(id)" }

    /// Shows a silent push: a question while the user looks at the app, otherwise a local notification.
    func present(_ entry: InboxEntry, with content: CachedContent?, _ words: PushWords?, in session: Session) async {
        var notification = NotificationContent(
            title: entry.title ?? "", subtitle: entry.subtitle ?? "", body: entry.message, thread: words?.thread,
            category: PushEnvelope.category, badge: words?.badge, sound: words?.sound)
        if let content { notification.attachment = attachments.attachment(for: content, altText: entry.altText, in: session) }
        guard await show(notification, of: entry.id, kind: entry.kind, in: session) else { return }
        try? records.markShown(entry.id, of: session.id)
    }

    /// Whether it was shown. The app never asks OK / More for what may be another user's.
    @discardableResult
    func show(
        _ content: NotificationContent, of id: RichID, kind: ContentKind, in session: Session, isProven: Bool = true
    ) async -> Bool {
        let isActive = await app.environment.appState() == .active
        guard isCurrent(session) else { return false }
        if isActive, isProven, configuration.offersInForeground {
            await offer(id, content)
            return true
        }
        var notification = LocalNotification(identifier: Self.identifier(id), richID: id, kind: kind, content: content)
        if content.badge == nil { notification.content.badge = try? inbox(of: session).unread }
        let isShown = await post(notification)
        guard isShown, self.session?.id != session.id else { return isShown }
        // The user signed out while the system took it, perhaps after everything shown was removed.
        await app.notifications.removeDelivered([notification.identifier])
        return false
    }

    /// Posts it without the attachment when the system refuses that: text is better than nothing.
    private func post(_ notification: LocalNotification) async -> Bool {
        do throws(PresentationError) {
            try await app.notifications.present(notification)
        } catch {
            // The copy was for the system, which did not accept it.
            if let copy = notification.content.attachment?.file { try? FileAccess.remove(copy) }
            if error == .badAttachment, notification.content.attachment != nil {
                var plain = notification
                plain.content.attachment = nil
                return await post(plain)
            }
            device.log.record(DeviceEvent(.presentFailed, notification.richID, ["reason": "\(error)"]))
            return false
        }
        let hasAttachment = notification.content.attachment != nil
        device.log.record(DeviceEvent(.presented, notification.richID, ["attachment": hasAttachment ? "yes" : "no"]))
        return true
    }

    private func offer(_ id: RichID, _ content: NotificationContent) async {
        device.log.record(DeviceEvent(.offered, id))
        let stated = { (text: String) in text.isEmpty ? nil : text }
        await app.router.offer(
            ContentOffer(richID: id, title: stated(content.title), subtitle: stated(content.subtitle), message: content.body))
    }

    /// The system is about to show a notification over the app. A rich one goes to the list only, and the app asks OK / More, as in the
    /// rich push tutorial. One for a user who has signed out is not shown. One marked for another user is never offered, and is listed
    /// only with neutral text. On a shared phone the same holds until the push or the server says that it is this user's.
    public func willPresent(_ notification: ForegroundNotification) async -> PresentationOptions {
        guard let id = notification.richID else { return [.banner, .list, .sound] }
        guard let session = activeSession else { return mayList(notification) ? [.list] : [] }
        guard isTheirs(notification, id, in: session) else {
            return notification.content.saysOnly(configuration.neutralText) ? [.list] : []
        }
        device.log.record(DeviceEvent(.arrived, id))
        guard configuration.offersInForeground else { return [.banner, .list, .sound] }
        await offer(id, notification.content)
        return [.list]
    }

    /// In a session that the server has ended the user is the same, so the notification is at least listed.
    private func mayList(_ notification: ForegroundNotification) -> Bool {
        guard let session, session.isRejected, let id = notification.richID, !isChangingSession, !isStopped else { return false }
        return isTheirs(notification, id, in: session)
    }

    private func isTheirs(_ notification: ForegroundNotification, _ id: RichID, in session: Session) -> Bool {
        switch session.owner(of: id, marked: notification.subject) {
        case .another: false
        case .thisUser: true
        case .unmarked: !session.isShared || ((try? records.entry(id, of: session.id)) ?? nil) != nil
        }
    }

    /// Removes notifications shown without a session: a process that ended during a sign-out left them, or they came later.
    func removeOrphanedNotifications() async {
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

    /// Runs while the system gives the app a moment: sends what waits and reads the inbox, so that nothing is missed when pushes were
    /// lost (Reference/IOSClient.md#8). Returns exactly once, within `budget`, and says whether the server answered.
    public func handleBackgroundRefresh(budget: Duration) async -> Bool {
        await scheduleRefresh()
        return await Deadline(device.clock, after: budget).run { await self.refreshUnseen() } ?? false
    }

    /// Schedules the next refresh, if the app is configured for it.
    func scheduleRefresh() async {
        guard configuration.refreshTask != nil else { return }
        await app.scheduling?.scheduleRefresh(after: configuration.limits.refreshPause)
    }

    private func refreshUnseen() async -> Bool {
        do throws(RichPushError) {
            _ = try await refresh()
            return true
        } catch {
            guard error == .notSignedIn else { return false }
            // A sign-out may still have to reach the server, and the process is suspended when this returns.
            await revoking?.value
            return isLoaded && !mayBeBound
        }
    }

    // MARK: For a large content that the system downloads while the app does not run

    private struct Ticket: Decodable {
        var path: String
    }

    /// A link to the content that needs no header, good for some minutes: the system follows redirects of such a download itself and
    /// must not carry a credential along.
    ///
    /// Throws `tooLarge` and `badMediaType` for content that would be refused afterwards, and `notFound` when there is no content.
    public func downloadLink(for id: RichID) async throws(RichPushError) -> URL {
        guard let session = activeSession else { throw self.session == nil ? .notSignedIn : .credentialRejected }
        let deadline = Deadline(device.clock, after: configuration.limits.callDeadline)
        guard let descriptor = try await details(of: id, in: session, within: deadline).content else { throw .notFound }
        try ContentCheck.admit(descriptor, maximumBytes: configuration.limits.maximumContentBytes)
        try fetcher.requireSealedSize(of: id, in: session)
        let ticket = try await authorized(in: session, within: deadline) { authorization throws(RichPushError) in
            try await self.client.value(
                Ticket.self, of: BackendCall(method: "POST", path: APIRoute.ticket(id)), as: authorization, within: deadline)
        }
        var base = configuration.backend.absoluteString
        while base.hasSuffix("/") { base.removeLast() }
        guard ticket.path.hasPrefix("/"), let link = URL(string: base + ticket.path) else { throw .badAnswer }
        return link
    }

    /// Where a file that the system has downloaded waits for its checks; a sign-out removes it. `nil` when no user is signed in.
    public nonisolated func newDownloadFile() -> URL? {
        guard let session = (try? device.store.session()) ?? nil else { return nil }
        return try? device.cache.newDownload(for: session.id, now: device.clock.now)
    }

    /// Takes in what the system has downloaded, if it matches the server's description. The file is gone afterwards in any case.
    public func takeDownload(_ file: URL, of id: RichID) throws(RichPushError) {
        defer { try? FileAccess.remove(file) }
        guard let session = activeSession else { throw .notSignedIn }
        let entry = try storing { () throws(StorageError) in try records.entry(id, of: session.id) }
        guard let descriptor = entry?.content else { throw .notFound }
        try ContentCheck.admit(descriptor, maximumBytes: configuration.limits.maximumContentBytes)
        let content = try adopt(file, descriptor, of: id, in: session)
        device.log.record(DeviceEvent(.fetched, id, ["bytes": "\(content.byteCount)", "variant": "background"]))
        note(.fetched, of: id, in: session)
        startFlush()
    }

    private func adopt(
        _ file: URL, _ descriptor: ContentDescriptor, of id: RichID, in session: Session
    ) throws(RichPushError) -> CachedContent {
        let stored = try storing { () throws(StorageError) in try records.stored(id, of: session.id) }
        if let stored, stored.kind == .sealed { return try fetcher.adoptDownloaded(file, of: stored, in: session) }
        try ContentCheck.verify(file, against: descriptor)
        let key = ContentKey(id, sha256: descriptor.sha256, of: session.id)
        let now = device.clock.now
        return try storing { () throws(StorageError) in
            try device.cache.adopt(file, as: key, descriptor: descriptor, now: now)
        }
    }

    /// Which of the entries of an inbox can be opened without a network; for a list, at once and not one by one.
    public func downloaded(among entries: [InboxEntry]) -> Set<RichID> {
        guard let session = activeSession else { return [] }
        return Set(
            entries.filter { entry in
                guard entry.kind != .sealed else { return false }
                guard let content = entry.content else { return true }
                return device.cache.contains(ContentKey(entry.id, sha256: content.sha256, of: session.id))
            }.map(\.id))
    }

    /// What is on the device of a notification, for a list with thumbnails: the small variant, which the service extension
    /// fetches, else the content itself. Asks no server and reports nothing: looking at a list is not opening.
    public func downloadedContent(of id: RichID) -> CachedContent? {
        guard let session = activeSession, let entry = try? records.entry(id, of: session.id), entry.kind != .sealed else {
            return nil
        }
        for descriptor in [entry.thumb, entry.content] {
            guard let descriptor else { continue }
            if let content = fetcher.cached(descriptor, of: id, in: session) { return content }
        }
        return nil
    }
}

/// A notification that the system is about to show while the app is in the foreground.
public struct ForegroundNotification: Hashable, Sendable, Codable {
    public var identifier: String
    /// The rich notification behind it, if any.
    public var richID: RichID?
    /// The user that the push behind it is for, if it says so.
    public var subject: SubjectMark?
    public var content: NotificationContent

    /// Describes a notification.
    public init(identifier: String, richID: RichID?, subject: SubjectMark? = nil, content: NotificationContent) {
        self.identifier = identifier
        self.richID = richID
        self.subject = subject
        self.content = content
    }
}

/// The answer to the system about a background push, given once. Late or wrong answers cost future launches.
public enum BackgroundResult: String, Sendable, Codable, CaseIterable {
    /// Something new is on the device.
    case newData
    /// There was nothing for this user.
    case noData
    /// It should have worked and did not.
    case failed
}
