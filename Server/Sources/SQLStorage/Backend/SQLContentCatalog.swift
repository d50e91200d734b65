import AppBackend
import RichPushModel
import ServiceErrors

/// The contents of one app.
public struct SQLContentCatalog: ContentCatalog {
    private let database: any SQLDatabase
    private let app: AppID

    /// Creates the store.
    public init(_ database: any SQLDatabase, app: AppID = .standard) {
        self.database = database
        self.app = app
    }

    public func stage(_ content: ContentRecord, quota: ContentQuota, at now: Timestamp) async throws {
        try await database.writing { [app] connection in
            try BackendRows.requireUser(content.owner, app, connection)
            // The counter's row orders uploads at the same moment, on engines with many writers too.
            _ = try BackendRows.next(.content, of: app, connection)
            try quota.check(content.byteCount, beside: try Self.use(of: content.owner, app, at: now, connection))
            try connection.run(Self.upsert, Self.values(content, app, now))
        }
    }

    public func use(of owner: UserID, at now: Timestamp) async throws -> ContentUse {
        try await database.reading { [app] in try Self.use(of: owner, app, at: now, $0) }
    }

    public func keep(_ content: ContentRecord, at now: Timestamp) async throws {
        try await database.writing { [app] connection in
            let old = try connection.row(Self.selectDigest, [.integer(app.number), .text(content.id)])?.text(0)
            try connection.run(Self.upsert, Self.values(content, app, now))
            if let old, old != content.digest.text { try connection.run(Self.insertOrphan, [.text(old)]) }
        }
    }

    public func content(_ id: String, at now: Timestamp) async throws -> ContentRecord? {
        try await database.reading { [app] connection in
            guard let row = try connection.row(Self.select, [.integer(app.number), .text(id)]),
                let record = try ContentRows.record(row, from: 0)
            else { return nil }
            return record.expiresAt.map { now < $0 } ?? true ? record : nil
        }
    }

    public func removeExpired(before moment: Timestamp, limit: Int) async throws -> Int {
        try await database.writing { [app] connection in
            let rows = try connection.rows(
                Self.selectExpired, [.integer(app.number), .integer(moment.milliseconds), .integer(Int64(limit))])
            for row in rows { try Self.remove(row, app, connection) }
            return rows.count
        }
    }

    public func orphans(after digest: ContentDigest?, limit: Int) async throws -> OrphanPage {
        try await database.writing { connection in
            let rows = try connection.rows(Self.selectOrphans, [.text(digest?.text ?? ""), .integer(Int64(limit))])
            var page = OrphanPage(digests: [], next: nil)
            for row in rows {
                let isAdopted = try row.integer(1) != 0
                if isAdopted { try connection.run(Self.deleteOrphan, [row.values[0]]) }
                if !isAdopted, let digest = ContentDigest(try row.text(0)) { page.digests.append(digest) }
            }
            page.next = rows.count == limit ? try rows.last.flatMap { ContentDigest(try $0.text(0)) } : nil
            return page
        }
    }

    public func noteStrays(among digests: [ContentDigest]) async throws {
        let strays = try await database.reading { connection in
            try digests.filter { try connection.row(Self.selectByDigest, [.text($0.text)]) == nil }
        }
        guard !strays.isEmpty else { return }
        try await database.writing { connection in
            for digest in strays { try connection.run(Self.insertOrphan, [.text(digest.text)]) }
        }
    }

    public func forgetOrphan(_ digest: ContentDigest) async throws {
        _ = try await database.writing { try $0.run(Self.deleteOrphan, [.text(digest.text)]) }
    }
}

extension SQLContentCatalog {
    /// Removes a content, given as id and digest, and notes its bytes.
    static func remove(_ row: SQLRow, _ app: AppID, _ connection: any SQLConnection) throws {
        try connection.run(delete, [.integer(app.number), .text(try row.text(0))])
        try connection.run(insertOrphan, [.text(try row.text(1))])
    }

    private static func use(
        of owner: UserID, _ app: AppID, at now: Timestamp, _ connection: any SQLConnection
    ) throws -> ContentUse {
        let values: [SQLValue] = [.integer(app.number), .integer(owner.number), .integer(now.milliseconds)]
        let bytes = try connection.row(sumOfBytes, values + [.integer(ContentQuota.smallest)])?.integer(0) ?? 0
        return ContentUse(bytes: bytes, waiting: Int(try connection.row(countWaiting, values)?.integer(0) ?? 0))
    }

    private static func values(_ content: ContentRecord, _ app: AppID, _ now: Timestamp) -> [SQLValue] {
        [
            .integer(app.number), .text(content.id), .integer(content.owner.number), .text(content.digest.text),
            .text(content.mediaType), .integer(content.byteCount), .optional(content.fileName), .integer(now.milliseconds),
            .optional(content.expiresAt?.milliseconds),
        ]
    }

    static let all = [
        sumOfBytes, countWaiting, upsert, select, selectDigest, selectExpired, delete, insertOrphan, selectByDigest,
        selectOrphans, deleteOrphan,
    ]

    private static let sumOfBytes = SQLStatement(
        """
        SELECT CAST(COALESCE(SUM(CASE WHEN byte_count < $4 THEN $4 ELSE byte_count END), 0) AS BIGINT) FROM contents
        WHERE app_id = $1 AND owner_id = $2 AND (expires_at IS NULL OR expires_at > $3)
        """)
    private static let countWaiting = SQLStatement(
        "SELECT COUNT(*) FROM contents WHERE app_id = $1 AND owner_id = $2 AND expires_at > $3")
    private static let upsert = SQLStatement(
        """
        INSERT INTO contents
            (app_id, content_id, owner_id, digest, media_type, byte_count, file_name, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        ON CONFLICT (app_id, content_id) DO UPDATE SET digest = excluded.digest, media_type = excluded.media_type,
            byte_count = excluded.byte_count, file_name = excluded.file_name, expires_at = excluded.expires_at
        """)
    private static let select = SQLStatement(
        composed: "SELECT \(ContentRows.columns(of: "contents")) FROM contents WHERE app_id = $1 AND content_id = $2")
    private static let selectDigest = SQLStatement("SELECT digest FROM contents WHERE app_id = $1 AND content_id = $2")
    private static let selectExpired = SQLStatement(
        """
        SELECT content_id, digest FROM contents WHERE app_id = $1 AND expires_at <= $2 ORDER BY expires_at, content_id LIMIT $3
        """)
    private static let delete = SQLStatement("DELETE FROM contents WHERE app_id = $1 AND content_id = $2")
    private static let insertOrphan = SQLStatement("INSERT INTO content_orphans (digest) VALUES ($1) ON CONFLICT DO NOTHING")
    private static let selectByDigest = SQLStatement("SELECT digest FROM contents WHERE digest = $1 LIMIT 1")
    private static let selectOrphans = SQLStatement(
        """
        SELECT digest, CASE WHEN EXISTS (SELECT 1 FROM contents WHERE contents.digest = content_orphans.digest) THEN 1 ELSE 0 END
        FROM content_orphans WHERE digest > $1 ORDER BY digest LIMIT $2
        """)
    private static let deleteOrphan = SQLStatement("DELETE FROM content_orphans WHERE digest = $1")
}
