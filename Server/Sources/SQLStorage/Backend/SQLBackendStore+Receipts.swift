import AppBackend
import RichPushModel
import WireText

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
        let event = Hexadecimal.random(byteCount: 16)
        return try await writing { transaction in
            // A notification that was removed meanwhile must not leave receipts behind that nothing removes.
            for user in Set(receipts.map(\.user)) { try transaction.requireUser(user) }
            var splits: [RichID: SendSplit?] = [:]
            for id in Set(receipts.map(\.receipt.richID)) {
                guard let row = try transaction.row(ReceiptSQL.selectSplit, id) else { continue }
                splits[id] = .some(try row.optionalText(0).flatMap { SendSplit(storedText: $0) })
            }
            let new = try receipts.filter { stored in
                let receipt = stored.receipt
                guard let split = splits[receipt.richID] else { return false }
                let inserted = try transaction.run(
                    ReceiptSQL.insert, stored.key, receipt.richID, stored.user, stored.installation, receipt.kind.rawValue,
                    receipt.action, receipt.at, now, try transaction.group(of: stored.user, in: split))
                return inserted > 0
            }
            try transaction.tell(of: new, eventID: event, at: now)
            return new
        }
    }

    public func receipts(of id: RichID, from installation: InstallationID, of user: UserID) async throws -> [Receipt] {
        try await reading { transaction in
            try Receipt.Kind.allCases.flatMap { kind in
                try transaction.rows(ReceiptSQL.select, id, kind.rawValue, installation, user).map { row in
                    Receipt(richID: id, kind: kind, action: try row.optionalText(0), at: try row.moment(1))
                }
            }
        }
    }

    public func groupReceipts(of id: RichID, groups: Int, limit: Int) async throws -> [Int: [Receipt.Kind: Int]] {
        try await reading { transaction in
            var counts: [Int: [Receipt.Kind: Int]] = [:]
            for group in 0...groups {
                for kind in Receipt.Kind.allCases {
                    let row = try transaction.row(ReceiptSQL.countOfGroup, id, group, kind.rawValue, limit)
                    if let count = try row?.integer(0), count > 0 { counts[group, default: [:]][kind] = Int(count) }
                }
            }
            return counts
        }
    }

    public func receiptCounts(of id: RichID, limit: Int) async throws -> [Receipt.Kind: Int] {
        try await reading { transaction in
            try Receipt.Kind.allCases.reduce(into: [:]) { counts, kind in
                let count = try transaction.row(ReceiptSQL.count, id, kind.rawValue, limit)?.integer(0) ?? 0
                if count > 0 { counts[kind] = Int(count) }
            }
        }
    }
}

extension BackendTransaction {
    /// The group of the user in an A/B test.
    fileprivate func group(of user: UserID, in split: SendSplit?) throws -> Int? {
        guard let split, let user = try self.user(user) else { return nil }
        return split.group(of: user.name)
    }

    /// Says to webhooks what an installation reported for the first time: one event for each user and installation.
    fileprivate func tell(of receipts: [StoredReceipt], eventID: String, at now: Timestamp) throws {
        let reports = Dictionary(grouping: receipts) { "\($0.user.number) \($0.installation.text)" }.sorted { $0.key < $1.key }
        for (number, report) in reports.enumerated() {
            guard let first = report.value.first, let user = try user(first.user) else { continue }
            var data = WebhookData()
            (data.installation, data.user) = (first.installation.text, user.name.text)
            data.receipts = report.value.map(\.receipt).map {
                WebhookData.Receipt(send: "\($0.richID)", kind: $0.kind.rawValue, action: $0.action, at: $0.at)
            }
            try tell(
                WebhookEvent(
                    cause: "\(eventID)\(number == 0 ? "" : "_\(number)")", .receiptsRecorded, subject: first.installation.text,
                    user: data.user, at: now, data: data))
        }
    }
}

extension SQLStatement { static let ofReceipts = ReceiptSQL.all }

private enum ReceiptSQL {
    static let all = [insertMark, deleteMark, selectMark, selectSplit, insert, select, count, countOfGroup]

    static let insertMark = SQLStatement(
        "INSERT INTO read_marks (app_id, user_id, rich_id, read_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING")
    static let deleteMark = SQLStatement("DELETE FROM read_marks WHERE app_id = $1 AND user_id = $2 AND rich_id = $3")
    static let selectMark = SQLStatement("SELECT read_at FROM read_marks WHERE app_id = $1 AND user_id = $2 AND rich_id = $3")
    static let selectSplit = SQLStatement("SELECT split FROM rich_notifications WHERE app_id = $1 AND rich_id = $2")
    static let insert = SQLStatement(
        """
        INSERT INTO receipts
            (app_id, receipt_key, rich_id, user_id, installation_id, kind, action, happened_at, received_at, group_number)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING
        """)
    /// By kind, as the index has them.
    static let select = SQLStatement(
        """
        SELECT action, happened_at FROM receipts
        WHERE app_id = $1 AND rich_id = $2 AND kind = $3 AND installation_id = $4 AND user_id = $5
        ORDER BY happened_at, receipt_key LIMIT 10
        """)
    static let countOfGroup = SQLStatement(
        """
        SELECT COUNT(*) FROM (
            SELECT DISTINCT installation_id FROM receipts
            WHERE app_id = $1 AND rich_id = $2 AND group_number = $3 AND kind = $4 LIMIT $5) AS counted
        """)
    static let count = SQLStatement(
        """
        SELECT COUNT(DISTINCT installation_id) FROM (
            SELECT installation_id FROM receipts WHERE app_id = $1 AND rich_id = $2 AND kind = $3
            ORDER BY installation_id LIMIT $4) AS counted
        """)
}
