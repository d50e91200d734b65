import AppBackend
import RichPushModel
import ServiceErrors

/// Which contents there are, and which bytes nothing refers to any more.
extension SQLBackendStore {
    public func stage(_ content: ContentRecord, quota: ContentQuota, at now: Timestamp) async throws {
        try await writing { transaction in
            try transaction.requireUser(content.owner)
            // The counter's row orders uploads at the same moment, on engines with many writers too.
            _ = try transaction.next(.content)
            try quota.check(content.byteCount, beside: try transaction.contentUse(of: content.owner, at: now))
            try transaction.store(content, at: now)
        }
    }

    public func contentUse(of owner: UserID, at now: Timestamp) async throws -> ContentUse {
        try await reading { try $0.contentUse(of: owner, at: now) }
    }

    public func keep(_ content: ContentRecord, at now: Timestamp) async throws {
        try await writing { transaction in
            let old = try transaction.row(ContentSQL.selectDigest, content.id)?.text(0)
            try transaction.store(content, at: now)
            if let old, old != content.digest.text { try transaction.connection.run(ContentSQL.insertOrphan, [.text(old)]) }
        }
    }

    public func content(_ id: String, at now: Timestamp) async throws -> ContentRecord? {
        try await reading { transaction in
            guard let row = try transaction.row(ContentSQL.select, id), let record = try ContentRecord(row, from: 0) else {
                return nil
            }
            return record.expiresAt.map { now < $0 } ?? true ? record : nil
        }
    }

    public func removeExpiredContents(before moment: Timestamp, limit: Int) async throws -> Int {
        try await writing { try $0.removeContents(among: try $0.rows(ContentSQL.selectExpired, moment, limit)) }
    }

    public func orphans(
        after digest: ContentDigest?, limit: Int
    ) async throws -> (digests: [ContentDigest], next: ContentDigest?) {
        try await database.writing { connection in
            let rows = try connection.rows(ContentSQL.selectOrphans, [.text(digest?.text ?? ""), .integer(Int64(limit))])
            var digests: [ContentDigest] = []
            for row in rows {
                let isAdopted = try row.integer(1) != 0
                if isAdopted { try connection.run(ContentSQL.deleteOrphan, [row.values[0]]) }
                if !isAdopted, let digest = ContentDigest(try row.text(0)) { digests.append(digest) }
            }
            return (digests, rows.count == limit ? try rows.last.flatMap { ContentDigest(try $0.text(0)) } : nil)
        }
    }

    public func noteOrphans(among digests: [ContentDigest]) async throws {
        let orphans = try await database.reading { connection in
            try digests.filter { try connection.row(ContentSQL.selectByDigest, [.text($0.text)]) == nil }
        }
        guard !orphans.isEmpty else { return }
        try await database.writing { connection in
            for digest in orphans { try connection.run(ContentSQL.insertOrphan, [.text(digest.text)]) }
        }
    }

    public func forgetOrphan(_ digest: ContentDigest) async throws {
        _ = try await database.writing { try $0.run(ContentSQL.deleteOrphan, [.text(digest.text)]) }
    }
}

/// What needs a content.
enum ContentHolder {
    case send(Int64)
    /// One that waits.
    case schedule(Int64)
    /// A version of a message template.
    case template(String, Int64)

    fileprivate var text: String {
        switch self {
        case .send(let id): "send \(id)"
        case .schedule(let id): "schedule \(id)"
        case .template(let name, let version): "template \(name) \(version)"
        }
    }
}

/// Which sends and schedules need which contents. What is needed does not expire by itself.
extension BackendTransaction {
    /// Notes that the holder needs these contents of the owner, and none that it needed before. Throws `not-found` with the field of one
    /// that is not theirs or has expired.
    func claim(
        _ contents: [(id: String, field: String)], of owner: UserID, for holder: ContentHolder, at now: Timestamp
    ) throws {
        var known: Set<String> = []
        for content in contents where known.insert(content.id).inserted {
            guard try run(ContentSQL.keep, content.id, owner, now) > 0 else {
                throw ServiceError(.notFound, "\(content.field): there is no such content of yours")
            }
        }
        let former = try rows(ContentSQL.deleteClaims, holder.text)
        for content in known { try run(ContentSQL.insertClaim, content, holder.text) }
        for row in former { try run(ContentSQL.expire, row.values[0], now) }
    }

    /// The holder needs no content any more. A content that no other needs expires now; its owner has the bytes back, and the sweeper
    /// removes it.
    func release(_ holder: ContentHolder, at now: Timestamp) throws {
        for row in try rows(ContentSQL.deleteClaims, holder.text) { try run(ContentSQL.expire, row.values[0], now) }
    }
}

extension BackendTransaction {
    /// Removes at most `limit` contents of an owner; returns how many.
    func removeContents(of owner: UserID, limit: Int) throws -> Int {
        try removeContents(among: try rows(ContentSQL.selectOfOwner, owner, limit))
    }

    /// Removes contents, given as id and digest, and notes their bytes.
    fileprivate func removeContents(among rows: [SQLRow]) throws -> Int {
        for row in rows {
            try run(ContentSQL.delete, row.values[0])
            try run(ContentSQL.forgetClaims, row.values[0])
            try connection.run(ContentSQL.insertOrphan, [row.values[1]])
        }
        return rows.count
    }

    fileprivate func contentUse(of owner: UserID, at now: Timestamp) throws -> ContentUse {
        ContentUse(
            bytes: try row(ContentSQL.sumOfBytes, owner, now, ContentQuota.smallest)?.integer(0) ?? 0,
            waiting: Int(try row(ContentSQL.countWaiting, owner, now)?.integer(0) ?? 0))
    }

    func store(_ content: ContentRecord, at now: Timestamp) throws {
        try run(
            ContentSQL.upsert, content.id, content.owner, content.digest.text, content.mediaType, content.byteCount,
            content.fileName, now, content.expiresAt)
    }
}

extension ContentRecord {
    /// The columns in the order in which a record is read, for a table or an alias of it.
    static func columns(of table: String) -> String {
        ["content_id", "owner_id", "digest", "media_type", "byte_count", "file_name", "expires_at"]
            .map { "\(table).\($0)" }.joined(separator: ", ")
    }

    /// How many columns those are.
    static let columnCount = 7

    /// Reads the columns from `start` on; `nil` when they are null, because nothing was joined.
    init?(_ row: SQLRow, from start: Int) throws {
        guard let id = try row.optionalText(start) else { return nil }
        self.init(
            id: id, owner: UserID(try row.integer(start + 1)), digest: try row.parsed(start + 2) { ContentDigest($0) },
            mediaType: try row.text(start + 3), byteCount: try row.integer(start + 4),
            fileName: try row.optionalText(start + 5), expiresAt: try row.optionalMoment(start + 6))
    }
}

extension SQLStatement { static let ofContents = ContentSQL.all }

private enum ContentSQL {
    static let all = [
        sumOfBytes, countWaiting, upsert, select, selectDigest, selectExpired, selectOfOwner, delete, insertOrphan,
        selectByDigest, selectOrphans, deleteOrphan, keep, insertClaim, deleteClaims, forgetClaims, expire,
    ]

    static let keep = SQLStatement(
        """
        UPDATE contents SET expires_at = NULL
        WHERE app_id = $1 AND content_id = $2 AND owner_id = $3 AND (expires_at IS NULL OR expires_at > $4)
        """)
    static let insertClaim = SQLStatement("INSERT INTO content_claims (app_id, content_id, holder) VALUES ($1, $2, $3)")
    static let deleteClaims = SQLStatement(
        "DELETE FROM content_claims WHERE app_id = $1 AND holder = $2 RETURNING content_id")
    static let forgetClaims = SQLStatement("DELETE FROM content_claims WHERE app_id = $1 AND content_id = $2")
    static let expire = SQLStatement(
        """
        UPDATE contents SET expires_at = $3 WHERE app_id = $1 AND content_id = $2 AND expires_at IS NULL
            AND NOT EXISTS (SELECT 1 FROM content_claims c WHERE c.app_id = $1 AND c.content_id = $2)
        """)

    static let sumOfBytes = SQLStatement(
        """
        SELECT CAST(COALESCE(SUM(CASE WHEN byte_count < $4 THEN $4 ELSE byte_count END), 0) AS BIGINT) FROM contents
        WHERE app_id = $1 AND owner_id = $2 AND (expires_at IS NULL OR expires_at > $3)
        """)
    static let countWaiting = SQLStatement(
        "SELECT COUNT(*) FROM contents WHERE app_id = $1 AND owner_id = $2 AND expires_at > $3")
    static let upsert = SQLStatement(
        """
        INSERT INTO contents
            (app_id, content_id, owner_id, digest, media_type, byte_count, file_name, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        ON CONFLICT (app_id, content_id) DO UPDATE SET digest = excluded.digest, media_type = excluded.media_type,
            byte_count = excluded.byte_count, file_name = excluded.file_name, expires_at = excluded.expires_at
        """)
    static let select = SQLStatement(
        composed: "SELECT \(ContentRecord.columns(of: "contents")) FROM contents WHERE app_id = $1 AND content_id = $2")
    static let selectDigest = SQLStatement("SELECT digest FROM contents WHERE app_id = $1 AND content_id = $2")
    static let selectExpired = SQLStatement(
        """
        SELECT content_id, digest FROM contents WHERE app_id = $1 AND expires_at <= $2 ORDER BY expires_at, content_id LIMIT $3
        """)
    static let selectOfOwner = SQLStatement(
        "SELECT content_id, digest FROM contents WHERE app_id = $1 AND owner_id = $2 LIMIT $3")
    static let delete = SQLStatement("DELETE FROM contents WHERE app_id = $1 AND content_id = $2")
    static let insertOrphan = SQLStatement("INSERT INTO content_orphans (digest) VALUES ($1) ON CONFLICT DO NOTHING")
    static let selectByDigest = SQLStatement("SELECT digest FROM contents WHERE digest = $1 LIMIT 1")
    static let selectOrphans = SQLStatement(
        """
        SELECT digest, CASE WHEN EXISTS (SELECT 1 FROM contents WHERE contents.digest = content_orphans.digest) THEN 1 ELSE 0 END
        FROM content_orphans WHERE digest > $1 ORDER BY digest LIMIT $2
        """)
    static let deleteOrphan = SQLStatement("DELETE FROM content_orphans WHERE digest = $1")
}
