import RichPushModel
import ServiceErrors

extension RichPushBackend {
    /// A page of what the caller may read, newest first.
    ///
    /// `before` continues towards older ones (`InboxPage.next`); `since` (the id of the newest one the phone has) stops there, so
    /// that nothing is lost when Apple keeps only the newest push. `limit` is clamped to 1 … 100, default 50.
    /// `accepting` is the field `Accept-Language`, which chooses the translation for a caller that is no installation.
    /// Throws `invalid-field` for a malformed cursor.
    public func inbox(
        before: String? = nil, since: String? = nil, limit: Int? = nil, accepting: String? = nil, for principal: Principal
    ) async throws -> InboxPage {
        try principal.require(.readInbox)
        let reader = InboxReader(parts: parts, principal: principal, accepting: accepting, now: parts.clock.now)
        return try await reader.page(
            before: try Self.cursor(before, "before"), since: try Self.cursor(since, "since"),
            limit: min(max(limit ?? 50, 1), 100))
    }

    /// One entry of the inbox. `accepting` is that of `inbox`.
    public func details(of id: RichID, accepting: String? = nil, for principal: Principal) async throws -> InboxEntry {
        let (notification, relation) = try await readable(id, accepting: accepting, for: principal)
        let isRead = try await parts.store.readMarks(among: [id], of: principal.userID).contains(id)
        return notification.entry(read: isRead || relation == .sender)
    }

    /// Marks an entry read or unread, for this user on all devices.
    public func setRead(_ read: Bool, of id: RichID, for principal: Principal) async throws {
        try principal.require(.markRead)
        _ = try await readable(id, for: principal)
        try await parts.store.setRead(read, of: id, for: principal.userID, at: parts.clock.now)
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
        var entry = InboxEntry(
            id: id, kind: kind, title: texts.title, subtitle: texts.subtitle, message: texts.message, altText: texts.altText,
            sender: senderName.text, sentAt: dueAt, expiresAt: expiresAt, read: read, content: content?.descriptor,
            thumb: content(.thumb)?.descriptor)
        entry.language = language?.text
        return entry
    }
}

/// Reads the inbox of one user, what they sent included: finds candidates by the index, then checks each by the access rule.
struct InboxReader {
    /// How many candidates one page looks at before it hands out a cursor instead of going on.
    static let scanLimit = 2000
    /// Where the unread count stops.
    static let unreadLimit = 999
    private static let unreadBatch = 200

    var parts: BackendParts
    var principal: Principal
    var accepting: String?
    var now: Timestamp

    func page(before: RichID?, since: RichID?, limit: Int) async throws -> InboxPage {
        var found: [(RichNotification, NotificationAccess.Relation)] = []
        let last = try await scan(before: before, since: since, unreadOnly: false, batch: max(limit + 1, 20)) {
            notification, relation in
            if found.count <= limit { found.append((notification, relation)) }
            return found.count <= limit
        }
        // One more than asked for was looked for, to know whether the page is the last.
        let shown = try await translated(Array(found.prefix(limit)))
        let next = found.count > limit ? shown.last?.0.id : last
        let marks = try await parts.store.readMarks(among: shown.map(\.0.id), of: principal.userID)
        return InboxPage(
            notifications: shown.map { $0.entry(read: marks.contains($0.id) || $1 == .sender) },
            unread: try await unread(), next: next?.description)
    }

    private func translated(
        _ found: [(RichNotification, NotificationAccess.Relation)]
    ) async throws -> [(RichNotification, NotificationAccess.Relation)] {
        guard found.contains(where: { !$0.0.translations.isEmpty }) else { return found }
        // Those that hold now, whenever the notifications began.
        let bindings = try await parts.store.bindings(of: principal.userID, since: .last, limit: RichPushBackend.bindingLimit)
        let languages = NotificationAccess(principal: principal, bindings: bindings).languages(accepting: accepting)
        return Array(zip(try await parts.translated(found.map(\.0), for: languages, of: principal), found.map(\.1)))
    }

    /// What a sender sent to others does not count as unread for them.
    func unread() async throws -> Int {
        var count = 0
        _ = try await scan(before: nil, since: nil, unreadOnly: true, batch: Self.unreadBatch) { _, relation in
            if relation == .addressed { count += 1 }
            return count < Self.unreadLimit
        }
        return count
    }

    /// Shows every readable notification, newest first, until `show` says `false` or there are no more. Returns the cursor
    /// from which to go on when the limit of candidates was met first.
    private func scan(
        before: RichID?, since: RichID?, unreadOnly: Bool, batch: Int,
        _ show: (RichNotification, NotificationAccess.Relation) -> Bool
    ) async throws -> RichID? {
        var before = before
        var looked = 0
        while looked < Self.scanLimit {
            let query = InboxQuery(
                keys: keys, user: principal.userID, before: before, since: since, unreadOnly: unreadOnly, limit: batch)
            let candidates = try await parts.store.find(query)
            guard let oldest = candidates.last else { return nil }
            let bindings = try await parts.store.bindings(
                of: principal.userID, since: candidates.map(\.order).min() ?? .last, limit: RichPushBackend.bindingLimit)
            let rule = NotificationAccess(principal: principal, bindings: bindings)
            for var candidate in candidates {
                if rule.dependsOnEnd(of: candidate, at: now) { candidate = try await parts.askedForEnd(of: candidate) }
                guard let relation = rule.relation(to: candidate, at: now), opens(candidate, relation) else { continue }
                guard show(candidate, relation) else { return nil }
            }
            guard candidates.count == batch else { return nil }
            looked += candidates.count
            before = oldest.id
        }
        return before
    }

    /// Whether a device of this user may ever open it: what they sealed for others it cannot, so no list shows it to them.
    private func opens(_ notification: RichNotification, _ relation: NotificationAccess.Relation) -> Bool {
        relation == .addressed || notification.kind != .sealed
    }

    private var keys: [AudienceKey] {
        [.tag(.user(principal.name)), .everyone, .sender(principal.userID)]
    }
}

extension RichPushBackend {
    /// Records what an installation reports, at most 100 receipts. Duplicates change nothing. Receipts of what the caller may not
    /// read are passed over in silence, so that nothing can be learnt and one stale receipt blocks no others. `opened` also
    /// marks the entry read.
    ///
    /// Throws `forbidden` unless signed with an installation credential, `invalid-field` for a malformed receipt.
    public func record(_ batch: ReceiptBatch, for principal: Principal) async throws {
        guard let installation = principal.installation else {
            throw ServiceError(.forbidden, "receipts are signed with the credential of the installation that sends them")
        }
        guard batch.receipts.count <= Self.receiptLimit else {
            throw ServiceError(.invalidField, "receipts: at most \(Self.receiptLimit) in one request")
        }
        for (index, receipt) in batch.receipts.enumerated() { try Self.check(receipt, index) }
        let readable = try await readableIDs(Set(batch.receipts.map(\.richID)), for: principal)
        let accepted = batch.receipts.filter { readable.contains($0.richID) }.map {
            StoredReceipt(receipt: $0, user: principal.userID, installation: installation)
        }
        let new = try await parts.store.record(accepted, at: parts.clock.now)
        for id in Set(accepted.filter { $0.receipt.kind == .opened }.map(\.receipt.richID)) {
            try await parts.store.setRead(true, of: id, for: principal.userID, at: parts.clock.now)
        }
        for stored in new {
            parts.observer?.observed(.receipt(stored.receipt, user: principal.name, installation: installation))
        }
    }

    private static let receiptLimit = 100

    private func readableIDs(_ ids: Set<RichID>, for principal: Principal) async throws -> Set<RichID> {
        var readable: Set<RichID> = []
        for id in ids {
            do {
                _ = try await self.readable(id, for: principal)
                readable.insert(id)
            } catch let error as ServiceError where error.code == .notFound {
                continue
            }
        }
        return readable
    }

    private static func check(_ receipt: Receipt, _ index: Int) throws {
        switch (receipt.kind, receipt.action) {
        case (.action, nil):
            throw ServiceError(.invalidField, "receipts[\(index)].action: the kind action names an action")
        case (.action, let action?), (.failed, let action?):
            guard (1...64).contains(action.utf8.count), action.utf8.allSatisfy(isActionByte) else {
                throw ServiceError(.invalidField, "receipts[\(index)].action: it has 1 to 64 of A-Z a-z 0-9 . _ -")
            }
        case (_, nil): break
        case (_, _?):
            throw ServiceError(.invalidField, "receipts[\(index)].action: only the kinds action and failed have one")
        }
    }

    private static func isActionByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
