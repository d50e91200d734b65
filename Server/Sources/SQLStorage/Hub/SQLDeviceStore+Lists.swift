import PushHub
import RichPushModel
import TagExpressions

extension SQLDeviceStore {
    public func devices(_ request: DeviceListRequest, in hub: HubID) async throws -> DevicePage {
        try await database.reading { connection in
            var page = DevicePage(records: [], next: request.after)
            var templates = TemplateReading(hub, connection)
            var bytes = 0
            var rest = request
            while let after = page.next, page.records.count < request.limit {
                rest.after = after
                let step = min(Self.listStep, request.limit - page.records.count)
                // One more than is wanted says whether there is a next page.
                let rows = try Self.rows(rest, limit: step + 1, hub, connection)
                for row in rows.prefix(step) {
                    let record = try request.readsTemplates ? templates.filled(row) : row.record
                    bytes += record.textBytes
                    guard bytes <= request.byteLimit || page.records.isEmpty else { return page }
                    page.records.append(record)
                    page.next = record.sliceKey
                }
                if rows.count <= step { page.next = nil }
            }
            return page
        }
    }

    /// How many records of a page are read at once, before their templates: these are the long part.
    private static let listStep = 100

    private static func rows(
        _ request: DeviceListRequest, limit: Int, _ hub: HubID, _ connection: any SQLConnection
    ) throws -> [DeviceRow] {
        let range: [SQLValue] = [.integer(hub.number), .integer(request.after.number), .integer(Int64(limit))]
        switch request.selection {
        case .all:
            return try connection.rows(listAll, range).map(DeviceRow.init)
        case .tag(let tag):
            return try connection.rows(listTag, range + [.text(tag.folded)]).map(DeviceRow.init)
        case .handles(let handles, let platform):
            var rows: [DeviceRow] = []
            for handle in Set(handles) {
                let values = range + [.text(handle.text), .text(platform?.rawValue ?? "")]
                rows += try connection.rows(listHandle, values).map(DeviceRow.init)
            }
            return Array(rows.sorted { $0.record.sliceKey < $1.record.sliceKey }.prefix(limit))
        }
    }

    public func sample(
        _ audience: TagExpression?, format: SendFormat, in hub: HubID, at now: Timestamp, limit: Int
    ) async throws -> [DeviceRecord] {
        let start = SliceKey(.random(in: .min ... .max))
        return try await database.reading { connection in
            let query = try AudienceIndex.query(audience, hub, connection)
            let send = AudienceSend(hub: hub, query: query, format: format, mark: .last, now: now)
            var keys: [SliceKey] = []
            for (after, last) in [(start, SliceKey.last), (SliceKey.beforeAll, start)] where keys.count < limit {
                let walk = AudienceWalk(send, connection)
                keys += try Self.keys(walk, after: after, last: last, limit: limit - keys.count)
            }
            let rows = try keys.compactMap { try DeviceRows.find($0, in: hub, connection) }
            return try TemplateRows.filled(rows, in: hub, connection)
        }
    }

    private static func keys(_ walk: AudienceWalk, after: SliceKey, last: SliceKey, limit: Int) throws -> [SliceKey] {
        var keys: [SliceKey] = []
        var cursor = after
        while cursor < last, keys.count < limit {
            let piece = try walk.next(after: cursor, last: last, limit: limit - keys.count, scanLimit: 10_000)
            keys += piece.targets.filter { !$0.isSkipped }.map(\.key)
            cursor = piece.through
        }
        return keys
    }

    static let listStatements = [listAll, listTag, listHandle]

    private static let listAll = SQLStatement(
        composed: """
            SELECT \(DeviceRow.columns) FROM devices
            WHERE hub_id = $1 AND slice_key > $2 AND handle IS NOT NULL ORDER BY slice_key LIMIT $3
            """)
    private static let listTag = SQLStatement(
        composed: """
            SELECT \(DeviceRow.columnsOfD) FROM device_tags t
            JOIN devices d ON d.hub_id = t.hub_id AND d.slice_key = t.slice_key
            WHERE t.hub_id = $1 AND t.slice_key > $2 AND t.tag = $4 AND d.handle IS NOT NULL ORDER BY t.slice_key LIMIT $3
            """)
    private static let listHandle = SQLStatement(
        composed: """
            SELECT \(DeviceRow.columns) FROM devices
            WHERE +hub_id = $1 AND slice_key > $2 AND handle = $4 AND ($5 = '' OR platform = $5) ORDER BY slice_key LIMIT $3
            """)
}
