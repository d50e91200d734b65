import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What waits to be told to the server. Written first and sent then, so that a process that ends in between loses nothing.
struct Outbox: Sendable {
    let store: any SharedStore
    let limits: DeviceLimits

    /// Notes a receipt; its id is a hash of installation, notification, kind and action (Reference/IOSClient.md#8).
    func add(_ receipt: Receipt, of session: Session) throws(StorageError) {
        let parts = [session.installation.text, "\(receipt.richID)", receipt.kind.rawValue, receipt.action ?? ""]
        try add(.receipt(receipt), id: DigestText.digest(parts.joined(separator: "\n")), at: receipt.at, of: session)
    }

    /// Notes that the user opened a notification.
    func addRead(_ id: RichID, at moment: Timestamp, of session: Session) throws(StorageError) {
        try add(.read(id), id: "read \(id)", at: moment, of: session)
    }

    /// Notes what the user answered.
    func addReply(_ reply: Reply, to id: RichID, at moment: Timestamp, of session: Session) throws(StorageError) {
        try add(.reply(id, reply), id: "reply \(reply.id)", at: moment, of: session)
    }

    private func add(
        _ work: OutboxItem.Work, id: String, at moment: Timestamp, of session: Session
    ) throws(StorageError) {
        guard let data = try? JSONEncoder().encode(OutboxItem(id: id, createdAt: moment, work: work)) else { throw .failed }
        try store.setRecord(data, for: RecordKey(.outbox, id, of: session.id))
    }

    /// What waits, oldest first. What is too old or too much is dropped on the way; but an answer that is too old is handed out
    /// once more, because its user is told.
    func items(of session: Session, now: Timestamp) throws(StorageError) -> [OutboxItem] {
        let all = try store.records(.outbox, of: session.id, limit: limits.outboxCount * 4)
            .compactMap { try? JSONDecoder().decode(OutboxItem.self, from: $0) }
            .sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
        // What a person wrote is not dropped for what machines noted: receipts and read marks share the rest of the room, of which
        // half is theirs however much somebody writes.
        let replies = all.count { $0.reply != nil }
        let room = max(limits.outboxCount / 2, limits.outboxCount - replies)
        let noted = all.filter { $0.reply == nil && !isOld($0, now: now) }.suffix(room)
        let kept = Set(noted.map(\.id))
        let (staying, going) = (all.filter { $0.reply != nil || kept.contains($0.id) }, all.filter { $0.reply == nil })
        for item in going where !kept.contains(item.id) { try remove(item, of: session) }
        return staying
    }

    func isOld(_ item: OutboxItem, now: Timestamp) -> Bool { now - item.createdAt >= limits.outboxAge }

    func remove(_ item: OutboxItem, of session: Session) throws(StorageError) {
        try store.removeRecord(RecordKey(.outbox, item.id, of: session.id))
    }

    /// The notifications that were read here and not yet told.
    func reads(of session: Session, now: Timestamp) throws(StorageError) -> Set<RichID> {
        Set(
            try items(of: session, now: now).compactMap { item in
                if case .read(let id) = item.work { id } else { nil }
            })
    }
}
