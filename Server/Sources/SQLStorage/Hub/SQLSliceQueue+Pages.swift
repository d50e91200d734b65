import PushHub
import RichPushModel
import TagExpressions

/// What a worker reads of a leased slice.
extension SQLSliceQueue {
    public func page(_ request: PageRequest) async throws -> SlicePage? {
        try await database.reading { connection -> SlicePage? in
            guard let row = try connection.row(Self.selectSend, Self.key(request.lease)) else { return nil }
            var page = try Self.page(row)
            guard !page.state.isFinal else { return page }
            let audience = try Self.audience(row, page.message, request)
            page.pendingCount = Int(try row.integer(12))
            let canWalk = page.pendingCount < request.pendingLimit && request.lease.cursor < request.lease.last
            let prefersWalk = canWalk && request.turn == .walk
            if page.pendingCount > 0 { try Self.readPending(request, audience, &page, takesDue: !prefersWalk, connection) }
            if page.work == .wait, canWalk {
                page.work = .walk(try Self.walk(request, audience, page.message.format, connection))
            }
            if let split = try row.optionalText(18).flatMap(PushSplit.init(stored:)) {
                let choice = TranslationChoice(stored: try row.optionalText(16))
                try RecipientRows.divide(&page, split, choice, in: request.lease.id.hub, connection)
            }
            if page.message.format == .template {
                page.templates = try TemplateRows.contents(of: page.work.templates, in: request.lease.id.hub, connection)
            } else {
                page.translations = try TranslationRows.bodies(page.work.templates, of: request.lease.id, connection)
            }
            return page
        }
    }

    /// A page without work: what the row says of the send.
    private static func page(_ row: SQLRow) throws -> SlicePage {
        guard let state = NotificationState(rawValue: try row.text(0)) else { throw SQLFault.unexpectedColumn(0) }
        let format = SendFormat(stored: try row.text(10))
        let platform = try row.optionalText(20).map(Platform.init(rawValue:))
        var message = AcceptedMessage(
            body: try row.bytes(1), pushType: try row.text(2), priority: Int(try row.integer(3)),
            format: format == .template ? format : platform.map(SendFormat.native) ?? format, collapseID: try row.optionalText(4),
            expiresAt: try row.optionalInteger(6).map(Timestamp.init(milliseconds:)), topic: try row.optionalText(5))
        if let platform {
            if case .native(let own) = format { message.bodyPlatform = own } else { message.templatePlatform = platform }
        }
        var page = SlicePage(
            state: state, message: message, pushesPerSecond: try row.optionalInteger(9).map(Int.init), work: .wait,
            pendingCount: 0, nextPendingAt: nil)
        page.dueAt = Timestamp(milliseconds: try row.integer(13))
        page.reportsOutcomes = try row.integer(19) != 0
        page.cap = try row.optionalText(17).flatMap(FrequencyCap.init)
        return page
    }

    /// What the audience is read by; `nil` for a direct send.
    private static func audience(_ row: SQLRow, _ message: AcceptedMessage, _ request: PageRequest) throws -> SendAudience? {
        guard try row.integer(11) == 0 else { return nil }
        let slice = request.lease.id
        return SendAudience(
            hub: slice.hub, query: try query(try row.optionalText(14), of: try row.optionalText(7)), format: message.format,
            templates: message.platform,
            // Every send that is leased has one.
            mark: try row.optionalInteger(8).map(OrderNumber.init) ?? .last, now: request.now,
            wave: try row.optionalInteger(15).map {
                SendAudience.Wave(notification: slice.notification, moment: Timestamp(milliseconds: $0))
            }, translations: TranslationChoice(stored: try row.optionalText(18) == nil ? row.optionalText(16) : nil))
    }

    /// The compiled audience. One that an older program stored, or a newer one in another form, is compiled here.
    private static func query(_ stored: String?, of audience: String?) throws -> AudienceQuery {
        if let query = stored.flatMap(AudienceQuery.init(stored:)) { return query }
        do {
            return try AudienceQuery(try audience.map { text throws(TagExpressionError) in try TagExpression(parsing: text) })
        } catch {
            throw SQLFault.unexpectedColumn(7)
        }
    }

    private static func walk(
        _ request: PageRequest, _ audience: SendAudience?, _ format: SendFormat, _ connection: any SQLConnection
    ) throws -> SlicePage.Walk {
        let (cursor, last, limit) = (request.lease.cursor, request.lease.last, request.limit)
        guard let audience else {
            return try DirectRows.walk(format, request.lease.id, after: cursor, last: last, limit: limit, connection)
        }
        return try AudienceWalk(audience, connection)
            .next(after: cursor, last: last, limit: limit, scanLimit: request.scanLimit)
    }

    private static func readPending(
        _ request: PageRequest, _ audience: SendAudience?, _ page: inout SlicePage, takesDue: Bool,
        _ connection: any SQLConnection
    ) throws {
        let slice = Array(key(request.lease).prefix(3))
        guard takesDue else {
            page.nextPendingAt = try next(slice, after: .init(milliseconds: .min), connection)
            return
        }
        let due = try DueRows.page(audience, page.message.format, request, connection)
        if !due.isEmpty { page.work = .retries(due) }
        // More are due than the page takes: they are next.
        page.nextPendingAt = due.count == request.limit ? request.now : try next(slice, after: request.now, connection)
    }

    private static func next(_ slice: [SQLValue], after moment: Timestamp, _ connection: any SQLConnection) throws -> Timestamp? {
        try connection.row(selectNextPending, slice + [.integer(moment.milliseconds)])?.optionalInteger(0)
            .map(Timestamp.init(milliseconds:))
    }

    static let pageStatements = [selectSend, selectNextPending]

    private static let selectSend = SQLStatement(
        """
        SELECT n.state, n.body, n.push_type, n.priority, n.collapse_id, n.topic, COALESCE(s.expires_at, n.expires_at), n.audience,
            n.order_mark,
            n.pushes_per_second, n.format, n.is_direct,
            (SELECT COUNT(*) FROM pending_targets p
                WHERE p.hub_id = s.hub_id AND p.notification_id = s.notification_id AND p.slice = s.slice),
            COALESCE(s.moment, n.due_at), COALESCE(s.audience_query, n.audience_query), s.moment,
            n.languages, n.frequency_cap, n.split, n.reports_outcomes, s.platform
        FROM slices s JOIN notifications n ON n.hub_id = s.hub_id AND n.notification_id = s.notification_id
        WHERE s.hub_id = $1 AND s.notification_id = $2 AND s.slice = $3 AND s.epoch = $4 AND s.owner IS NOT NULL
        """)
    private static let selectNextPending = SQLStatement(
        """
        SELECT MIN(not_before) FROM pending_targets
        WHERE hub_id = $1 AND notification_id = $2 AND slice = $3 AND not_before > $4
        """)
}

/// Pending rows that are due, each with its target as it is now: the record may have gone or changed hands since the last try.
enum DueRows {
    static func page(
        _ audience: SendAudience?, _ format: SendFormat, _ request: PageRequest, _ connection: any SQLConnection
    ) throws -> SlicePage.DueTargets {
        let slice = request.lease.id
        let own: [SQLValue] = [
            .text(slice.notification.text), .integer(slice.number), .integer(request.now.milliseconds),
            .integer(Int64(request.limit)),
        ]
        var due = SlicePage.DueTargets(capacity: 0)
        guard let audience else {
            try connection.forEachRow(selectDirect, [.integer(slice.hub.number)] + own) { row in
                let handle = try row.optionalText(Column.directHandle)
                let target = try pending(row)
                due.append(target, handle.map { DirectRows.target(format, target.key, $0) })
            }
            return due
        }
        let values = audience.values(audience.shape.withLongCover) + own
        var choice = audience.translations
        try connection.forEachRow(AudienceStatements.due(audience.shape), values) { try take($0, &choice, into: &due) }
        return due
    }

    private static func pending(_ row: any SQLColumns) throws -> PendingTarget {
        guard let cause = PendingTarget.Cause(rawValue: try row.text(1)) else { throw SQLFault.unexpectedColumn(1) }
        return PendingTarget(
            key: SliceKey(try row.integer(0)), cause: cause, attempts: Int(try row.integer(2)),
            unanswered: Int(try row.integer(5)), reason: try row.optionalText(6),
            firstAt: Timestamp(milliseconds: try row.integer(3)), notBefore: Timestamp(milliseconds: try row.integer(4)))
    }

    /// Takes a row with the record, if the send still means it.
    private static func take(
        _ row: any SQLColumns, _ choice: inout TranslationChoice, into due: inout SlicePage.DueTargets
    ) throws {
        let target = try pending(row)
        guard let registeredAt = try row.optionalInteger(Column.registeredAt) else { return due.appendGone(target) }
        let numbers = TargetPage.Numbers(
            key: target.key, registeredAt: Timestamp(milliseconds: registeredAt), version: try row.integer(Column.version),
            template: choice.isNeeded
                ? choice.number(for: try row.text(Column.languages))
                : try row.optionalInteger(Column.template).map(TemplateID.init))
        try due.append(target, numbers, of: Platform(rawValue: try row.text(Column.platform))) {
            try row.appendTexts(from: Column.texts, to: &$0)
        }
    }

    /// Where the columns of the target are in a row, behind those of the pending row.
    private enum Column {
        /// The device token in a row of a direct send, which has no other column here.
        static var directHandle: Int { 7 }
        static var registeredAt: Int { 7 }
        static var version: Int { 8 }
        static var template: Int { 9 }
        static var platform: Int { 10 }
        /// Four texts: device token, record, environment and topic.
        static var texts: Int { 11 }
        static var languages: Int { 15 }
    }

    /// What is read of a pending row, which is called `p` in its statement.
    static let columns = list.map { "p.\($0)" }.joined(separator: ", ")

    private static let list = ["slice_key", "cause", "attempts", "first_at", "not_before", "unanswered", "reason"]

    /// The pending rows that are due. `$1` is the hub; from `first` on stand notification, slice, moment and limit.
    static func due(from first: Int) -> String {
        """
        SELECT \(list.joined(separator: ", ")) FROM pending_targets
        WHERE hub_id = $1 AND notification_id = $\(first) AND slice = $\(first + 1) AND not_before <= $\(first + 2)
        ORDER BY not_before, slice_key LIMIT $\(first + 3)
        """
    }

    static let all = [selectDirect]

    private static let selectDirect = SQLStatement(
        composed: """
            SELECT \(columns), h.handle FROM (\(due(from: 2))) AS p
            LEFT JOIN direct_handles h ON h.hub_id = $1 AND h.notification_id = $2 AND h.position = p.slice_key
            ORDER BY p.not_before, p.slice_key
            """)
}

/// The handles of sends to handles, walked like records: a handle's key is its position.
enum DirectRows {
    static func insert(_ send: AcceptedSend, _ connection: any SQLConnection) throws {
        for (index, handle) in (send.recipients.handles ?? []).enumerated() {
            try connection.run(
                insert, [.integer(send.hub.number), .text(send.id.text), .integer(Int64(index) + 1), .text(handle.text)])
        }
    }

    static func walk(
        _ format: SendFormat, _ slice: SliceID, after cursor: SliceKey, last: SliceKey, limit: Int,
        _ connection: any SQLConnection
    ) throws -> SlicePage.Walk {
        let rows = try connection.rows(
            select,
            [.integer(slice.hub.number), .text(slice.notification.text), .integer(cursor.number), .integer(Int64(limit))])
        let targets = try rows.map { target(format, SliceKey(try $0.integer(0)), try $0.text(1)) }
        let through = rows.count < limit ? nil : targets.last?.key
        return SlicePage.Walk(targets: targets, through: through ?? last)
    }

    static func target(_ format: SendFormat, _ position: SliceKey, _ handle: String) -> TargetPage.Target {
        var platform = Platform.apns
        if case .native(let own) = format { platform = own }
        return TargetPage.Target(
            handle: DeviceToken(canonical: handle), platform: platform, position: position.number)
    }

    static let all = [insert, select, delete]

    static let delete = SQLStatement("DELETE FROM direct_handles WHERE hub_id = $1 AND notification_id = $2")
    private static let insert = SQLStatement(
        "INSERT INTO direct_handles (hub_id, notification_id, position, handle) VALUES ($1, $2, $3, $4)")
    private static let select = SQLStatement(
        """
        SELECT position, handle FROM direct_handles WHERE hub_id = $1 AND notification_id = $2 AND position > $3
        ORDER BY position LIMIT $4
        """)
}
