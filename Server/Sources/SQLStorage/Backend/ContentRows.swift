import AppBackend
import RichPushModel

/// Content records as rows.
enum ContentRows {
    /// The columns in the order in which `record` reads them, for a table or an alias of it.
    static func columns(of table: String) -> String {
        ["content_id", "owner_id", "digest", "media_type", "byte_count", "file_name", "expires_at"]
            .map { "\(table).\($0)" }.joined(separator: ", ")
    }

    /// How many columns those are.
    static let width = 7

    /// Reads the columns from `start` on; `nil` when they are null, because nothing was joined.
    static func record(_ row: SQLRow, from start: Int) throws -> ContentRecord? {
        guard let id = try row.optionalText(start) else { return nil }
        guard let digest = ContentDigest(try row.text(start + 2)) else { throw SQLFault.unexpectedColumn(start + 2) }
        return ContentRecord(
            id: id, owner: UserID(try row.integer(start + 1)), digest: digest, mediaType: try row.text(start + 3),
            byteCount: try row.integer(start + 4), fileName: try row.optionalText(start + 5),
            expiresAt: try row.optionalInteger(start + 6).map(Timestamp.init(milliseconds:)))
    }
}
