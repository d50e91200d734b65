import PushHub
import RichPushModel

/// Pending rows that are due, each with its target as it is now: the record may have gone or changed hands since the last try.
enum DueRows {
    static func page(
        _ send: SQLSliceQueue.Send, _ request: PageRequest, _ connection: any SQLConnection
    ) throws -> SlicePage.DueTargets {
        let slice = request.lease.id
        let own: [SQLValue] = [
            .text(slice.notification.text), .integer(slice.number), .integer(request.now.milliseconds),
            .integer(Int64(request.limit)),
        ]
        var due = SlicePage.DueTargets(capacity: 0)
        guard let audience = send.audience(request) else {
            try connection.forEachRow(selectDirect, [.integer(slice.hub.number)] + own) { row in
                let handle = try row.optionalText(Column.registeredAt)
                let target = try pending(row)
                due.append(.init(target: target, member: handle.map { DirectRows.target(send, target.key, $0) }))
            }
            return due
        }
        let values = audience.values(audience.shape.withLongCover) + own
        try connection.forEachRow(AudienceStatements.due(audience.shape), values) { try take($0, into: &due) }
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
    private static func take(_ row: any SQLColumns, into due: inout SlicePage.DueTargets) throws {
        let target = try pending(row)
        guard let registeredAt = try row.optionalInteger(Column.registeredAt) else { return due.appendGone(target) }
        let numbers = TargetPage.Numbers(
            key: target.key, registeredAt: Timestamp(milliseconds: registeredAt), version: try row.integer(Column.version),
            template: try row.optionalInteger(Column.template).map(TemplateID.init))
        try due.append(target, numbers, of: Platform(rawValue: try row.text(Column.platform))) {
            try row.appendTexts(from: Column.texts, to: &$0)
        }
    }

    /// Where the columns of the target are in a row, behind those of the pending row.
    private enum Column {
        static var registeredAt: Int { 7 }
        static var version: Int { 8 }
        static var template: Int { 9 }
        static var platform: Int { 10 }
        /// Four texts: device token, record, environment and topic.
        static var texts: Int { 11 }
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
