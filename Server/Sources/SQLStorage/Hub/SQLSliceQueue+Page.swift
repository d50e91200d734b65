import PushHub
import RichPushModel
import TagExpressions

extension SQLSliceQueue {
    public func page(_ request: PageRequest) async throws -> SlicePage? {
        try await database.reading { connection -> SlicePage? in
            guard let row = try connection.row(Self.selectSend, Self.key(request.lease)) else { return nil }
            let send = try Send(row)
            var page = SlicePage(
                state: send.state, message: send.message, pushesPerSecond: send.pushesPerSecond, work: .wait, pendingCount: 0,
                nextPendingAt: nil)
            page.dueAt = send.dueAt
            guard !send.state.isFinal else { return page }
            page.pendingCount = Int(try row.integer(12))
            let canWalk = page.pendingCount < request.pendingLimit && request.lease.cursor < request.lease.last
            let prefersWalk = canWalk && request.turn == .walk
            if page.pendingCount > 0 { try Self.readPending(request, send, &page, takesDue: !prefersWalk, connection) }
            if page.work == .wait, canWalk {
                page.work = .walk(try Self.walk(request, send, connection))
            }
            page.templates = try TemplateRows.contents(of: page.work.templates, in: request.lease.id.hub, connection)
            return page
        }
    }

    private static func walk(
        _ request: PageRequest, _ send: Send, _ connection: any SQLConnection
    ) throws -> SlicePage.Walk {
        let (cursor, last, limit) = (request.lease.cursor, request.lease.last, request.limit)
        guard let audience = send.audience(request) else {
            return try DirectRows.walk(send, request.lease.id, after: cursor, last: last, limit: limit, connection)
        }
        return try AudienceWalk(audience, connection)
            .next(after: cursor, last: last, limit: limit, scanLimit: request.scanLimit)
    }

    /// A send as its row has it.
    struct Send {
        let state: NotificationState
        let message: AcceptedMessage
        /// Absent in a direct send.
        let query: AudienceQuery?
        let mark: OrderNumber
        let dueAt: Timestamp
        let pushesPerSecond: Int?

        init(_ row: SQLRow) throws {
            guard let state = NotificationState(rawValue: try row.text(0)) else { throw SQLFault.unexpectedColumn(0) }
            self.state = state
            message = AcceptedMessage(
                body: try row.bytes(1), pushType: try row.text(2), priority: Int(try row.integer(3)),
                format: SendFormat(stored: try row.text(10)), collapseID: try row.optionalText(4),
                expiresAt: try row.optionalInteger(6).map(Timestamp.init(milliseconds:)),
                topic: try row.optionalText(5))
            query = try row.integer(11) != 0 ? nil : Self.query(try row.optionalText(14), of: try row.optionalText(7))
            // Every send that is leased has one.
            mark = try row.optionalInteger(8).map(OrderNumber.init) ?? .last
            pushesPerSecond = try row.optionalInteger(9).map(Int.init)
            dueAt = Timestamp(milliseconds: try row.integer(13))
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

        /// What the audience is read by; `nil` for a direct send.
        func audience(_ request: PageRequest) -> AudienceSend? {
            query.map { AudienceSend(hub: request.lease.id.hub, query: $0, format: message.format, mark: mark, now: request.now) }
        }
    }

    private static func readPending(
        _ request: PageRequest, _ send: Send, _ page: inout SlicePage, takesDue: Bool,
        _ connection: any SQLConnection
    ) throws {
        let slice = Array(key(request.lease).prefix(3))
        guard takesDue else {
            page.nextPendingAt = try next(slice, after: .init(milliseconds: .min), connection)
            return
        }
        let due = try DueRows.page(send, request, connection)
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
        SELECT n.state, n.body, n.push_type, n.priority, n.collapse_id, n.topic, n.expires_at, n.audience, n.order_mark,
            n.pushes_per_second, n.format, n.is_direct,
            (SELECT COUNT(*) FROM pending_targets p
                WHERE p.hub_id = s.hub_id AND p.notification_id = s.notification_id AND p.slice = s.slice),
            n.due_at, n.audience_query
        FROM slices s JOIN notifications n ON n.hub_id = s.hub_id AND n.notification_id = s.notification_id
        WHERE s.hub_id = $1 AND s.notification_id = $2 AND s.slice = $3 AND s.epoch = $4 AND s.owner IS NOT NULL
        """)
    private static let selectNextPending = SQLStatement(
        """
        SELECT MIN(not_before) FROM pending_targets
        WHERE hub_id = $1 AND notification_id = $2 AND slice = $3 AND not_before > $4
        """)
}
