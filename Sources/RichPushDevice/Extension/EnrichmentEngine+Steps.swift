import RichPushModel

extension EnrichmentEngine {
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

    /// Whether a push's own words may be shown before the server has said whose they are. Before the first unlock nothing can be
    /// known, and the system would show them without this extension too.
    func mayShowWords(of envelope: PushEnvelope) -> Bool {
        do throws(StorageError) {
            return try device.store.session()?.mayShowWords(of: envelope.id, marked: envelope.subject) ?? false
        } catch {
            return true
        }
    }

    /// The server does not know it as this user's: recalled, or another's.
    func forgetWords(of key: String) {
        guard let fallback = running[key]?.fallback else { return }
        running[key]?.best = fallback
    }

    /// Takes the name of the notification, so that an app that was woken for the same push leaves the fetch to this process.
    /// Nothing is waited for: the extension fetches in any case, because it is the one who shows.
    func claim(_ id: RichID, in session: Session, within deadline: Deadline) throws(RichPushError) -> HeldClaim? {
        let now = device.clock.now
        return try storing { () throws(StorageError) in
            try device.store.claim(
                RecordKey(.claims, "\(id)", of: session.id), until: now + deadline.remaining + .seconds(5), now: now)
        }
    }

    /// The words of the notification are better than the push's neutral ones.
    func apply(_ entry: InboxEntry, to key: String, in session: Session) {
        guard var best = running[key]?.best, isCurrent(session) else { return }
        if let title = entry.title { best.title = title }
        if let subtitle = entry.subtitle { best.subtitle = subtitle }
        best.body = entry.message
        running[key]?.countsUnread = best.badge == nil
        running[key]?.best = best
    }

    /// Whether the app has not signed out meanwhile: the words of the user before are then nobody's business.
    func isCurrent(_ session: Session) -> Bool { (try? device.store.session())?.id == session.id }

    /// What the icon has to say. `nil` when it cannot be told.
    func unread(in session: Session) -> Int? {
        guard let synchronised = try? records.synchronised(of: session.id),
            let arrived = try? records.arrived(of: session.id),
            let told = try? outbox.reads(of: session, now: device.clock.now),
            let read = try? records.readHere(of: session.id)
        else { return nil }
        return synchronised.merged(with: arrived, read: read.union(told)).unread
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
}
