import PushHub
import RichPushModel
import TagExpressions

/// Reads the next matching records of a slice, in order of key.
struct AudienceWalk {
    let hub: HubID
    let plan: TagExpression.Plan
    let filter: AudienceFilter
    let connection: any SQLConnection

    /// Rows read at once.
    private static let chunk = 1_000

    private struct Chunk {
        var rows: [SQLRow]
        /// Up to where the index was read; nil when there is nothing more in it. An entry without a record counts as read.
        var through: SliceKey?
    }

    /// At most `limit` candidates after `cursor`, for which at most about `scanLimit` records are looked at.
    func next(after cursor: SliceKey, last: SliceKey, limit: Int, scanLimit: Int) throws -> SlicePage.Walk {
        var walk = SlicePage.Walk(candidates: [], through: cursor)
        var scanned = 0
        while scanned < scanLimit, walk.candidates.count < limit {
            let chunk = try chunk(after: walk.through, last: last)
            for row in chunk.rows {
                let record = try DeviceRows.record(row)
                if filter.means(record) {
                    walk.candidates.append(.init(record: record, isSkipped: try isSkipped(record, row)))
                }
                walk.through = record.sliceKey
                if walk.candidates.count == limit { return walk }
            }
            guard let through = chunk.through else {
                walk.through = last
                return walk
            }
            walk.through = through
            scanned += Self.chunk
        }
        return walk
    }

    /// The record's column after the usual ones says whether another one with its handle has a lower key.
    private func isSkipped(_ record: DeviceRecord, _ row: SQLRow) throws -> Bool {
        guard record.platform == .apns else { return true }
        guard try row.integer(14) == 1, let handle = record.handle else { return false }
        let twins = try connection.rows(
            Self.selectTwins,
            [.integer(hub.number), .text(record.platform.rawValue), .text(handle.text), .integer(record.sliceKey.number)])
        return try twins.contains { filter.means(try DeviceRows.record($0)) }
    }

    private func chunk(after key: SliceKey, last: SliceKey) throws -> Chunk {
        let limit = SQLValue.integer(Int64(Self.chunk))
        let range: [SQLValue] = [.integer(hub.number), .integer(key.number), .integer(last.number), limit]
        switch plan {
        case .scan:
            return try Self.whole(connection.rows(Self.scan, range))
        case .tags(let tags) where tags.count == 1:
            return try Self.whole(connection.rows(Self.scanTag, range + [.text(tags.first?.folded ?? "")]))
        case .tags(let tags):
            let keys = try keys(tags, range)
            let rows = try keys.compactMap { try connection.row(Self.one, [.integer(hub.number), .integer($0)]) }
            return Chunk(rows: rows, through: keys.count < Self.chunk ? nil : keys.last.map { SliceKey($0) })
        }
    }

    private static func whole(_ rows: [SQLRow]) throws -> Chunk {
        Chunk(rows: rows, through: rows.count < chunk ? nil : try rows.last.map { SliceKey(try $0.integer(13)) })
    }

    /// The lowest keys of all the tags together: each tag gives its lowest, and the lowest of those are the lowest of all.
    private func keys(_ tags: Set<Tag>, _ range: [SQLValue]) throws -> ArraySlice<Int64> {
        var keys: Set<Int64> = []
        for tag in tags {
            for row in try connection.rows(Self.keysOfTag, range + [.text(tag.folded)]) { keys.insert(try row.integer(0)) }
        }
        return keys.sorted().prefix(Self.chunk)
    }

    static let all = [scan, scanTag, keysOfTag, one, selectTwins]

    /// The columns of a record and whether another one with its handle has a lower key.
    private static let columns =
        DeviceRows.columns.split(separator: ", ").map { "d.\($0)" }.joined(separator: ", ") + """
            , CASE WHEN EXISTS (SELECT 1 FROM devices o WHERE o.hub_id = d.hub_id AND o.platform = d.platform
                AND o.handle = d.handle AND o.slice_key < d.slice_key) THEN 1 ELSE 0 END
            """
    private static let scan = SQLStatement(
        composed: """
            SELECT \(columns) FROM devices d WHERE d.hub_id = $1 AND d.slice_key > $2 AND d.slice_key <= $3
            ORDER BY d.slice_key LIMIT $4
            """)
    private static let scanTag = SQLStatement(
        composed: """
            SELECT \(columns) FROM device_tags t JOIN devices d ON d.hub_id = t.hub_id AND d.slice_key = t.slice_key
            WHERE t.hub_id = $1 AND t.tag = $5 AND t.slice_key > $2 AND t.slice_key <= $3 ORDER BY t.slice_key LIMIT $4
            """)
    private static let keysOfTag = SQLStatement(
        """
        SELECT slice_key FROM device_tags WHERE hub_id = $1 AND tag = $5 AND slice_key > $2 AND slice_key <= $3
        ORDER BY slice_key LIMIT $4
        """)
    private static let one = SQLStatement(
        composed: "SELECT \(columns) FROM devices d WHERE d.hub_id = $1 AND d.slice_key = $2")
    private static let selectTwins = SQLStatement(
        composed: """
            SELECT \(DeviceRows.columns) FROM devices
            WHERE hub_id = $1 AND platform = $2 AND handle = $3 AND slice_key < $4 ORDER BY slice_key LIMIT 100
            """)
}
