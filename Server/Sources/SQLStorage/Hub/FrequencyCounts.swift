import PushHub
import RichPushModel

/// Which sends with a frequency cap were counted for whom.
struct FrequencyCounts {
    let cap: FrequencyCap
    let hub: HubID
    let send: NotificationID
    let now: Timestamp

    /// Counts the send for the recipients of the targets, as far as the cap allows. Returns the targets of all others.
    func hold(_ targets: [SliceKey], _ connection: any SQLConnection) throws -> Set<SliceKey> {
        var held: Set<SliceKey> = []
        for start in stride(from: 0, to: targets.count, by: RecipientRows.chunk) {
            // A device that has gone since it was read has no recipient, and its push meets the end that the service has for it.
            let rows = try RecipientRows.read(
                targets[start..<min(start + RecipientRows.chunk, targets.count)], in: hub, connection)
            let names = RecipientRows.padded(Set(rows.map(\.recipient.name)).sorted().map(SQLValue.text))
            guard !names.isEmpty else { continue }
            try connection.run(Self.insert, key + times + [.integer(Int64(cap.limit))] + names)
            let counted = Set(try connection.rows(Self.selectCounted, key + names).map { try $0.text(0) })
            held.formUnion(rows.lazy.filter { !counted.contains($0.recipient.name) }.map(\.target))
        }
        return held
    }

    /// What the cap says of a device now; `nil` for one that is not known.
    func read(of device: RecordID, _ connection: any SQLConnection) throws -> CapCount? {
        guard let row = try RecipientRows.read(device, in: hub, connection) else { return nil }
        let values: [SQLValue] = key + [.text(row.recipient.name), .integer((now - cap.window).milliseconds)]
        guard let counts = try connection.row(Self.selectCounts, values) else { return nil }
        return CapCount(cap: cap, isCounted: try counts.integer(0) > 0, others: Int(try counts.integer(1)))
    }

    /// `$1` to `$3` of every statement on counts.
    private var key: [SQLValue] { [.integer(hub.number), .text(cap.name), .text(send.text)] }

    /// Now, since when others count, and until when this one does.
    private var times: [SQLValue] {
        [now, now - cap.window, now + cap.window].map { .integer($0.milliseconds) }
    }
}

extension FrequencyCounts {
    static let all = [insert, selectCounted, selectCounts, delete, deleteOld]

    /// Those of one recipient.
    static let delete = SQLStatement("DELETE FROM frequency_counts WHERE hub_id = $1 AND recipient = $2")
    static let deleteOld = SQLStatement(
        """
        DELETE FROM frequency_counts WHERE (hub_id, cap, recipient, notification_id) IN (
            SELECT hub_id, cap, recipient, notification_id FROM frequency_counts WHERE counts_until < $1 LIMIT $2)
        """)

    private static let names = (0..<RecipientRows.chunk).map { $0 == 0 ? "(CAST($8 AS TEXT))" : "($\($0 + 8))" }.joined(
        separator: ", ")
    private static let insert = SQLStatement(
        composed: """
            INSERT INTO frequency_counts (hub_id, cap, notification_id, counted_at, counts_until, recipient)
            SELECT CAST($1 AS BIGINT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS BIGINT), CAST($6 AS BIGINT), names.column1
            FROM (VALUES \(names)) AS names
            WHERE (SELECT COUNT(*) FROM frequency_counts c
                WHERE c.hub_id = $1 AND c.cap = $2 AND c.recipient = names.column1 AND c.notification_id <> $3
                    AND c.counted_at > $5) < $7
            ON CONFLICT DO NOTHING
            """)
    private static let selectCounted = SQLStatement(
        composed: """
            SELECT recipient FROM frequency_counts
            WHERE hub_id = $1 AND cap = $2 AND notification_id = $3 AND recipient IN (\(SQLStatement.places(RecipientRows.chunk, from: 4)))
            """)
    private static let selectCounts = SQLStatement(
        """
        SELECT COALESCE(SUM(CASE WHEN notification_id = $3 THEN 1 ELSE 0 END), 0),
            COALESCE(SUM(CASE WHEN notification_id <> $3 AND counted_at > $5 THEN 1 ELSE 0 END), 0)
        FROM frequency_counts WHERE hub_id = $1 AND cap = $2 AND recipient = $4
        """)
}
