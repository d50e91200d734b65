import AppBackend
import PushHub
import RichPushModel
import TagExpressions

/// Rich notifications as they are read: one, those of an inbox, those of a list of sends.
extension SQLBackendStore {
    public func notification(_ id: RichID) async throws -> RichNotification? {
        try await reading { try $0.notification(id) }
    }

    public func accessFacts(
        about id: RichID, for user: UserID, limit: Int
    ) async throws -> (notification: RichNotification?, bindings: [Binding]) {
        try await accessReads.answer(to: AccessQuestion(id: id, user: user, limit: limit))
    }

    public func translations(_ places: [RichID: Int]) async throws -> [RichID: RichTranslation] {
        try await reading { transaction in
            var found: [RichID: RichTranslation] = [:]
            for (id, place) in places {
                found[id] = try transaction.row(NotificationSQL.selectTranslation, BackendTransaction.translationID(id, place))
                    .map(NotificationSQL.translation)
            }
            return found
        }
    }

    public func find(_ query: InboxQuery) async throws -> [RichNotification] {
        try await reading { transaction in
            var found: [RichNotification] = []
            for key in query.keys { Self.merge(try transaction.find(query, key), into: &found, query.limit) }
            for (key, newest) in try transaction.heldKeys(query) {
                // The keys come in the order of their newest, so no further one has anything for this page.
                if found.count == query.limit, let last = found.last, Int64(last.id.number) > newest { break }
                Self.merge(try transaction.find(query, key), into: &found, query.limit)
            }
            return found
        }
    }

    /// Keeps the newest of both.
    private static func merge(_ more: [RichNotification], into found: inout [RichNotification], _ limit: Int) {
        let known = Set(found.map(\.id))
        found += more.filter { !known.contains($0.id) }
        found = Array(found.sorted { $0.id > $1.id }.prefix(limit))
    }

    public func sends(_ query: SendListQuery) async throws -> [RichNotification] {
        try await reading { try $0.sends(query).map(NotificationSQL.notification) }
    }
}

/// May this user read that notification?
struct AccessQuestion: Sendable {
    let id: RichID
    let user: UserID
    let limit: Int
}

/// What decides: the notification, whatever its state, and the user's bindings that may have been reached by it, newest first.
typealias AccessFacts = (notification: RichNotification?, bindings: [Binding])

extension BackendTransaction {
    /// What decides each question, in their order. A notification that many ask for, as right after its push, is read once.
    func answers(to questions: [AccessQuestion]) throws -> [AccessFacts] {
        var known: [RichID: RichNotification?] = [:]
        return try questions.map { question in
            let notification: RichNotification?
            if let read = known[question.id] {
                notification = read
            } else {
                notification = try self.notification(question.id)
                known[question.id] = .some(notification)
            }
            let bindings = try bindings(of: question.user, since: notification?.order ?? .last, limit: question.limit)
            return (notification, bindings)
        }
    }

    func notification(_ id: RichID) throws -> RichNotification? {
        try row(NotificationSQL.select, id).map(NotificationSQL.notification)
    }

    /// Whether it is still there, whatever its state.
    func exists(_ id: RichID) throws -> Bool { try row(NotificationSQL.selectPresence, id) != nil }

    /// The keys of the user's tags that lead to anything in the range asked for, and the newest number under each, newest first.
    /// One statement, however many tags there are: most lead nowhere.
    fileprivate func heldKeys(_ query: InboxQuery) throws -> [(key: AudienceKey, newest: Int64)] {
        let since = query.since.map { Int64($0.number) } ?? 0
        let rows = try rows(NotificationSQL.selectUserTags, query.user, query.before.map { Int64($0.number) } ?? .max)
        let held = try rows.compactMap { row -> (key: AudienceKey, newest: Int64)? in
            guard let newest = try row.optionalInteger(1), newest > since else { return nil }
            return (AudienceKey(stored: try row.text(0)), newest)
        }
        return held.sorted { $0.newest > $1.newest }
    }

    fileprivate func sends(_ query: SendListQuery) throws -> [SQLRow] {
        switch query.order {
        case .number(let below):
            let below = below.map { Int64($0.number) } ?? .max
            return try query.sender.map { try rows(NotificationSQL.selectSendsOfUser, below, query.limit, $0) }
                ?? rows(NotificationSQL.selectSends, below, query.limit)
        case .time(let range, let below):
            // Numbers begin at 1: below number 0 of a moment is what was due before it.
            let place = below.flatMap { $0.dueAt < range.upperBound ? ($0.dueAt, Int64($0.id.number)) : nil }
            let (moment, number) = place ?? (range.upperBound, 0)
            return try query.sender.map {
                try rows(NotificationSQL.selectSendsOfUserByTime, range.lowerBound, moment, number, query.limit, $0)
            } ?? rows(NotificationSQL.selectSendsByTime, range.lowerBound, moment, number, query.limit)
        }
    }

    fileprivate func find(_ query: InboxQuery, _ key: AudienceKey) throws -> [RichNotification] {
        // Bounds instead of nulls, because a parameter that may be null has no type of its own on every engine.
        let before = query.before.map { Int64($0.number) } ?? .max
        let since = query.since.map { Int64($0.number) } ?? 0
        let rows =
            query.unreadOnly
            ? try rows(NotificationSQL.findUnread, key, before, since, query.limit, query.user)
            : try rows(NotificationSQL.find, key, before, since, query.limit)
        return try rows.map(NotificationSQL.notification)
    }
}

extension SQLStatement { static let ofNotifications = NotificationSQL.all }

private enum NotificationSQL {
    static let all = [
        select, selectTranslation, selectPresence, selectUserTags, find, findUnread, selectSends, selectSendsOfUser,
        selectSendsByTime,
        selectSendsOfUserByTime,
    ]

    private static let own = [
        "rich_id", "sender_id", "sender_name", "kind", "style", "title", "subtitle", "message", "alt_text", "audience", "due_at",
        "expires_at", "completed_at", "recalled_at", "tracking_id", "refused", "start_order", "end_order", "languages", "split",
    ]

    /// The columns in the order in which `notification` reads them.
    private static let columns =
        (own.map { "n.\($0)" } + [ContentRecord.columns(of: "c"), ContentRecord.columns(of: "t")]).joined(separator: ", ")

    /// The table with its contents joined.
    private static let table = """
        rich_notifications n LEFT JOIN contents c ON c.app_id = n.app_id AND c.content_id = n.content_id \
        LEFT JOIN contents t ON t.app_id = n.app_id AND t.content_id = n.thumb_id
        """

    static func notification(_ row: SQLRow) throws -> RichNotification {
        guard let id = try row.richID(0) else { throw SQLFault.unexpectedColumn(0) }
        let texts = NotificationTexts(
            title: try row.optionalText(5), subtitle: try row.optionalText(6), message: try row.text(7),
            altText: try row.optionalText(8))
        var notification = RichNotification(
            id: id, sender: UserID(try row.integer(1)), senderName: try row.parsed(2) { UserName($0) },
            kind: ContentKind(rawValue: try row.text(3)), style: try row.parsed(4, DeliveryStyle.init(rawValue:)), texts: texts,
            content: try ContentRecord(row, from: own.count),
            thumb: try ContentRecord(row, from: own.count + ContentRecord.columnCount),
            audience: try row.parsed(9) { try? TagExpression(parsing: $0) }, dueAt: try row.moment(10),
            order: OrderNumber(try row.integer(16)), expiresAt: try row.optionalMoment(11),
            completedAt: try row.optionalMoment(12), endOrder: try row.optionalInteger(17).map(OrderNumber.init),
            recalledAt: try row.optionalMoment(13), trackingID: try row.optionalText(14).flatMap { NotificationID($0) },
            isRefused: try row.integer(15) != 0)
        notification.translations = TranslationKey.list(stored: try row.optionalText(18))
        notification.split = try row.optionalText(19).flatMap { SendSplit(storedText: $0) }
        return notification
    }

    static func translation(_ row: SQLRow) throws -> RichTranslation {
        let texts = NotificationTexts(
            title: try row.optionalText(0), subtitle: try row.optionalText(1), message: try row.text(2),
            altText: try row.optionalText(3))
        return RichTranslation(
            texts: texts, content: try ContentRecord(row, from: 4),
            thumb: try ContentRecord(row, from: 4 + ContentRecord.columnCount))
    }

    static let select = SQLStatement(composed: "SELECT \(columns) FROM \(table) WHERE n.app_id = $1 AND n.rich_id = $2")
    static let selectTranslation = SQLStatement(
        composed: """
            SELECT n.title, n.subtitle, n.message, n.alt_text, \(ContentRecord.columns(of: "c")), \(ContentRecord.columns(of: "t"))
            FROM \(table.replacing("rich_notifications", with: "rich_translations")) WHERE n.app_id = $1 AND n.translation_id = $2
            """)
    static let selectPresence = SQLStatement("SELECT rich_id FROM rich_notifications WHERE app_id = $1 AND rich_id = $2")
    static let selectUserTags = SQLStatement(
        """
        SELECT t.audience_key, (
            SELECT a.rich_id FROM audience_index a
            WHERE a.app_id = t.app_id AND a.audience_key = t.audience_key AND a.rich_id < $3 ORDER BY a.rich_id DESC LIMIT 1) AS newest
        FROM user_tags t WHERE t.app_id = $1 AND t.user_id = $2
        """)
    private static let found = """
        SELECT \(columns) FROM audience_index a \
        JOIN \(table.replacing(
            "rich_notifications n", with: "rich_notifications n ON n.app_id = a.app_id AND n.rich_id = a.rich_id")) \
        WHERE a.app_id = $1 AND a.audience_key = $2 AND a.rich_id < $3 AND a.rich_id > $4 \
        AND n.recalled_at IS NULL AND n.refused = 0
        """
    static let find = SQLStatement(composed: found + " ORDER BY a.rich_id DESC LIMIT $5")
    static let findUnread = SQLStatement(
        composed: found + """
             AND NOT EXISTS (SELECT 1 FROM read_marks r \
            WHERE r.app_id = a.app_id AND r.user_id = $6 AND r.rich_id = a.rich_id) ORDER BY a.rich_id DESC LIMIT $5
            """)
    private static let someSends = "SELECT \(columns) FROM \(table) WHERE n.app_id = $1 AND n.rich_id < $2"
    static let selectSends = SQLStatement(composed: someSends + " ORDER BY n.rich_id DESC LIMIT $3")
    static let selectSendsOfUser = SQLStatement(composed: someSends + " AND n.sender_id = $4 ORDER BY n.rich_id DESC LIMIT $3")
    private static let timedSends = """
        SELECT \(columns) FROM \(table) WHERE n.app_id = $1 AND n.due_at >= $2 AND (n.due_at, n.rich_id) < ($3, $4)
        """
    private static let byTime = " ORDER BY n.due_at DESC, n.rich_id DESC LIMIT $5"
    static let selectSendsByTime = SQLStatement(composed: timedSends + byTime)
    static let selectSendsOfUserByTime = SQLStatement(composed: timedSends + " AND n.sender_id = $6" + byTime)
}
