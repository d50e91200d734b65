import RichPushModel

/// Reads the inbox of one user, what they sent included: finds candidates by the index, then checks each by the access rule.
struct InboxReader {
    /// How many candidates one page looks at before it hands out a cursor instead of going on.
    static let scanLimit = 2000
    /// Where the unread count stops.
    static let unreadLimit = 999
    private static let unreadBatch = 200

    var parts: BackendParts
    var principal: Principal
    var now: Timestamp
    private var stores: BackendStores { parts.stores }

    init(parts: BackendParts, principal: Principal, now: Timestamp) {
        self.parts = parts
        self.principal = principal
        self.now = now
    }

    func page(before: RichID?, since: RichID?, limit: Int) async throws -> InboxPage {
        var found: [(RichNotification, NotificationAccess.Relation)] = []
        let last = try await scan(before: before, since: since, unreadOnly: false, batch: max(limit + 1, 20)) {
            notification, relation in
            if found.count <= limit { found.append((notification, relation)) }
            return found.count <= limit
        }
        // One more than asked for was looked for, to know whether the page is the last.
        let shown = found.prefix(limit)
        let next = found.count > limit ? shown.last?.0.id : last
        let marks = try await stores.readMarks.readMarks(among: shown.map(\.0.id), of: principal.userID)
        return InboxPage(
            notifications: shown.map { $0.entry(read: marks.contains($0.id) || $1 == .sender) },
            unread: try await unread(), next: next?.description)
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
            let candidates = try await stores.notifications.find(query)
            guard let oldest = candidates.last else { return nil }
            let bindings = try await stores.bindings.bindings(
                of: principal.userID, since: candidates.map(\.order).min() ?? .last, limit: RichPushBackend.bindingLimit)
            let rule = NotificationAccess(principal: principal, bindings: bindings)
            for var candidate in candidates {
                if rule.dependsOnEnd(of: candidate, at: now) { candidate = try await SendEnd(parts: parts).asked(candidate) }
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
