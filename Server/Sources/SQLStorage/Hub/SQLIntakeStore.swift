import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions

/// Makes sends durable.
public struct SQLIntakeStore: IntakeStore {
    private let database: any SQLDatabase

    public init(_ database: any SQLDatabase) { self.database = database }

    public func compile(
        _ audience: TagExpression?, in hub: HubID, limit: Int, counting entries: [String]
    ) async throws -> CompiledAudience {
        try await database.reading { connection in
            let query = try AudienceIndex.query(audience, hub, connection)
            return CompiledAudience(
                query: query, size: try AudienceIndex.size(query, hub, limit: limit, connection),
                entrySizes: try entries.reduce(into: [:]) {
                    $0[$1] = try AudienceIndex.count($1, hub, limit: limit, connection)
                })
        }
    }

    public func targets(
        of query: AudienceQuery, as formats: [SendFormat], in hub: HubID, at now: Timestamp
    ) async throws -> Int {
        try await database.reading { connection in
            try formats.reduce(0) { sum, format in
                let send = SendAudience(hub: hub, query: query, format: format, mark: .last, now: now)
                let walk = AudienceWalk(send, connection)
                var (count, cursor) = (0, SliceKey.beforeAll)
                while cursor < .last {
                    let piece = try walk.next(
                        after: cursor, last: .last, limit: Self.countedPage, scanLimit: 10 * Self.countedPage)
                    count += piece.targets.count
                    cursor = piece.through
                }
                return sum + count
            }
        }
    }

    /// How many targets are counted at once.
    private static let countedPage = 1_000

    public func timeZones(of audience: TagExpression?, in hub: HubID, limit: Int) async throws -> Set<String> {
        try await database.reading { connection in
            let query = try AudienceIndex.query(audience, hub, connection)
            guard case .tags(let tags) = query.cover,
                try AudienceIndex.size(query, hub, limit: limit + 1, connection) <= limit
            else { return try ZoneRows.all(in: hub, connection) }
            return try ZoneRows.zones(ofTags: tags, in: hub, connection)
        }
    }

    public func deviceCounts(ofZones zones: Set<String>, in hub: HubID, limit: Int) async throws -> [String: Int] {
        try await database.reading { connection in
            try zones.reduce(into: [:]) {
                $0[$1] = try AudienceIndex.count(DeviceZone.indexEntry($1), hub, limit: limit, connection)
            }
        }
    }

    public func earlier(_ idempotency: AcceptedSend.Idempotency, in hub: HubID) async throws -> IntakeAnswer? {
        try await database.reading { try Self.find(idempotency, hub, $0) }
    }

    public func notification(key: String, in hub: HubID) async throws -> NotificationID? {
        try await database.reading {
            try $0.row(Self.selectKey, [.integer(hub.number), .text(key)]).flatMap { NotificationID(try $0.text(1)) }
        }
    }

    public func accept(_ send: AcceptedSend) async throws -> IntakeAnswer {
        try await database.writing { connection in
            // A stale cache may still resolve a removed hub. Its send would be accepted and then lost, so it is refused.
            // Checked before any write, so that a refusal costs other transactions nothing.
            guard try connection.row(Self.selectRemoved, [.integer(send.hub.number)]) == nil else {
                throw ServiceError(.notFound, "No service is hosted at the specified address.")
            }
            if let idempotency = send.idempotency, try connection.run(Self.insertKey, Self.values(idempotency, send)) == 0,
                let earlier = try Self.find(idempotency, send.hub, connection)
            {
                return earlier
            }
            // What is scheduled gets its mark when it begins.
            let mark = send.isScheduled ? nil : try OrderNumbers.mark(connection)
            try connection.run(Self.insert, try Self.values(send, mark))
            for (number, slice) in send.allSlices.enumerated() {
                try connection.run(Self.insertSlice, slice.values(number, of: send))
            }
            try DirectRows.insert(send, connection)
            try ZoneRows.insert(send, connection)
            try TranslationRows.insert(send, connection)
            return .accepted
        }
    }

    public func cancel(_ id: NotificationID, in hub: HubID, at now: Timestamp) async throws -> Bool {
        try await database.writing { try Self.cancel(id, in: hub, at: now, $0) }
    }

    public func cancel(key: String, in hub: HubID, at now: Timestamp) async throws -> NotificationID? {
        try await database.writing { connection in
            let time = SQLValue.integer(now.milliseconds)
            let closed: [SQLValue] = [
                .integer(hub.number), .text(key), .bytes(Self.closedKey), .text(NotificationID().text), time, time,
            ]
            // The insertion comes first: it waits for a send under this key that is being stored at the same moment.
            guard try connection.run(Self.insertKey, closed) == 0,
                let row = try connection.row(Self.selectKey, [.integer(hub.number), .text(key)]),
                let id = NotificationID(try row.text(1))
            else { return nil }
            return try Self.cancel(id, in: hub, at: now, connection) ? id : nil
        }
    }

    public func take(
        _ key: TestSendKey, abandonedBefore moment: Timestamp, in hub: HubID, at now: Timestamp
    ) async throws -> TestSendTaking {
        try await database.writing { connection in
            let time = SQLValue.integer(now.milliseconds)
            let name: [SQLValue] = [.integer(hub.number), .text(key.text)]
            let row: [SQLValue] = name + [.bytes(Self.testKey), .text(key.id.text), time, time]
            guard try connection.run(Self.insertKey, row) == 0 else { return .new(id: key.id) }
            let isAnew = try connection.run(Self.takeAnew, name + [time, .integer(moment.milliseconds)]) > 0
            guard let found = try connection.row(Self.selectAnswer, name) else { throw SQLFault.unexpectedColumn(0) }
            guard let id = NotificationID(try found.text(0)) else { throw SQLFault.unexpectedColumn(0) }
            return isAnew ? .new(id: id) : .taken(id: id, answer: try found.optionalBytes(1))
        }
    }

    public func keep(_ answer: [UInt8], for key: TestSendKey, in hub: HubID) async throws {
        _ = try await database.writing {
            try $0.run(Self.keepAnswer, [.integer(hub.number), .text(key.text), .text(key.id.text), .bytes(answer)])
        }
    }

    public func note(_ ended: EndedTestSend) async throws {
        let send = ended.send
        let key: [SQLValue] = [.integer(send.hub.number), .text(send.id.text)]
        try await database.writing { connection in
            guard try connection.row(Self.selectRemoved, [.integer(send.hub.number)]) == nil else { return }
            // A retry of a call that was considered dead has the id of the first, which may have been noted meanwhile.
            let mark = try OrderNumbers.mark(connection)
            guard try connection.run(Self.insertOnce, try Self.values(send, mark)) > 0 else { return }
            try connection.run(Self.setEnd, key + [.integer(try OrderNumbers.mark(connection).number)])
            try connection.run(
                Self.markEnded, key + [.integer(send.enqueuedAt.milliseconds), .integer(ended.endedAt.milliseconds)])
            for (platform, outcomes) in ended.outcomes {
                for (outcome, count) in outcomes {
                    try connection.run(
                        Self.insertTally,
                        key + [.text(platform.rawValue), .text(outcome.rawValue), .integer(Int64(count))])
                }
            }
        }
    }

    /// The digest under the key of a test send, whose key stands for its content.
    private static let testKey: [UInt8] = [1]

    /// The digest of no content.
    private static let closedKey: [UInt8] = [0]

    /// A transaction of the hub alone. A recall hides the content first, in its own transaction, and stores the cancellation as work
    /// until this has happened, since the hub may be elsewhere.
    private static func cancel(
        _ id: NotificationID, in hub: HubID, at now: Timestamp, _ connection: any SQLConnection
    ) throws -> Bool {
        let key: [SQLValue] = [.integer(hub.number), .text(id.text)]
        let time = SQLValue.integer(now.milliseconds)
        guard try connection.run(markCancelled, key + [time]) > 0 else { return false }
        try connection.run(setEnd, key + [.integer(try OrderNumbers.mark(connection).number)])
        let freed = try connection.run(deleteFreeSlices, key + [time])
        try connection.run(closeSlices, key + [.integer(Int64(freed))])
        try connection.run(deletePending, key)
        try connection.run(DirectRows.delete, key)
        return true
    }
}

extension SQLIntakeStore {
    private static func find(
        _ idempotency: AcceptedSend.Idempotency, _ hub: HubID, _ connection: any SQLConnection
    ) throws -> IntakeAnswer? {
        guard let row = try connection.row(selectKey, [.integer(hub.number), .text(idempotency.key)]) else { return nil }
        guard try row.bytes(0) == idempotency.digest else { return .mismatch }
        guard let id = NotificationID(try row.text(1)) else { throw SQLFault.unexpectedColumn(1) }
        return .repeated(id: id, dueAt: Timestamp(milliseconds: try row.integer(2)))
    }

    private static func values(_ idempotency: AcceptedSend.Idempotency, _ send: AcceptedSend) -> [SQLValue] {
        [
            .integer(send.hub.number), .text(idempotency.key), .bytes(idempotency.digest), .text(send.id.text),
            .integer(send.dueAt.milliseconds), .integer(send.enqueuedAt.milliseconds),
        ]
    }

    private static func values(_ send: AcceptedSend, _ mark: OrderNumber?) throws -> [SQLValue] {
        let state: NotificationState = send.isScheduled ? .scheduled : .accepted
        return [
            .integer(send.hub.number), .text(send.id.text), .bytes(send.message.body), .text(send.message.pushType),
            .integer(Int64(send.message.priority)), .optional(send.message.collapseID), .optional(send.message.topic),
            .optional(send.message.expiresAt?.milliseconds), .optional(send.audience?.description), .text(state.rawValue),
            .integer(send.enqueuedAt.milliseconds), .integer(send.dueAt.milliseconds),
            .integer(Int64(send.allSlices.count)), .optional(send.pushesPerSecond.map(Int64.init)),
            .text(send.message.format.text), .integer(send.recipients.handles == nil ? 0 : 1),
            .optional(mark?.number), .optional(send.targets.map(Int64.init)), .optional(try query(of: send)),
            .optional(TranslationRows.keys(of: send)), .optional(send.cap?.description),
            .optional(send.split?.stored), .integer(send.reportsOutcomes ? 1 : 0),
        ]
    }

    /// The stored form of a compiled audience; `nil` for every record.
    private static func query(of send: AcceptedSend) throws -> String? {
        guard send.audience != nil else { return nil }
        return try (send.query ?? AudienceIndex.compiled(send.audience)).stored
    }

    static let all =
        [
            insert, insertOnce, insertSlice, insertKey, selectKey, markCancelled, setEnd, deleteFreeSlices, closeSlices,
            deletePending,
            takeAnew, selectAnswer, keepAnswer, selectRemoved, markEnded, insertTally,
        ]
        + AudienceIndex.all

    private static let insertion = """
        INSERT INTO notifications (hub_id, notification_id, body, push_type, priority, collapse_id, topic, expires_at, audience,
            state, enqueued_at, due_at, open_slices, pushes_per_second, format, is_direct, order_mark, targets,
            audience_query, languages, frequency_cap, split, reports_outcomes)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
            $23)
        """
    private static let insert = SQLStatement(composed: insertion)
    private static let insertOnce = SQLStatement(composed: insertion + " ON CONFLICT DO NOTHING")
    private static let insertSlice = SQLStatement(
        """
        INSERT INTO slices (hub_id, notification_id, slice, cursor_key, last_key, weight, walked, failures, ready_at,
            pushes_per_second, epoch, moment, expires_at, audience_query, platform)
        VALUES ($1, $2, $3, $4, $5, $6, 0, 0, $7, $8, 0, $9, $10, $11, $12)
        """)
    private static let insertKey = SQLStatement(
        """
        INSERT INTO idempotency_keys (hub_id, idempotency_key, digest, notification_id, due_at, created_at)
        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING
        """)
    private static let selectKey = SQLStatement(
        "SELECT digest, notification_id, due_at FROM idempotency_keys WHERE hub_id = $1 AND idempotency_key = $2")
    private static let selectRemoved = SQLStatement(
        "SELECT hub_id FROM hubs WHERE hub_id = $1 AND removed_at IS NOT NULL")
    private static let takeAnew = SQLStatement(
        """
        UPDATE idempotency_keys SET created_at = $3
        WHERE hub_id = $1 AND idempotency_key = $2 AND answer IS NULL AND created_at < $4
        """)
    private static let selectAnswer = SQLStatement(
        "SELECT notification_id, answer FROM idempotency_keys WHERE hub_id = $1 AND idempotency_key = $2")
    private static let keepAnswer = SQLStatement(
        """
        UPDATE idempotency_keys SET answer = $4
        WHERE hub_id = $1 AND idempotency_key = $2 AND notification_id = $3 AND answer IS NULL
        """)
    private static let markEnded = SQLStatement(
        """
        UPDATE notifications SET state = 'completed', open_slices = 0, started_at = $3, ended_at = $4, audience_query = NULL
        WHERE hub_id = $1 AND notification_id = $2
        """)
    private static let insertTally = SQLStatement(
        """
        INSERT INTO tallies (hub_id, notification_id, slice, platform, outcome, targets) VALUES ($1, $2, 0, $3, $4, $5)
        """)
    private static let markCancelled = SQLStatement(
        """
        UPDATE notifications SET state = 'cancelled', ended_at = $3, audience_query = NULL
        WHERE hub_id = $1 AND notification_id = $2 AND state IN ('scheduled', 'accepted', 'dispatching')
        """)
    private static let setEnd = SQLStatement(
        "UPDATE notifications SET end_order = $3 WHERE hub_id = $1 AND notification_id = $2")
    private static let deleteFreeSlices = SQLStatement(
        "DELETE FROM slices WHERE hub_id = $1 AND notification_id = $2 AND (owner IS NULL OR leased_until <= $3)")
    private static let closeSlices = SQLStatement(
        "UPDATE notifications SET open_slices = open_slices - $3 WHERE hub_id = $1 AND notification_id = $2")
    private static let deletePending = SQLStatement(
        """
        DELETE FROM pending_targets WHERE hub_id = $1 AND notification_id = $2 AND NOT EXISTS (SELECT 1 FROM slices s
            WHERE s.hub_id = pending_targets.hub_id AND s.notification_id = pending_targets.notification_id
                AND s.slice = pending_targets.slice)
        """)
}

/// One slice that is to be stored.
private struct NewSlice {
    var range: SlicePlan.Range
    var weight: SliceWeight
    /// The slice's part of the send's pace.
    var share: Int?
    var wave: SendWave?
    /// Of a slice for another platform than that of the message's format.
    var part: PlatformPart?

    func values(_ number: Int, of send: AcceptedSend) -> [SQLValue] {
        [
            .integer(send.hub.number), .text(send.id.text), .integer(Int64(number)), .integer(range.after.number),
            .integer(range.last.number), .integer(weight.rawValue),
            .integer((wave.map { max($0.moment, send.enqueuedAt) } ?? send.dueAt).milliseconds), .optional(share.map(Int64.init)),
            .optional(wave?.moment.milliseconds), .optional(wave?.expiresAt?.milliseconds),
            .optional((part?.query ?? wave?.query)?.stored), .optional(part?.platform.rawValue),
        ]
    }
}

extension AcceptedSend {
    /// The slices of all waves, or those of a send that is due everywhere at once, for each platform.
    fileprivate var allSlices: [NewSlice] {
        let waves = waves.isEmpty ? [nil] : waves.map(SendWave?.some)
        let pace = others.rest(of: pushesPerSecond)
        return waves.flatMap { wave in
            slices(wave?.slices ?? slices, pace: pace, wave, nil)
                + others.flatMap { slices($0.slices, pace: $0.pushesPerSecond, wave, $0) }
        }
    }

    private func slices(_ plan: SlicePlan, pace: Int?, _ wave: SendWave?, _ part: PlatformPart?) -> [NewSlice] {
        plan.ranges.enumerated().map { number, range in
            NewSlice(
                range: range, weight: plan.weight, share: pace.map { plan.share(of: $0, slice: number) }, wave: wave, part: part)
        }
    }
}

/// The numbers that say what came first. They go up with marks alone, so that a record costs no write of the counter; on PostgreSQL
/// they are a sequence, which is outside of transactions and never in the way of another writer.
enum OrderNumbers {
    /// The table of SQLite and the sequence of PostgreSQL.
    static let name = "order_numbers"

    /// The first number. Moments in milliseconds are smaller until the year 2109, so that a number is never taken for a moment.
    static let first: Int64 = 1 << 42

    /// The current number, as part of a statement.
    static let current = "(SELECT last_value FROM \(name))"

    /// Takes the current number. What is committed by now has a number up to it; what begins when this is over, a larger one.
    static func mark(_ connection: any SQLConnection) throws -> OrderNumber {
        guard let row = try connection.row(connection.dialect.nextOrder, []) else {
            throw SQLFault.refused(code: 0, reason: "there are no order numbers")
        }
        return OrderNumber(try row.integer(0))
    }
}
