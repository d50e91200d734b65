import PushHub
import RichPushModel

/// Pending rows that are due, each with its target as it is now: the record may have gone or changed hands since the last try.
enum DueRows {
    static func page(
        _ send: SQLSliceQueue.Send, _ request: PageRequest, _ connection: any SQLConnection
    ) throws -> [SlicePage.DueTarget] {
        let slice = request.lease.id
        let due: [SQLValue] = [
            .text(slice.notification.text), .integer(slice.number), .integer(request.now.milliseconds),
            .integer(Int64(request.limit)),
        ]
        guard let audience = send.audience(request) else {
            return try connection.rows(selectDirect, [.integer(slice.hub.number)] + due).map { row in
                let handle = try row.optionalText(Column.target)
                return .init(target: try pending(row), member: try handle.map { try DirectRows.member(send, row.integer(0), $0) })
            }
        }
        let statement = AudienceStatements.due(audience.shape)
        return try connection.rows(statement, audience.values(audience.shape.withLongCover) + due).map { row in
            .init(target: try pending(row), member: try member(row))
        }
    }

    private static func pending(_ row: SQLRow) throws -> PendingTarget {
        guard let cause = PendingTarget.Cause(rawValue: try row.text(1)) else { throw SQLFault.unexpectedColumn(1) }
        return PendingTarget(
            key: SliceKey(try row.integer(0)), cause: cause, attempts: Int(try row.integer(2)),
            unanswered: Int(try row.integer(5)), reason: try row.optionalText(6),
            firstAt: Timestamp(milliseconds: try row.integer(3)), notBefore: Timestamp(milliseconds: try row.integer(4)))
    }

    /// The record of the row, if the send still means it.
    private static func member(_ row: SQLRow) throws -> AudienceMember? {
        let first = Column.target
        guard let registeredAt = try row.optionalInteger(first) else { return nil }
        guard let id = RecordID(try row.text(first + 5)) else { throw SQLFault.unexpectedColumn(first + 5) }
        return AudienceMember(
            key: SliceKey(try row.integer(0)), record: id, platform: Platform(rawValue: try row.text(first + 3)),
            handle: DeviceHandle(canonical: try row.text(first + 4)), environment: try row.optionalText(first + 6),
            topic: try row.optionalText(first + 7), registeredAt: Timestamp(milliseconds: registeredAt),
            version: try row.integer(first + 1), template: try row.optionalInteger(first + 2).map(TemplateID.init))
    }

    /// Where the columns of a row are.
    private enum Column {
        /// The first of the target, behind those of the pending row.
        static var target: Int { 7 }
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
