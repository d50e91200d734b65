import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions

/// The devices of hubs.
public struct SQLDeviceStore: DeviceStore {
    let database: any SQLDatabase

    public init(_ database: any SQLDatabase) { self.database = database }

    public func upsert(
        _ request: DeviceUpsert, in hub: HubID, at now: Timestamp, allowing: ReplacementCheck?
    ) async throws -> StoredDevice {
        try await database.writing { connection in
            try Self.check(allowing, request.id, in: hub, connection)
            return try Self.upsert(request, in: hub, at: now, connection)
        }
    }

    /// The same within a transaction. A refusal leaves nothing written.
    static func upsert(
        _ request: DeviceUpsert, in hub: HubID, at now: Timestamp, _ connection: any SQLConnection
    ) throws -> StoredDevice {
        let old = try DeviceRows.find(request.id, in: hub, connection)
        try request.precondition.check(old?.record.version)
        let kept = try old.map { try clear($0, for: request, hub, connection) } ?? [:]
        let replaced = try removeSameHandle(request, hub, connection)
        let writing = DeviceWriting(hub: hub, connection: connection)
        let record = try writing.put(record(request, over: old, now), over: old)
        for token in request.tokenRecords(over: record) { _ = try writing.put(token, over: kept[token.id]) }
        return StoredDevice(record: record, replaced: replaced)
    }

    public func device(_ id: RecordID, in hub: HubID) async throws -> DeviceRecord? {
        try await database.reading { connection in
            guard let row = try DeviceRows.find(id, in: hub, connection) else { return nil }
            return try TemplateRows.filled([row], in: hub, connection).first
        }
    }

    public func remove(
        _ id: RecordID, expecting precondition: DevicePrecondition, in hub: HubID, allowing: ReplacementCheck?
    ) async throws -> Bool {
        try await database.writing { connection in
            try Self.check(allowing, id, in: hub, connection)
            return try Self.remove(id, expecting: precondition, in: hub, connection)
        }
    }

    /// The same within a transaction. A refusal leaves nothing written.
    static func remove(
        _ id: RecordID, expecting precondition: DevicePrecondition, in hub: HubID, _ connection: any SQLConnection
    ) throws -> Bool {
        let found = try DeviceRows.find(id, in: hub, connection)
        try precondition.check(found?.record.version)
        guard let row = found else { return false }
        try DeviceRows.remove(row, in: hub, connection)
        return true
    }

    public func devices(
        with handle: DeviceToken, platform: Platform, in hub: HubID, limit: Int
    ) async throws -> [DeviceRecord] {
        let request = DeviceListRequest(.handles([handle], platform: platform), limit: limit)
        return try await devices(request, in: hub).records
    }

    public func count(in hub: HubID) async throws -> Int {
        try await database.reading { Int(try $0.row(Self.count, [.integer(hub.number)])?.integer(0) ?? 0) }
    }

    public func sweep(expiredBefore moment: Timestamp, limit: Int) async throws -> Int {
        try await database.writing { connection in
            let values: [SQLValue] = [.integer(moment.milliseconds), .integer(Int64(limit))]
            let expired = try connection.rows(Self.selectExpired, values).map {
                (hub: HubID(try $0.integer(0)), key: SliceKey(try $0.integer(1)))
            }
            // One of them may go with another.
            for (hub, key) in expired {
                if let row = try DeviceRows.find(key, in: hub, connection) { try DeviceRows.remove(row, in: hub, connection) }
            }
            return expired.count
        }
    }
}

extension SQLDeviceStore {
    public func settleZones(at now: Timestamp, limit: Int) async throws -> Int {
        try await database.writing { connection in
            let until = now - DeviceZone.settling
            let found = try connection.rows(Self.selectUnsettled, [.integer(until.milliseconds), .integer(Int64(limit))])
            for row in found {
                let (hub, key) = (HubID(try row.integer(0)), SliceKey(try row.integer(1)))
                guard let old = try DeviceRows.find(key, in: hub, connection), let next = old.record.zone.next else { continue }
                var record = old.record
                record.zone = record.zone.reported(next, at: now)
                try DeviceRows.settle(record, over: old.record, in: hub, connection)
            }
            return found.count
        }
    }

    /// What an installation of that name has besides goes with what the request replaces. Returns the tokens that stay.
    private static func clear(
        _ old: DeviceRow, for request: DeviceUpsert, _ hub: HubID, _ connection: any SQLConnection
    ) throws -> [RecordID: DeviceRow] {
        guard old.record.kind == .installation else { return [:] }
        if old.record.parent != nil { throw Self.belongsToAnInstallation }
        if request.kind == .registration { throw Self.belongsToAnInstallation }
        let wanted = Set(request.tokenRecords(over: old.record).map(\.id))
        var kept: [RecordID: DeviceRow] = [:]
        for row in try DeviceRows.derived(from: old.record.id, in: hub, connection) {
            if wanted.contains(row.record.id) {
                kept[row.record.id] = row
            } else {
                try DeviceRows.removeAlone(row, in: hub, connection)
            }
        }
        return kept
    }

    private static let belongsToAnInstallation = ServiceError(
        .conflict, "this record belongs to an installation; change the installation instead")

    private static func removeSameHandle(
        _ request: DeviceUpsert, _ hub: HubID, _ connection: any SQLConnection
    ) throws -> [RecordID] {
        guard request.replacesSameHandle, let handle = request.handle else { return [] }
        let others = try connection.rows(
            selectOthers,
            [.integer(hub.number), .text(request.platform.rawValue), .text(handle.text), .text(request.id.text)]
        ).map(DeviceRow.init)
        for other in others { try DeviceRows.remove(other, in: hub, connection) }
        return others.filter { $0.record.parent == nil }.map(\.record.id)
    }

    private static func record(_ request: DeviceUpsert, over old: DeviceRow?, _ now: Timestamp) -> DeviceRecord {
        var record = DeviceRecord(
            id: request.id, kind: request.kind, platform: request.platform, handle: request.handle,
            environment: request.environment, topic: request.topic, tags: request.tags, userID: request.userID,
            createdAt: old?.record.createdAt ?? now, registeredAt: now, expiresAt: request.expiresAt,
            version: (old?.record.version ?? 0) + 1, template: request.template, pushVariables: request.pushVariables,
            details: request.details)
        // A device that is new has had no zone before.
        record.zone = old?.record.zone ?? DeviceZone(request.timeZone ?? "")
        if let reported = request.timeZone { record.zone = record.zone.reported(reported, at: now) }
        record.languages = request.languages ?? old?.record.languages ?? record.languages
        return record
    }

    static let all = [selectOthers, count, selectExpired, selectUnsettled] + listStatements

    private static let selectUnsettled = SQLStatement(
        """
        SELECT hub_id, slice_key FROM devices WHERE next_zone IS NOT NULL AND zone_changed_at <= $1
        ORDER BY zone_changed_at, hub_id, slice_key LIMIT $2
        """)

    private static let selectOthers = SQLStatement(
        composed: """
            SELECT \(DeviceRow.columns) FROM devices
            WHERE +hub_id = $1 AND platform = $2 AND handle = $3 AND record_id <> $4
            """)
    private static let count = SQLStatement(
        composed: "SELECT COUNT(*) FROM devices WHERE hub_id = $1 AND \(isSeen("platform"))")
    private static let selectExpired = SQLStatement(
        "SELECT hub_id, slice_key FROM devices WHERE expires_at < $1 ORDER BY expires_at LIMIT $2")
}

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
                // The keys of a browser stand behind its endpoint.
                guard platform == nil || platform == .browser else { continue }
                rows += try connection.rows(listEndpoint, range + [.text(handle.text + " "), .text(handle.text + "!")])
                    .map(DeviceRow.init)
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
            let send = SendAudience(hub: hub, query: query, format: format, mark: .last, now: now)
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

    /// How many entries of the index a count reads, and how many of each tag in one page.
    private static let countedEntries = 100_000
    private static let countedPage = 1_000

    public func count(
        _ audience: TagExpression?, format: SendFormat, in hub: HubID, at now: Timestamp, limit: Int
    ) async throws -> AudienceCount {
        let query = try await database.reading { try AudienceIndex.query(audience, hub, $0) }
        let send = SendAudience(hub: hub, query: query, format: format, mark: .last, now: now)
        var (count, cursor, entries) = (0, SliceKey.beforeAll, 0)
        while cursor < .last, count <= limit, entries < Self.countedEntries {
            try Task.checkCancellation()
            // One reading for each page, so that no count keeps a reader from others for long.
            let (after, wanted) = (cursor, min(Self.countedPage, limit + 1 - count))
            let piece = try await database.reading {
                try AudienceWalk(send, isBounded: true, $0)
                    .next(after: after, last: .last, limit: wanted, scanLimit: Self.countedPage)
            }
            count += piece.targets.pushCount
            cursor = piece.through
            // Several tags are merged, and of each of them so many entries are read.
            entries += Self.countedPage * max(1, send.shape.coverTags)
        }
        return AudienceCount(targets: min(count, limit), isComplete: count <= limit && cursor >= .last)
    }

    static let listStatements = [listAll, listTag, listHandle, listEndpoint]

    private static let listAll = SQLStatement(
        composed: """
            SELECT \(DeviceRow.columns) FROM devices
            WHERE hub_id = $1 AND slice_key > $2 AND handle IS NOT NULL AND \(isSeen("platform")) ORDER BY slice_key LIMIT $3
            """)
    private static let listTag = SQLStatement(
        composed: """
            SELECT \(DeviceRow.columnsOfD) FROM device_tags t
            JOIN devices d ON d.hub_id = t.hub_id AND d.slice_key = t.slice_key
            WHERE t.hub_id = $1 AND t.slice_key > $2 AND t.tag = $4 AND d.handle IS NOT NULL AND \(isSeen("d.platform"))
            ORDER BY t.slice_key LIMIT $3
            """)
    private static let listHandle = SQLStatement(
        composed: """
            SELECT \(DeviceRow.columns) FROM devices
            WHERE +hub_id = $1 AND slice_key > $2 AND handle = $4 AND ($5 = '' OR platform = $5) AND \(isSeen("platform"))
            ORDER BY slice_key LIMIT $3
            """)

    private static let listEndpoint = SQLStatement(
        composed: """
            SELECT \(DeviceRow.columns) FROM devices
            WHERE +hub_id = $1 AND slice_key > $2 AND handle > $4 AND handle < $5 AND platform = 'browser'
            ORDER BY slice_key LIMIT $3
            """)

    /// Whether lists have the records of a platform: those of the kinds of `InstallationToken` are in none.
    private static func isSeen(_ platform: String) -> String { "\(platform) NOT LIKE 'apns.%'" }
}
