import RichPushModel
import ServiceErrors

extension RichPushBackend {
    /// A page of what the caller may read, newest first.
    ///
    /// `before` continues towards older ones (`InboxPage.next`); `since` (the id of the newest one the phone has) stops there, so
    /// that nothing is lost when Apple keeps only the newest push. `limit` is clamped to 1 … 100, default 50.
    /// Throws `invalid-field` for a malformed cursor.
    public func inbox(
        before: String? = nil, since: String? = nil, limit: Int? = nil, for principal: Principal
    ) async throws -> InboxPage {
        let reader = InboxReader(parts: parts, principal: principal, now: parts.clock.now)
        return try await reader.page(
            before: try Self.cursor(before, "before"), since: try Self.cursor(since, "since"),
            limit: min(max(limit ?? 50, 1), 100))
    }

    /// One entry of the inbox.
    public func details(of id: RichID, for principal: Principal) async throws -> InboxEntry {
        let (notification, relation) = try await readable(id, for: principal)
        let isRead = try await parts.stores.readMarks.readMarks(among: [id], of: principal.userID).contains(id)
        return notification.entry(read: isRead || relation == .sender)
    }

    /// Marks an entry read or unread, for this user on all devices.
    public func setRead(_ read: Bool, of id: RichID, for principal: Principal) async throws {
        _ = try await readable(id, for: principal)
        try await parts.stores.readMarks.setRead(read, of: id, for: principal.userID, at: parts.clock.now)
    }

    /// Reads a cursor. Throws `invalid-field` with the name of the parameter.
    static func cursor(_ text: String?, _ name: String) throws -> RichID? {
        guard let text else { return nil }
        guard let id = RichID(text) else {
            throw ServiceError(.invalidField, "\(name): a cursor is the number of a notification")
        }
        return id
    }
}

extension RichNotification {
    /// What a receiver sees of it.
    func entry(read: Bool) -> InboxEntry {
        InboxEntry(
            id: id, kind: kind, title: words.title, subtitle: words.subtitle, message: words.message, altText: words.altText,
            sender: senderName.text, sentAt: dueAt, expiresAt: expiresAt, read: read, content: content?.descriptor,
            thumb: content(.thumb)?.descriptor)
    }
}
