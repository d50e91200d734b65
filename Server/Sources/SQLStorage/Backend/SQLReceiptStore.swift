import AppBackend
import RichPushModel

/// The receipts of one app.
public struct SQLReceiptStore: ReceiptStore {
    private let database: any SQLDatabase
    private let app: AppID

    /// Creates the store.
    public init(_ database: any SQLDatabase, app: AppID = .standard) {
        self.database = database
        self.app = app
    }

    public func record(_ receipts: [StoredReceipt], at now: Timestamp) async throws -> [StoredReceipt] {
        guard !receipts.isEmpty else { return [] }
        return try await database.writing { [app] connection in
            // A notification that was removed meanwhile must not leave receipts behind that nothing removes.
            for user in Set(receipts.map(\.user)) { try BackendRows.requireUser(user, app, connection) }
            let known = try Set(receipts.map(\.receipt.richID)).filter {
                try SQLRichNotificationStore.exists($0, app, connection)
            }
            return try receipts.filter {
                try known.contains($0.receipt.richID)
                    && connection.run(Self.insert, Self.values($0, app, now)) > 0
            }
        }
    }

    public func counts(of id: RichID) async throws -> [Receipt.Kind: Int] {
        try await database.reading { [app] connection in
            let rows = try connection.rows(Self.count, [.integer(app.number), .integer(Int64(id.number))])
            return try rows.reduce(into: [:]) { counts, row in
                guard let kind = Receipt.Kind(rawValue: try row.text(0)) else { return }
                counts[kind] = Int(try row.integer(1))
            }
        }
    }

    public func counts(of ids: [RichID]) async throws -> [RichID: [Receipt.Kind: Int]] {
        guard !ids.isEmpty else { return [:] }
        return try await database.reading { [app] connection in
            var counts: [RichID: [Receipt.Kind: Int]] = [:]
            for start in stride(from: 0, to: ids.count, by: Self.page) {
                let piece = ids[start..<min(start + Self.page, ids.count)].map { SQLValue.integer(Int64($0.number)) }
                // Places that are left over name the first notification again.
                let key = [.integer(app.number)] + piece + Array(repeating: piece[0], count: Self.page - piece.count)
                for row in try connection.rows(Self.countPage, key) {
                    guard let id = try RichNotificationRows.id(row, 0), let kind = Receipt.Kind(rawValue: try row.text(1)) else {
                        continue
                    }
                    counts[id, default: [:]][kind] = Int(try row.integer(2))
                }
            }
            return counts
        }
    }

    private static func values(_ stored: StoredReceipt, _ app: AppID, _ now: Timestamp) -> [SQLValue] {
        [
            .integer(app.number), .text(stored.key), .integer(Int64(stored.receipt.richID.number)),
            .integer(stored.user.number), .text(stored.installation.text), .text(stored.receipt.kind.rawValue),
            .optional(stored.receipt.action), .integer(stored.receipt.at.milliseconds), .integer(now.milliseconds),
        ]
    }

    static let all = [insert, count, countPage]

    private static let page = RichPushBackend.sendPageLimit

    private static let insert = SQLStatement(
        """
        INSERT INTO receipts
            (app_id, receipt_key, rich_id, user_id, installation_id, kind, action, happened_at, received_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING
        """)
    private static let count = SQLStatement(
        """
        SELECT kind, COUNT(DISTINCT installation_id) FROM receipts WHERE app_id = $1 AND rich_id = $2 GROUP BY kind
        """)
    private static let countPage = SQLStatement(
        composed: """
            SELECT rich_id, kind, COUNT(DISTINCT installation_id) FROM receipts \
            WHERE app_id = $1 AND rich_id IN (\(SQLStatement.places(page, from: 2))) GROUP BY rich_id, kind
            """)
}
