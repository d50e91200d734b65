import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The notification centre, newest first: a later notification with the same identifier replaces the earlier one.
struct NoticeList: Hashable, Sendable {
    /// More than a person scrolls through; the oldest goes.
    static let limit = 100

    struct Entry: Hashable, Sendable {
        var notice: PhoneSnapshot.Notice
        var category: String?
        /// What the push, or the app, said that it carries.
        var kind: ContentKind?
        /// The system's own copy of the attachment.
        var file: URL?
    }

    private(set) var entries: [Entry]

    /// Creates a list; the newest of `entries` comes first.
    init(_ entries: [Entry] = []) { self.entries = Array(entries.prefix(Self.limit)) }

    subscript(id: String) -> Entry? { entries.first { $0.notice.id == id } }

    /// Adds an entry and returns those that had to go for it.
    mutating func add(_ entry: Entry) -> [Entry] {
        var gone = entries.filter { $0.notice.id == entry.notice.id }
        entries.removeAll { $0.notice.id == entry.notice.id }
        entries.insert(entry, at: 0)
        while entries.count > Self.limit { gone.append(entries.removeLast()) }
        return gone
    }

    /// Removes entries and returns them.
    mutating func remove(_ ids: Set<String>) -> [Entry] {
        let gone = entries.filter { ids.contains($0.notice.id) }
        entries.removeAll { ids.contains($0.notice.id) }
        return gone
    }

    mutating func removeAll() -> [Entry] {
        defer { entries = [] }
        return entries
    }
}
