import RichPushModel
import RichPushSealing

/// What sealed notifications say. Of these the server's records say nothing; the words lie beside them, once opened.
extension NotificationRecords {
    private func key(_ id: RichID, of session: SessionID) -> RecordKey { RecordKey(.state, "words \(id)", of: session) }

    /// What was inside; nothing before it was opened.
    func words(_ id: RichID, of session: SessionID) throws(StorageError) -> SealedWords? {
        try read(SealedWords.self, key(id, of: session))
    }

    func keep(_ words: SealedWords, of id: RichID, of session: SessionID) throws(StorageError) {
        try write(words, key(id, of: session))
    }

    func forgetWords(_ id: RichID, of session: SessionID) throws(StorageError) {
        try store.removeRecord(key(id, of: session))
    }

    /// The notification as its reader may see it: opened, or with the neutral words. What a server says beside a seal is not
    /// what was sealed, so it is never shown.
    func readable(_ entry: InboxEntry, of session: SessionID) -> InboxEntry {
        guard entry.kind == .sealed else { return entry }
        return (try? words(entry.id, of: session)).map(entry.opened) ?? entry.closed(neutralText)
    }
}

extension InboxEntry {
    /// With what was inside.
    func opened(_ words: SealedWords) -> InboxEntry {
        var entry = self
        entry.kind = words.kind
        entry.title = words.title
        entry.subtitle = words.subtitle
        entry.message = words.message
        entry.altText = words.altText
        entry.content = words.content
        entry.thumb = words.thumb
        return entry
    }

    /// With nothing but neutral words.
    func closed(_ neutralText: String) -> InboxEntry {
        opened(SealedWords(kind: .sealed, message: neutralText))
    }
}
