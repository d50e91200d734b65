import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension RichPushEngine {
    /// How many entries one call asks for at most.
    private static var pageSize: Int { 100 }

    /// The inbox as this device knows it, without a network.
    public func inbox() throws(RichPushError) -> Inbox {
        load()
        guard let session else { throw .notSignedIn }
        return try storing { () throws(StorageError) in try inbox(of: session) }
    }

    func inbox(of session: Session) throws(StorageError) -> Inbox {
        let synchronised = try records.synchronised(of: session.id)
        let read = try outbox.reads(of: session, now: device.clock.now).union(records.readHere(of: session.id))
        var inbox = synchronised.merged(with: try records.arrived(of: session.id), read: read)
        inbox.entries = inbox.entries.map { records.readable($0, of: session.id) }
        return inbox
    }

    /// Sends the server what happened here, then reads the inbox from it, which is authoritative: nothing is lost when only the newest
    /// push arrived. To be called whenever the app comes to the foreground.
    ///
    /// One refresh runs at a time: the order of two answers would be unknown, and the older one lacks what has arrived since. A call
    /// during a refresh shares the next one, so the answer is never older than the call.
    @discardableResult
    public func refresh() async throws(RichPushError) -> Inbox {
        if waitingResponses.isEmpty { startRevocation() } else { await didUnlock() }
        startWantedSignIn()
        return try await sharedRefresh().value.get()
    }

    private func sharedRefresh() -> Task<Result<Inbox, RichPushError>, Never> {
        guard let running = refreshing else {
            let task = Task { await refreshOnce() }
            refreshing = task
            return task
        }
        if let nextRefresh { return nextRefresh }
        let task = Task {
            _ = await running.value
            return await refreshOnce()
        }
        nextRefresh = task
        return task
    }

    private func refreshOnce() async -> Result<Inbox, RichPushError> {
        guard !Task.isCancelled else { return .failure(.notSignedIn) }
        let result: Result<Inbox, RichPushError>
        do throws(RichPushError) { result = .success(try await readAndKeepInbox()) } catch { result = .failure(error) }
        // A sign-out cancels this refresh, and a refresh after the sign-out must not wait for it.
        guard !Task.isCancelled else { return .failure(.notSignedIn) }
        refreshing = nextRefresh
        nextRefresh = nil
        return result
    }

    private func readAndKeepInbox() async throws(RichPushError) -> Inbox {
        await reviveSession()
        guard let session = activeSession else { throw self.session == nil ? .notSignedIn : .credentialRejected }
        if token == nil { await app.push.registerForPush() }
        startRegistration()
        startActivityReport()
        let deadline = Deadline(device.clock, after: configuration.limits.callDeadline)
        // A server that takes no receipts may still have an inbox.
        await flush(within: deadline.capped(at: configuration.limits.receiptDeadline))
        let (delivered, known) = try storing { () throws(StorageError) in
            (try deliveredReads(in: session), Set(try records.arrived(of: session.id).map(\.id)))
        }
        let (inbox, isComplete) = try await readInbox(in: session, within: deadline)
        guard isCurrent(session) else { throw .notSignedIn }
        let gone = try storing { () throws(StorageError) in
            let gone = try records.synchronise(inbox, isComplete: isComplete, known: known, of: session.id)
            try records.confirmRead(by: inbox.entries, delivered: delivered, of: session.id)
            return gone
        }
        await remove(gone, in: session)
        await updateBadge(in: session)
        await openSealed(inbox.entries, in: session, within: deadline)
        return try self.inbox()
    }

    /// Notifications that were read here and whose read marks have left the outbox: a list requested from now on includes them.
    private func deliveredReads(in session: Session) throws(StorageError) -> Set<RichID> {
        try records.readHere(of: session.id).subtracting(outbox.reads(of: session, now: device.clock.now))
    }

    /// Notes that the user has read it, for the server and for the list on this device.
    func noteRead(_ id: RichID, in session: Session) throws(StorageError) {
        try outbox.addRead(id, at: device.clock.now, of: session)
        try records.markRead(id, of: session.id)
    }

    private func readInbox(
        in session: Session, within deadline: Deadline
    ) async throws(RichPushError) -> (Inbox, isComplete: Bool) {
        var inbox = Inbox()
        var next: String?
        repeat {
            let room = configuration.limits.inboxCount - inbox.entries.count
            let query = "limit=\(max(1, min(Self.pageSize, room)))" + (next.map { "&before=" + Self.escaped($0) } ?? "")
            let page = try await authorized(in: session, within: deadline) { authorization throws(RichPushError) in
                try await self.client.value(
                    InboxPage.self, of: .get(APIRoute.notifications, query: query), as: authorization, within: deadline)
            }
            inbox.entries += page.notifications
            inbox.unread = page.unread
            next = page.notifications.isEmpty ? nil : page.next
        } while next != nil && inbox.entries.count < configuration.limits.inboxCount
        return (inbox, next == nil)
    }

    /// Removes from the phone what the server recalled or no longer keeps.
    private func remove(_ gone: [InboxEntry], in session: Session) async {
        guard !gone.isEmpty else { return }
        let ids = Set(gone.map(\.id))
        for entry in gone {
            let opened = records.readable(entry, of: session.id)
            for descriptor in [entry.content, entry.thumb, opened.content, opened.thumb] {
                guard let descriptor else { continue }
                try? device.cache.remove(ContentKey(entry.id, sha256: descriptor.sha256, of: session.id))
            }
            try? records.forgetText(entry.id, of: session.id)
        }
        // A card may show one of them.
        missingPictures.formUnion(ids)
        startActivityReport()
        let shown = await app.notifications.delivered().filter { notification in notification.richID.map(ids.contains) ?? false }
        await app.notifications.removeDelivered(shown.map(\.identifier))
    }

    /// The server answered that this one is gone: removes everything of it here.
    func drop(_ id: RichID, in session: Session) async {
        let entry = try? records.stored(id, of: session.id)
        try? records.recall(id, of: session.id)
        await remove([entry ?? InboxEntry(id: id, kind: .file, message: "", sentAt: device.clock.now)], in: session)
        await updateBadge(in: session)
    }

    /// Marks a notification as read without opening it.
    public func markRead(_ id: RichID) async throws(RichPushError) {
        guard let session = activeSession else { throw .notSignedIn }
        try storing { () throws(StorageError) in try noteRead(id, in: session) }
        await updateBadge(in: session)
        await flush(within: Deadline(device.clock, after: configuration.limits.callDeadline))
    }

    /// Percent-encodes everything but unreserved characters (RFC 3986 2.3), for a query or a header.
    static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                String(UnicodeScalar(byte))
            default: "%" + DigestText.text([byte]).uppercased()
            }
        }.joined()
    }

    /// The user responded to a notification, perhaps one that started the app.
    public func didRespond(_ response: NotificationResponse) async {
        guard let session = activeSession else {
            guard isLoaded || isStopped else { return await keepForUnlock(response) }
            device.log.record(DeviceEvent(.ignored, response.richID, ["reason": "not-signed-in"]))
            // After a tap in a session that the server ended, the app shows why there is no content; a reply opens no screen.
            guard let session, session.isRejected else { return }
            switch response.action {
            case .dismiss: break
            case .reply: await notifyFailedReply(to: response.richID, in: session)
            case .open, .button: await app.router.show(await open(response.richID))
            }
            return
        }
        switch response.action {
        case .dismiss:
            note(.dismissed, of: response.richID, in: session)
            device.log.record(DeviceEvent(.dismissed, response.richID))
            startFlush()
        case .button(let action):
            note(.action, action: action, of: response.richID, in: session)
            await show(response.richID)
        case .reply(let text):
            await reply(text, to: response.richID, of: response.kind, in: session)
        case .open:
            await show(response.richID)
        }
    }

    /// The user answered OK / More.
    public func didAnswerOffer(of id: RichID, more: Bool) async {
        guard more, let session = activeSession else { return }
        note(.action, action: PushEnvelope.moreAction, of: id, in: session)
        await show(id)
    }

    /// Opens a content on the app's screen: first as loading, if it is not on the device, then with the result.
    public func show(_ id: RichID) async {
        if let session = activeSession, await isDownloaded(id) == false {
            let known = try? records.entry(id, of: session.id)
            let loading = known.map { OpenedContent(entry: $0, state: .loading) } ?? OpenedContent(richID: id, state: .loading)
            await app.router.show(loading)
        }
        await app.router.show(await open(id))
    }

    /// A content from the device, else from the server, else the reason why it is not available: never nothing.
    public func open(_ id: RichID) async -> OpenedContent {
        guard let session = activeSession else {
            return OpenedContent(richID: id, state: .failed(self.session == nil ? .notSignedIn : .credentialRejected))
        }
        let deadline = Deadline(device.clock, after: configuration.limits.openDeadline)
        let wasKnown = ((try? records.entry(id, of: session.id)) ?? nil) != nil
        var opened = await load(id, in: session, within: deadline)
        guard isCurrent(session) else { return OpenedContent(richID: id, state: .failed(.notSignedIn)) }
        if opened.state == .failed(.notFound) {
            if wasKnown { opened.state = .failed(.recalled) }
            await drop(id, in: session)
            startFlush()
        } else {
            await noteOpened(id, in: session)
        }
        return opened
    }

    private func noteOpened(_ id: RichID, in session: Session) async {
        note(.opened, of: id, in: session)
        device.log.record(DeviceEvent(.opened, id))
        // Without text and content the user has read nothing: it stays unread, on the server and in the notification centre.
        guard (try? records.entry(id, of: session.id)) != nil else { return startFlush() }
        try? noteRead(id, in: session)
        let shown = await app.notifications.delivered().filter { $0.richID == id }.map(\.identifier)
        await app.notifications.removeDelivered(shown)
        await updateBadge(in: session)
        startFlush()
    }

    private func load(_ id: RichID, in session: Session, within deadline: Deadline) async -> OpenedContent {
        let entry: InboxEntry
        do throws(RichPushError) {
            entry = try await details(of: id, in: session, within: deadline)
        } catch {
            return OpenedContent(richID: id, state: Self.state(after: error))
        }
        guard let descriptor = entry.content else { return ready(entry, in: session) }
        switch await fetch(descriptor, of: id, variant: .original, in: session, within: deadline) {
        case .success(let content): return ready(entry, content, in: session)
        case .failure(let error): return OpenedContent(entry: entry, state: Self.state(after: error))
        }
    }

    func details(
        of id: RichID, in session: Session, within deadline: Deadline
    ) async throws(RichPushError) -> InboxEntry {
        let known = try? records.entry(id, of: session.id)
        if let known, known.kind != .sealed { return known }
        return try await authorized(in: session, within: deadline) { authorization throws(RichPushError) in
            try await self.fetcher.details(of: id, in: session, as: authorization, within: deadline)
        }
    }

    private static func state(after error: RichPushError) -> OpenedContent.State {
        error.isTransient ? .missing(error) : .failed(error)
    }

    /// A content that is only text, or that came sealed with its text.
    private func ready(_ entry: InboxEntry, in session: Session) -> OpenedContent {
        var opened = OpenedContent(entry: entry, state: .ready)
        guard let text = try? records.text(entry.id, of: session.id) else { return opened }
        opened.isSealed = true
        opened.link = text.link.flatMap { LinkRule.link(inList: $0, by: configuration) }
        opened.coupon = text.coupon
        let isWhole =
            switch entry.kind {
            case .link: opened.link != nil
            case .coupon: opened.coupon != nil
            default: entry.kind == .text
            }
        if !isWhole { opened.state = .failed(.badAnswer) }
        return opened
    }

    /// Reads the small contents that are not media.
    private func ready(_ entry: InboxEntry, _ content: CachedContent, in session: Session) -> OpenedContent {
        var opened = OpenedContent(entry: entry, state: .ready)
        opened.content = content
        opened.isSealed = ((try? records.text(entry.id, of: session.id)) ?? nil) != nil
        guard entry.kind == .link || entry.kind == .coupon else {
            // Without a name it can still be shown.
            let named = try? device.cache.handedOut(content, named: entry.content?.fileName, of: session.id)
            opened.content = named ?? content
            return opened
        }
        guard content.byteCount <= 64 << 10, let data = try? Data(contentsOf: content.file) else {
            opened.state = .failed(.badAnswer)
            return opened
        }
        if entry.kind == .coupon {
            opened.coupon = try? JSONDecoder().decode(Coupon.self, from: data)
        } else {
            opened.link = LinkRule.link(inList: String(decoding: data, as: UTF8.self), by: configuration)
        }
        if opened.coupon == nil, opened.link == nil { opened.state = .failed(.badAnswer) }
        return opened
    }

    /// Whether everything needed to open it is on the device.
    public func isDownloaded(_ id: RichID) async -> Bool {
        guard let session = activeSession, let entry = try? records.entry(id, of: session.id), entry.kind != .sealed else {
            return false
        }
        guard let content = entry.content else { return true }
        return device.cache.contains(ContentKey(id, sha256: content.sha256, of: session.id))
    }
}
