import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension RichPushEngine {
    /// The user did something with a notification, perhaps one that started the app.
    public func didRespond(_ response: NoticeResponse) async {
        guard let session = activeSession else {
            guard isLoaded || isStopped else { return await keepForUnlock(response) }
            device.log.record(DeviceEvent(.ignored, response.richID, ["reason": "not-signed-in"]))
            // Whoever taps in a session that the server ended learns why there is nothing to see; who answers looks elsewhere.
            guard let session, session.isRejected else { return }
            switch response.action {
            case .dismiss: break
            case .reply: await tellFailedReply(to: response.richID, in: session)
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

    /// Opens a content on the app's screen: first as loading, if it is not on the device, then as it ends.
    public func show(_ id: RichID) async {
        if let session = activeSession, await isDownloaded(id) == false {
            let known = try? records.entry(id, of: session.id)
            let loading = known.map { OpenedContent(entry: $0, state: .loading) } ?? OpenedContent(richID: id, state: .loading)
            await app.router.show(loading)
        }
        await app.router.show(await open(id))
    }

    /// A content from the device, else from the server, else the reason why it is not there: never nothing.
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
        // Who saw neither words nor content has read nothing: it stays unread, on the server and in the notification centre.
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

    /// A content that is its words, or that came sealed with its words.
    private func ready(_ entry: InboxEntry, in session: Session) -> OpenedContent {
        var opened = OpenedContent(entry: entry, state: .ready)
        guard let words = try? records.words(entry.id, of: session.id) else { return opened }
        opened.isSealed = true
        opened.link = words.link.flatMap { LinkRule.link(inList: $0, by: configuration) }
        opened.coupon = words.coupon
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
        opened.isSealed = ((try? records.words(entry.id, of: session.id)) ?? nil) != nil
        guard entry.kind == .link || entry.kind == .coupon else {
            // Without a name it can still be looked at.
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
