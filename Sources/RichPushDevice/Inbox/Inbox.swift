import RichPushModel

/// The notifications that this device knows of, newest first.
public struct Inbox: Hashable, Sendable, Codable {
    public var entries: [InboxEntry]
    /// What the server last counted, corrected by what happened here since.
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
