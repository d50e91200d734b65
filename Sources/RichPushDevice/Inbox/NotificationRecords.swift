import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the device keeps of notifications, in the records that app and extension share.
struct NotificationRecords: Sendable {
    let store: any SharedStore
    let limits: DeviceLimits
    /// What is shown in place of words that cannot be read.
    var neutralText = RichPushConfiguration.englishNeutralText

    /// What is known of a notification, from a push or from the inbox, as its reader may see it.
    func entry(_ id: RichID, of session: SessionID) throws(StorageError) -> InboxEntry? {
        try stored(id, of: session).map { readable($0, of: session) }
    }

    /// As above, as the server told it.
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

    /// Forgets a notification that the server no longer has, in the list that it told before too.
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

    /// The inbox as the server last told it.
    func synchronised(of session: SessionID) throws(StorageError) -> Inbox {
        try read(Inbox.self, RecordKey(.state, "inbox", of: session)) ?? Inbox()
    }

    /// Keeps what the server told. What `known` names had arrived by push before the server was asked: if the list does not have
    /// it, it was recalled. What arrived since stays, since the list may be too old for it. `isComplete` says that nothing older
    /// was left out. Returns what is gone.
    func synchronise(
        _ inbox: Inbox, isComplete: Bool, known: Set<RichID>, of session: SessionID
    ) throws(StorageError) -> [InboxEntry] {
        let before = try synchronised(of: session)
        try write(inbox, RecordKey(.state, "inbox", of: session))
        let listed = Set(inbox.entries.map(\.id))
        let oldest = inbox.entries.map(\.id).min()
        // What is older than a list that was cut short only fell off its end: its words go, and what is shown of it stays.
        let isGone = { (entry: InboxEntry) in isComplete || oldest.map { entry.id > $0 } == true }
        var gone: [InboxEntry] = []
        for entry in before.entries where !listed.contains(entry.id) {
            try store.removeRecord(RecordKey(.shown, "\(entry.id)", of: session))
            if isGone(entry) { gone.append(entry) } else { try forgetWords(entry.id, of: session) }
        }
        for entry in try arrived(of: session) {
            if listed.contains(entry.id) {
                try store.removeRecord(RecordKey(.details, "\(entry.id)", of: session))
            } else if known.contains(entry.id) {
                try forget(entry.id, of: session)
                if isGone(entry) { gone.append(entry) } else { try forgetWords(entry.id, of: session) }
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
}
