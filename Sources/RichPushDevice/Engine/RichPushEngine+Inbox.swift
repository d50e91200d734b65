import RichPushModel

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

    /// Tells the server what happened here, then reads the inbox from it, which is the truth: nothing is lost when only the
    /// newest push came through. To be called whenever the app comes to the foreground.
    ///
    /// One call looks at a time: of two answers on their way nobody could tell which is older, and an older one lacks what has
    /// arrived since. Whoever asks while a look is under way shares one that begins after it, so the answer is never older than
    /// the question.
    @discardableResult
    public func refresh() async throws(RichPushError) -> Inbox {
        if waitingResponses.isEmpty { startRevocation() } else { await didUnlock() }
        return try await sharedRefresh().value.get()
    }

    private func sharedRefresh() -> Task<Result<Inbox, RichPushError>, Never> {
        guard let running = refreshing else {
            let task = Task { await look() }
            refreshing = task
            return task
        }
        if let nextRefresh { return nextRefresh }
        let task = Task {
            _ = await running.value
            return await look()
        }
        nextRefresh = task
        return task
    }

    private func look() async -> Result<Inbox, RichPushError> {
        guard !Task.isCancelled else { return .failure(.notSignedIn) }
        let result: Result<Inbox, RichPushError>
        do throws(RichPushError) { result = .success(try await readAndKeepInbox()) } catch { result = .failure(error) }
        // A sign-out cancels it, and whoever looks afterwards is not to wait for it.
        guard !Task.isCancelled else { return .failure(.notSignedIn) }
        refreshing = nextRefresh
        nextRefresh = nil
        return result
    }

    private func readAndKeepInbox() async throws(RichPushError) -> Inbox {
        guard let session = activeSession else { throw self.session == nil ? .notSignedIn : .credentialRejected }
        if token == nil { await app.push.registerForPush() }
        startRegistration()
        let deadline = Deadline(device.clock, after: configuration.limits.callDeadline)
        // A server that takes no receipts may still have an inbox.
        await flush(within: deadline.capped(at: configuration.limits.receiptDeadline))
        let (told, known) = try storing { () throws(StorageError) in
            (try readAndTold(in: session), Set(try records.arrived(of: session.id).map(\.id)))
        }
        let (inbox, isComplete) = try await readInbox(in: session, within: deadline)
        guard isCurrent(session) else { throw .notSignedIn }
        let gone = try storing { () throws(StorageError) in
            let gone = try records.synchronise(inbox, isComplete: isComplete, known: known, of: session.id)
            try records.confirmRead(by: inbox.entries, told: told, of: session.id)
            return gone
        }
        await remove(gone, in: session)
        await updateBadge(in: session)
        await openSealed(inbox.entries, in: session, within: deadline)
        return try self.inbox()
    }

    /// What was read here and no longer waits in the outbox: a list that is asked for from now on knows of it.
    private func readAndTold(in session: Session) throws(StorageError) -> Set<RichID> {
        try records.readHere(of: session.id).subtracting(outbox.reads(of: session, now: device.clock.now))
    }

    /// Writes down that the user has read it: for the server, and for the list on this device.
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

    /// What the server recalled, or no longer keeps, leaves the phone too.
    private func remove(_ gone: [InboxEntry], in session: Session) async {
        guard !gone.isEmpty else { return }
        let ids = Set(gone.map(\.id))
        for entry in gone {
            let opened = records.readable(entry, of: session.id)
            for descriptor in [entry.content, entry.thumb, opened.content, opened.thumb] {
                guard let descriptor else { continue }
                try? device.cache.remove(ContentKey(entry.id, sha256: descriptor.sha256, of: session.id))
            }
            try? records.forgetWords(entry.id, of: session.id)
        }
        let shown = await app.notifications.delivered().filter { notice in notice.richID.map(ids.contains) ?? false }
        await app.notifications.removeDelivered(shown.map(\.identifier))
    }

    /// The server said of this one that it is gone: so is everything of it here.
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
}
