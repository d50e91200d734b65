import AppBackend
import RichPushModel

/// What users have read, and what their installations reported.
extension SQLBackendStore {
    public func setRead(_ read: Bool, of id: RichID, for user: UserID, at now: Timestamp) async throws {
        try await writing { transaction in
            guard read else {
                try transaction.run(ReceiptSQL.deleteMark, user, id)
                return
            }
            try transaction.requireUser(user)
            guard try transaction.exists(id) else { return }
            try transaction.run(ReceiptSQL.insertMark, user, id, now)
        }
    }

    public func readMarks(among ids: [RichID], of user: UserID) async throws -> Set<RichID> {
        guard !ids.isEmpty else { return [] }
        return try await reading { transaction in
            Set(try ids.filter { try transaction.row(ReceiptSQL.selectMark, user, $0) != nil })
        }
    }

    public func record(_ receipts: [StoredReceipt], at now: Timestamp) async throws -> [StoredReceipt] {
        guard !receipts.isEmpty else { return [] }
        return try await writing { transaction in
            // A notification that was removed meanwhile must not leave receipts behind that nothing removes.
            for user in Set(receipts.map(\.user)) { try transaction.requireUser(user) }
            let known = try Set(receipts.map(\.receipt.richID)).filter { try transaction.exists($0) }
            return try receipts.filter { stored in
                let receipt = stored.receipt
                guard known.contains(receipt.richID) else { return false }
                let inserted = try transaction.run(
                    ReceiptSQL.insert, stored.key, receipt.richID, stored.user, stored.installation, receipt.kind.rawValue,
                    receipt.action, receipt.at, now)
                return inserted > 0
            }
        }
    }

    public func receiptCounts(of id: RichID) async throws -> [Receipt.Kind: Int] {
        try await reading { transaction in
            try transaction.rows(ReceiptSQL.count, id).reduce(into: [:]) { counts, row in
                guard let kind = Receipt.Kind(rawValue: try row.text(0)) else { return }
                counts[kind] = Int(try row.integer(1))
            }
        }
    }

    public func receiptCounts(of ids: [RichID]) async throws -> [RichID: [Receipt.Kind: Int]] {
        guard !ids.isEmpty else { return [:] }
        return try await reading { transaction in
            var counts: [RichID: [Receipt.Kind: Int]] = [:]
            for start in stride(from: 0, to: ids.count, by: ReceiptSQL.page) {
                for row in try transaction.counts(of: ids[start..<min(start + ReceiptSQL.page, ids.count)]) {
                    guard let id = try row.richID(0), let kind = Receipt.Kind(rawValue: try row.text(1)) else { continue }
                    counts[id, default: [:]][kind] = Int(try row.integer(2))
                }
            }
            return counts
        }
    }
}

extension BackendTransaction {
    /// Places that are left over name the first notification again.
    fileprivate func counts(of piece: ArraySlice<RichID>) throws -> [SQLRow] {
        let rest = Array(repeating: piece[piece.startIndex], count: ReceiptSQL.page - piece.count)
        return try rows(ReceiptSQL.countPage, all: piece + rest)
    }
}

extension SQLStatement { static let ofReceipts = ReceiptSQL.all }

private enum ReceiptSQL {
    static let all = [insertMark, deleteMark, selectMark, insert, count, countPage]

    /// For how many notifications one statement asks.
    static let page = RichPushBackend.sendPageLimit

    static let insertMark = SQLStatement(
        "INSERT INTO read_marks (app_id, user_id, rich_id, read_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING")
    static let deleteMark = SQLStatement("DELETE FROM read_marks WHERE app_id = $1 AND user_id = $2 AND rich_id = $3")
    static let selectMark = SQLStatement("SELECT read_at FROM read_marks WHERE app_id = $1 AND user_id = $2 AND rich_id = $3")
    static let insert = SQLStatement(
        """
        INSERT INTO receipts
            (app_id, receipt_key, rich_id, user_id, installation_id, kind, action, happened_at, received_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING
        """)
    static let count = SQLStatement(
        """
        SELECT kind, COUNT(DISTINCT installation_id) FROM receipts WHERE app_id = $1 AND rich_id = $2 GROUP BY kind
        """)
    static let countPage = SQLStatement(
        composed: """
            SELECT rich_id, kind, COUNT(DISTINCT installation_id) FROM receipts \
            WHERE app_id = $1 AND rich_id IN (\(SQLStatement.places(page, from: 2))) GROUP BY rich_id, kind
            """)
}
