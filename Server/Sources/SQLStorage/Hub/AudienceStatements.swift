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

    private static let columns = """
        d.slice_key, d.record_id, d.kind, d.platform, d.handle, d.environment, d.topic, d.registered_at, d.version, d.parent, \
        d.shares_handle, d.template_id, d.form
        """

    /// Read after those only where there is something to compare.
    private static let columnsToMatch = ", d.tags, d.user_id"

    private static func compose(_ kind: Kind) -> SQLStatement {
        let columns = columns + (kind.hasRest ? columnsToMatch : "")
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
            d.handle IS NOT NULL AND d.parked_at IS NULL AND d.created_at <= $\(first)
                AND (d.expires_at IS NULL OR d.expires_at > $\(first + 1)) AND \(target)
            """
    }

    /// Reads a row of `columns`.
    ///
    /// - Parameter platform: where the statement has asked for one only.
    static func member(_ key: SliceKey, _ row: any SQLColumns, platform: Platform?) throws -> AudienceMember {
        let id = RecordID(trusted: try row.text(1))
        let parent = try row.optionalText(9).map(RecordID.init(trusted:))
        let isInstallation = try row.text(2) == DeviceRecord.Kind.installation.rawValue
        return AudienceMember(
            key: key, record: id, installation: isInstallation ? parent ?? id : nil,
            platform: try platform ?? Platform(rawValue: row.text(3)), handle: DeviceHandle(canonical: try row.text(4)),
            environment: try row.optionalText(5), topic: try row.optionalText(6),
            registeredAt: Timestamp(milliseconds: try row.integer(7)), version: try row.integer(8),
            template: try row.optionalInteger(11).map(TemplateID.init))
    }

    /// What expressions see of a row with `columnsToMatch`.
    static func matchingTags(_ row: any SQLColumns) throws -> Set<Tag> {
        guard let id = RecordID(try row.text(1)), let kind = DeviceRecord.Kind(rawValue: try row.text(2)) else {
            throw SQLFault.unexpectedColumn(1)
        }
        let epoch = Timestamp(milliseconds: 0)
        return DeviceRecord(
            id: id, kind: kind, handle: nil, tags: DeviceRow.tags(try row.text(13)), userID: try row.optionalText(14),
            createdAt: epoch, registeredAt: epoch, sliceKey: .last, parent: try row.optionalText(9).flatMap(RecordID.init)
        ).matchingTags
    }
}
