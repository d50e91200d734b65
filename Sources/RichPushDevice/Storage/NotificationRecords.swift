import RichPushModel
import RichPushSealing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the device keeps of notifications, in the records that app and extension share.
struct NotificationRecords: Sendable {
    let store: any SharedStore
    let limits: DeviceLimits
    /// What is shown in place of text that cannot be read.
    var neutralText = RichPushConfiguration.englishNeutralText

    /// What is known of a notification, from a push or from the inbox, as its reader may see it.
    func entry(_ id: RichID, of session: SessionID) throws(StorageError) -> InboxEntry? {
        try stored(id, of: session).map { readable($0, of: session) }
    }

    /// The notification as the server described it.
    func stored(_ id: RichID, of session: SessionID) throws(StorageError) -> InboxEntry? {
        if let entry = try read(InboxEntry.self, RecordKey(.details, "\(id)", of: session)) { return entry }
        return try synchronised(of: session).entries.first { $0.id == id }
    }

    func keep(_ entry: InboxEntry, of session: SessionID) throws(StorageError) {
        try write(entry, RecordKey(.details, "\(entry.id)", of: session))
        try pruneDetails(of: session)
    }

    func forget(_ id: RichID, of session: SessionID) throws(StorageError) {
        try store.removeRecord(RecordKey(.details, "\(id)", of: session))
        try store.removeRecord(RecordKey(.shown, "\(id)", of: session))
    }

    /// Forgets a notification that the server no longer has, also in the stored list.
    func recall(_ id: RichID, of session: SessionID) throws(StorageError) {
        try forget(id, of: session)
        var inbox = try synchronised(of: session)
        guard let index = inbox.entries.firstIndex(where: { $0.id == id }) else { return }
        if !inbox.entries.remove(at: index).read { inbox.unread = max(0, inbox.unread - 1) }
        try write(inbox, RecordKey(.state, "inbox", of: session))
    }

    func wasShown(_ id: RichID, of session: SessionID) throws(StorageError) -> Bool {
        try store.record(RecordKey(.shown, "\(id)", of: session)) != nil
    }

    func markShown(_ id: RichID, of session: SessionID) throws(StorageError) {
        try write(id, RecordKey(.shown, "\(id)", of: session))
        try pruneShown(of: session)
    }

    /// The inbox as the server last returned it.
    func synchronised(of session: SessionID) throws(StorageError) -> Inbox {
        try read(Inbox.self, RecordKey(.state, "inbox", of: session)) ?? Inbox()
    }

    /// Stores the server's list. Entries in `known` had arrived by push before the request: if the list lacks one, it was recalled.
    /// What arrived since stays, since the list may be older. `isComplete` says that the list was not cut short. Returns what is gone.
    func synchronise(
        _ inbox: Inbox, isComplete: Bool, known: Set<RichID>, of session: SessionID
    ) throws(StorageError) -> [InboxEntry] {
        let before = try synchronised(of: session)
        try write(inbox, RecordKey(.state, "inbox", of: session))
        let listed = Set(inbox.entries.map(\.id))
        let oldest = inbox.entries.map(\.id).min()
        // An entry older than a list that was cut short only dropped off its end: its text goes, and what is shown of it stays.
        let isGone = { (entry: InboxEntry) in isComplete || oldest.map { entry.id > $0 } == true }
        var gone: [InboxEntry] = []
        for entry in before.entries where !listed.contains(entry.id) {
            try store.removeRecord(RecordKey(.shown, "\(entry.id)", of: session))
            if isGone(entry) { gone.append(entry) } else { try forgetText(entry.id, of: session) }
        }
        for entry in try arrived(of: session) {
            if listed.contains(entry.id) {
                try store.removeRecord(RecordKey(.details, "\(entry.id)", of: session))
            } else if known.contains(entry.id) {
                try forget(entry.id, of: session)
                if isGone(entry) { gone.append(entry) } else { try forgetText(entry.id, of: session) }
            }
        }
        try pruneShown(of: session)
        return gone
    }

    /// What arrived by push and is not in the synchronised inbox yet.
    func arrived(of session: SessionID) throws(StorageError) -> [InboxEntry] {
        try store.records(.details, of: session, limit: limits.inboxCount * 4)
            .compactMap { try? JSONDecoder().decode(InboxEntry.self, from: $0) }
    }

    func read<Value: Decodable>(_ type: Value.Type, _ key: RecordKey) throws(StorageError) -> Value? {
        try store.record(key).flatMap { try? JSONDecoder().decode(type, from: $0) }
    }

    func write(_ value: some Encodable, _ key: RecordKey) throws(StorageError) {
        guard let data = try? JSONEncoder().encode(value) else { throw .failed }
        try store.setRecord(data, for: key)
    }

    // MARK: Keeps the records of a phone bounded when pushes arrive for months and the app is never opened

    /// Keeps the marks of the newest notifications. An older push that arrives again after so many others is shown again.
    func pruneShown(of session: SessionID) throws(StorageError) {
        let ids = try store.records(.shown, of: session, limit: limits.inboxCount * 4)
            .compactMap { try? JSONDecoder().decode(RichID.self, from: $0) }
        for id in surplus(ids) { try store.removeRecord(RecordKey(.shown, "\(id)", of: session)) }
    }

    /// Keeps what is known of the newest notifications. The server still has the others.
    func pruneDetails(of session: SessionID) throws(StorageError) {
        for id in surplus(try arrived(of: session).map(\.id)) {
            try store.removeRecord(RecordKey(.details, "\(id)", of: session))
            try forgetText(id, of: session)
        }
    }

    private func surplus(_ ids: [RichID]) -> ArraySlice<RichID> { ids.sorted(by: >).dropFirst(limits.inboxCount) }

    // MARK: What was read on this device, from the moment it was opened until the server's list says so.
    //
    // The outbox removes a read mark when the server has accepted it. The list on the device is older than that, so this record outlives
    // the outbox's. Only the app writes it.

    private func key(of session: SessionID) -> RecordKey { RecordKey(.state, "read", of: session) }

    /// What was read here and may be missing from the synchronised inbox.
    func readHere(of session: SessionID) throws(StorageError) -> Set<RichID> {
        Set(try read([RichID].self, key(of: session)) ?? [])
    }

    func markRead(_ id: RichID, of session: SessionID) throws(StorageError) {
        var ids = try readHere(of: session)
        guard ids.insert(id).inserted else { return }
        try write(ids.sorted(), key(of: session))
    }

    /// Forgets what the server's list has confirmed: what it lists as read, and what the server had accepted before the list was
    /// requested. The list is too old to confirm what was read since.
    func confirmRead(by list: [InboxEntry], delivered: Set<RichID>, of session: SessionID) throws(StorageError) {
        let ids = try readHere(of: session)
        let left = ids.subtracting(delivered).subtracting(list.filter(\.read).map(\.id))
        guard left.count < ids.count else { return }
        try write(left.sorted(), key(of: session))
    }

    // MARK: The text of sealed notifications. The server's records do not have it; it is stored beside them, once opened.

    private func key(_ id: RichID, of session: SessionID) -> RecordKey { RecordKey(.state, "words \(id)", of: session) }

    /// The opened text; `nil` before it was opened.
    func text(_ id: RichID, of session: SessionID) throws(StorageError) -> SealedText? {
        try read(SealedText.self, key(id, of: session))
    }

    func keep(_ text: SealedText, of id: RichID, of session: SessionID) throws(StorageError) {
        try write(text, key(id, of: session))
    }

    func forgetText(_ id: RichID, of session: SessionID) throws(StorageError) {
        try store.removeRecord(key(id, of: session))
    }

    /// The notification as its reader may see it: opened, or with the neutral text. The server's text beside a seal was not sealed, so
    /// it is never shown.
    func readable(_ entry: InboxEntry, of session: SessionID) -> InboxEntry {
        guard entry.kind == .sealed else { return entry }
        return (try? text(entry.id, of: session)).map(entry.opened) ?? entry.closed(neutralText)
    }
}

extension InboxEntry {
    /// With the opened text.
    func opened(_ text: SealedText) -> InboxEntry {
        var entry = self
        entry.kind = text.kind
        entry.title = text.title
        entry.subtitle = text.subtitle
        entry.message = text.message
        entry.altText = text.altText
        entry.content = text.content
        entry.thumb = text.thumb
        return entry
    }

    /// With nothing but neutral text.
    func closed(_ neutralText: String) -> InboxEntry {
        opened(SealedText(kind: .sealed, message: neutralText))
    }
}

/// The notifications that this device knows of, newest first.
public struct Inbox: Hashable, Sendable, Codable {
    public var entries: [InboxEntry]
    /// The server's last count, corrected by what happened here since.
    public var unread: Int

    /// Creates an inbox.
    public init(entries: [InboxEntry] = [], unread: Int = 0) {
        self.entries = entries
        self.unread = unread
    }

    /// Adds what arrived by push since the last synchronisation, and marks what was read here. Computed and never stored, so
    /// that app and extension need not agree on who writes a counter.
    func merged(with arrived: [InboxEntry], read: Set<RichID>) -> Inbox {
        let known = Set(entries.map(\.id))
        var merged = self
        for entry in arrived where !known.contains(entry.id) {
            merged.entries.append(entry)
            if !entry.read { merged.unread += 1 }
        }
        for index in merged.entries.indices where read.contains(merged.entries[index].id) && !merged.entries[index].read {
            merged.entries[index].read = true
            merged.unread = max(0, merged.unread - 1)
        }
        merged.entries.sort { ($0.sentAt, $0.id) > ($1.sentAt, $1.id) }
        return merged
    }
}
