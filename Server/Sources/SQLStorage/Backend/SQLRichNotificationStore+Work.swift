import AppBackend
import PushHub
import RichPushModel

extension SQLRichNotificationStore {
    public func markSent(_ id: RichID, trackingID: NotificationID, check: Timestamp) async throws -> Bool {
        try await database.writing { [app] connection in
            try connection.run(Self.setTracking, [.text(trackingID.text)] + Self.key(id, app))
            let isWanted =
                try connection.run(
                    Self.setWork,
                    [.text(OutboxWork.Task.track.rawValue), .integer(check.milliseconds)] + Self.key(id, app)) > 0
            // A recall that came in between found nothing to cancel at the hub; now there is.
            if !isWanted {
                try connection.run(
                    Self.setCancel,
                    [.text(OutboxWork.Task.cancel.rawValue), .integer(check.milliseconds)] + Self.key(id, app))
            }
            return isWanted
        }
    }

    public func markRefused(_ id: RichID, at now: Timestamp) async throws {
        try await database.writing { [app] connection in
            try connection.run(Self.refuse, [.integer(now.milliseconds)] + Self.key(id, app))
            try NotificationRemoval.releaseContents(of: id, app, at: now, connection)
        }
    }

    public func markCompleted(_ id: RichID, at moment: Timestamp, order: OrderNumber?) async throws {
        _ = try await database.writing { [app] in
            try $0.run(
                Self.complete, [.integer(moment.milliseconds)] + Self.key(id, app) + [.optional(order?.number)])
        }
    }

    public func recall(_ id: RichID, at now: Timestamp, contentExpiry: Timestamp) async throws -> Bool {
        try await database.writing { [app] connection in
            let moment = SQLValue.integer(now.milliseconds)
            let recalled = try connection.run(
                Self.recall, [moment, .text(OutboxWork.Task.cancel.rawValue)] + Self.key(id, app))
            guard recalled > 0 else { return false }
            try NotificationRemoval.releaseContents(of: id, app, at: contentExpiry, connection)
            return true
        }
    }

    public func markCancelled(_ id: RichID) async throws {
        _ = try await database.writing { [app] in try $0.run(Self.endCancel, Self.key(id, app)) }
    }

    public func dueWork(at now: Timestamp, limit: Int) async throws -> [OutboxWork] {
        try await database.reading { [app] connection in
            let rows = try connection.rows(
                Self.selectWork, [.integer(app.number), .integer(now.milliseconds), .integer(Int64(limit))])
            return try rows.compactMap { row in
                guard let id = try RichNotificationRows.id(row, 0), let task = OutboxWork.Task(rawValue: try row.text(1)) else {
                    return nil
                }
                return OutboxWork(id: id, task: task, dueAt: Timestamp(milliseconds: try row.integer(2)))
            }
        }
    }

    public func postpone(_ work: OutboxWork, until moment: Timestamp) async throws {
        _ = try await database.writing { [app] in
            try $0.run(
                Self.postpone, [.integer(moment.milliseconds)] + Self.key(work.id, app) + [.text(work.task.rawValue)])
        }
    }
}

extension SQLRichNotificationStore {
    static let workStatements = [
        setTracking, setWork, setCancel, refuse, complete, recall, endCancel, selectWork, postpone,
    ]

    private static let setTracking = SQLStatement(
        "UPDATE rich_notifications SET tracking_id = $1 WHERE app_id = $2 AND rich_id = $3")
    private static let setWork = SQLStatement(
        """
        UPDATE rich_notifications SET work = $1, work_at = $2
        WHERE app_id = $3 AND rich_id = $4 AND recalled_at IS NULL AND completed_at IS NULL
        """)
    private static let setCancel = SQLStatement(
        """
        UPDATE rich_notifications SET work = $1, work_at = $2
        WHERE app_id = $3 AND rich_id = $4 AND recalled_at IS NOT NULL
        """)
    private static let refuse = SQLStatement(
        """
        UPDATE rich_notifications SET refused = 1, ended_at = $1, work = NULL, work_at = NULL
        WHERE app_id = $2 AND rich_id = $3 AND recalled_at IS NULL
        """)
    private static let complete = SQLStatement(
        """
        UPDATE rich_notifications SET completed_at = $1, ended_at = $1, end_order = $4, work = NULL, work_at = NULL
        WHERE app_id = $2 AND rich_id = $3 AND recalled_at IS NULL AND completed_at IS NULL
        """)
    private static let recall = SQLStatement(
        """
        UPDATE rich_notifications SET recalled_at = $1, ended_at = $1, work = $2, work_at = $1
        WHERE app_id = $3 AND rich_id = $4 AND recalled_at IS NULL
        """)
    private static let endCancel = SQLStatement(
        """
        UPDATE rich_notifications SET work = NULL, work_at = NULL
        WHERE app_id = $1 AND rich_id = $2 AND recalled_at IS NOT NULL
        """)
    private static let selectWork = SQLStatement(
        """
        SELECT rich_id, work, due_at FROM rich_notifications
        WHERE app_id = $1 AND work IS NOT NULL AND work_at <= $2 ORDER BY CASE work WHEN 'track' THEN 1 ELSE 0 END, work_at, rich_id LIMIT $3
        """)
    private static let postpone = SQLStatement(
        "UPDATE rich_notifications SET work_at = $1 WHERE app_id = $2 AND rich_id = $3 AND work = $4")
}
