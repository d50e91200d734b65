import PushHub
import RichPushModel

/// The statements of the walk: by how records are found, by the kind of send, and by whether tags have to be read.
enum AudienceStatements {
    enum Access: CaseIterable { case scan, tag, one }

    struct Kind: Hashable {
        var access: Access
        var isTemplate: Bool
        var hasRest: Bool
    }

    static func statement(_ kind: Kind) -> SQLStatement {
        // Every kind is in the table.
        table[kind] ?? fallback
    }

    static let all = Array(table.values)

    private static let fallback = compose(Kind(access: .scan, isTemplate: false, hasRest: true))

    private static let table: [Kind: SQLStatement] = {
        var table: [Kind: SQLStatement] = [:]
        for access in Access.allCases {
            for isTemplate in [false, true] {
                for hasRest in [false, true] {
                    let kind = Kind(access: access, isTemplate: isTemplate, hasRest: hasRest)
                    table[kind] = compose(kind)
                }
            }
        }
        return table
    }()

    /// Where the columns of every kind are in a row, and those that a kind reads besides.
    enum Column {
        /// Four numbers: key, moment of registration, version, and whether the handle is shared.
        static var numbers: Int { 0 }
        /// Four texts: handle, record, environment and topic.
        static var texts: Int { 4 }
        static var handle: Int { texts }
        static var record: Int { texts + 1 }
        // Of template sends.
        static var platform: Int { 8 }
        static var form: Int { 9 }
        static var template: Int { 10 }

        /// The first of the columns to compare.
        static func comparison(_ kind: Kind) -> Int { kind.isTemplate ? 11 : 8 }
    }

    private static let columns = """
        d.slice_key, d.registered_at, d.version, d.shares_handle, d.handle, d.record_id, d.environment, d.topic
        """
    /// All devices of a native send have the same platform, and none has a form.
    private static let columnsOfTemplates = ", d.platform, d.form, d.template_id"
    /// Read only where there is something to compare.
    private static let columnsToMatch = ", d.kind, d.parent, d.tags, d.user_id"

    private static func compose(_ kind: Kind) -> SQLStatement {
        let columns = columns + (kind.isTemplate ? columnsOfTemplates : "") + (kind.hasRest ? columnsToMatch : "")
        let text =
            switch kind.access {
            case .scan:
                """
                SELECT \(columns) FROM devices d
                WHERE d.hub_id = $1 AND d.slice_key > $2 AND d.slice_key <= $3 AND \(state(kind, first: 4))
                ORDER BY d.slice_key LIMIT $7
                """
            case .tag:
                """
                SELECT \(columns) FROM device_tags t JOIN devices d ON d.hub_id = t.hub_id AND d.slice_key = t.slice_key
                WHERE t.hub_id = $1 AND t.tag = $8 AND t.slice_key > $2 AND t.slice_key <= $3 AND \(state(kind, first: 4))
                ORDER BY t.slice_key LIMIT $7
                """
            case .one:
                "SELECT \(columns) FROM devices d WHERE d.hub_id = $1 AND d.slice_key = $2 AND \(state(kind, first: 3))"
            }
        return SQLStatement(composed: text)
    }

    /// What `AudienceFilter` says of a record, tags aside. The platform is compared in both kinds, so that both take the same
    /// values: every template matches the empty one.
    private static func state(_ kind: Kind, first: Int) -> String {
        let target = kind.isTemplate ? "d.form <> 0 AND $\(first + 2) = ''" : "d.form = 0 AND d.platform = $\(first + 2)"
        return """
            d.handle IS NOT NULL AND d.parked_at IS NULL AND d.order_number <= $\(first)
                AND (d.expires_at IS NULL OR d.expires_at > $\(first + 1)) AND \(target)
            """
    }

    /// What expressions see of a row with `columnsToMatch`.
    static func matchingTags(_ row: any SQLColumns, _ kind: Kind) throws -> Set<Tag> {
        let first = Column.comparison(kind)
        guard let id = RecordID(try row.text(Column.record)) else { throw SQLFault.unexpectedColumn(Column.record) }
        guard let recordKind = DeviceRecord.Kind(rawValue: try row.text(first)) else { throw SQLFault.unexpectedColumn(first) }
        let epoch = Timestamp(milliseconds: 0)
        return DeviceRecord(
            id: id, kind: recordKind, handle: nil, tags: DeviceRow.tags(try row.text(first + 2)),
            userID: try row.optionalText(first + 3), createdAt: epoch, registeredAt: epoch, sliceKey: .last,
            parent: try row.optionalText(first + 1).flatMap(RecordID.init)
        ).matchingTags
    }
}
