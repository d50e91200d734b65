import PushHub
import RichPushModel
import TagExpressions

/// Where sends stand.
public struct SQLTelemetryStore: TelemetryStore {
    private let database: any SQLDatabase

    public init(_ database: any SQLDatabase) { self.database = database }

    public func telemetry(of id: NotificationID, in hub: HubID, at now: Timestamp) async throws -> NotificationTelemetry? {
        try await database.reading { try TelemetryRows.one.read([id], in: hub, at: now, $0)[id] }
    }

    public func telemetry(
        of ids: [NotificationID], in hub: HubID, at now: Timestamp
    ) async throws -> [NotificationID: NotificationTelemetry] {
        guard !ids.isEmpty else { return [:] }
        return try await database.reading { try TelemetryRows.page.read(ids, in: hub, at: now, $0) }
    }

    public func failures(
        of id: NotificationID, outcome: TargetOutcome?, after place: SliceKey, limit: Int, in hub: HubID
    ) async throws -> [TargetFailure] {
        try await database.reading {
            try FailureRows.page([.integer(hub.number), .text(id.text)], outcome, after: place, limit: limit, $0)
        }
    }

    public func feedback(after number: Int64, limit: Int, in hub: HubID) async throws -> [DeviceFeedback] {
        try await database.reading { try FeedbackRows.page(after: number, limit: limit, in: hub, $0) }
    }

    public func feedback(
        of id: NotificationID, after number: Int64, limit: Int, in hub: HubID
    ) async throws -> [DeviceFeedback] {
        try await database.reading { try FeedbackRows.page(of: id, after: number, limit: limit, in: hub, $0) }
    }

    public func errors(
        of id: NotificationID, notedAt moment: Timestamp, limit: Int, in hub: HubID
    ) async throws -> [SendError] {
        try await database.reading {
            try FailureRows.errors([.integer(hub.number), .text(id.text)], notedAt: moment, limit: limit, $0)
        }
    }

    public func waves(of id: NotificationID, in hub: HubID) async throws -> [WaveProgress] {
        try await database.reading { try ZoneRows.waves([.integer(hub.number), .text(id.text)], $0) }
    }

    public func backlog(at now: Timestamp) async throws -> DispatchBacklog {
        try await database.reading { connection in
            var backlog = DispatchBacklog()
            for row in try connection.rows(Self.selectBacklog, [.integer(now.milliseconds)]) {
                let count = Int(try row.integer(2))
                switch try row.text(1) {
                case "leased": backlog.leased += count
                case "waiting": backlog.waiting += count
                default:
                    backlog.due[SliceWeight(rawValue: try row.integer(0)) ?? .large, default: 0] += count
                    let since = Timestamp(milliseconds: try row.integer(3))
                    backlog.oldestDueAt = min(backlog.oldestDueAt ?? since, since)
                }
            }
            return backlog
        }
    }

    public func groupOutcomes(of id: NotificationID, in hub: HubID) async throws -> [Int: [TargetOutcome: Int]] {
        try await database.reading { try GroupTallies.read([.integer(hub.number), .text(id.text)], $0) }
    }

    public func outcomeReports(of id: NotificationID, limit: Int, in hub: HubID) async throws -> [OutcomeReport] {
        try await database.reading { try OutcomeReportRows.read([.integer(hub.number), .text(id.text)], limit: limit, $0) }
    }

    public func removeOutcomeReports(_ numbers: [Int64], of id: NotificationID, in hub: HubID) async throws {
        let send: [SQLValue] = [.integer(hub.number), .text(id.text)]
        try await database.writing { connection in
            for number in numbers { try connection.run(OutcomeReportRows.delete, send + [.integer(number)]) }
        }
    }

    public func capCount(
        of device: RecordID, for id: NotificationID, in hub: HubID, at now: Timestamp
    ) async throws -> CapCount? {
        try await database.reading { connection in
            guard let row = try connection.row(Self.selectCap, [.integer(hub.number), .text(id.text)]),
                let cap = try row.optionalText(0).flatMap(FrequencyCap.init)
            else { return nil }
            return try FrequencyCounts(cap: cap, hub: hub, send: id, now: now).read(of: device, connection)
        }
    }

    public func sweep(endedBefore moment: Timestamp, at now: Timestamp, limit: Int) async throws -> Int {
        try await database.writing { connection in
            let values: [SQLValue] = [.integer(moment.milliseconds), .integer(Int64(limit))]
            let ended = try connection.rows(Self.deleteEnded, values)
            for row in ended {
                try connection.run(Self.deleteTallies, row.values)
                try connection.run(GroupTallies.delete, row.values)
                try connection.run(OutcomeReportRows.deleteAll, row.values)
                try FailureRows.delete(row.values, connection)
                try connection.run(DirectRows.delete, row.values)
                try connection.run(ZoneRows.delete, row.values)
                try connection.run(TranslationRows.delete, row.values)
            }
            return ended.count + (try connection.run(Self.deleteKeys, values))
                + (try connection.run(FrequencyCounts.deleteOld, [.integer(now.milliseconds), .integer(Int64(limit))]))
                + (try connection.run(FeedbackRows.deleteOld, values))
        }
    }

    static let all =
        TelemetryRows.one.all + TelemetryRows.page.all + [
            selectBacklog, deleteEnded, deleteTallies, deleteKeys, selectCap,
        ]

    private static let selectCap = SQLStatement(
        "SELECT frequency_cap FROM notifications WHERE hub_id = $1 AND notification_id = $2")

    private static let selectBacklog = SQLStatement(
        """
        SELECT weight, stage, COUNT(*), MIN(ready_at) FROM (
            SELECT weight, ready_at, CASE WHEN owner IS NOT NULL AND leased_until > $1 THEN 'leased' WHEN ready_at > $1 THEN 'waiting'
                ELSE 'due' END AS stage FROM slices) AS staged
        GROUP BY weight, stage
        """)
    private static let deleteEnded = SQLStatement(
        """
        DELETE FROM notifications WHERE (hub_id, notification_id) IN (
            SELECT hub_id, notification_id FROM notifications WHERE ended_at < $1 AND open_slices = 0 LIMIT $2)
        RETURNING hub_id, notification_id
        """)
    private static let deleteTallies = SQLStatement("DELETE FROM tallies WHERE hub_id = $1 AND notification_id = $2")
    private static let deleteKeys = SQLStatement(
        """
        DELETE FROM idempotency_keys WHERE (hub_id, idempotency_key) IN (
            SELECT hub_id, idempotency_key FROM idempotency_keys WHERE created_at < $1 LIMIT $2)
        """)
}

/// Reads where sends stand: with four statements, for one send and for a page of a list alike.
private struct TelemetryRows: Sendable {
    static let one = TelemetryRows(places: 1)
    static let page = TelemetryRows(places: NotificationTelemetry.pageLimit)

    private let places: Int
    private let sends: SQLStatement
    private let tallies: SQLStatement
    private let reasons: SQLStatement
    private let waits: SQLStatement

    var all: [SQLStatement] { [sends, tallies, reasons, waits] }

    private init(places: Int) {
        self.places = places
        let condition = "WHERE hub_id = $1 AND notification_id IN (\(SQLStatement.places(places, from: 2)))"
        sends = SQLStatement(
            composed: """
                SELECT notification_id, state, enqueued_at, due_at, started_at, ended_at, format, is_direct, audience, body, \
                end_order, targets FROM notifications \(condition)
                """)
        tallies = SQLStatement(
            composed: """
                SELECT notification_id, outcome, CAST(SUM(targets) AS BIGINT), platform FROM tallies \(condition) \
                GROUP BY notification_id, platform, outcome
                """)
        reasons = SQLStatement(
            composed: """
                SELECT notification_id, platform, outcome, reason, CAST(SUM(targets) AS BIGINT) FROM outcome_reasons \(condition) \
                GROUP BY notification_id, platform, outcome, reason
                """)
        waits = SQLStatement(
            composed: "SELECT DISTINCT notification_id, wait, platform FROM slices \(condition) AND wait IS NOT NULL")
    }

    /// Unknown sends are absent.
    func read(
        _ ids: [NotificationID], in hub: HubID, at now: Timestamp, _ connection: any SQLConnection
    ) throws -> [NotificationID: NotificationTelemetry] {
        var found: [NotificationID: NotificationTelemetry] = [:]
        for start in stride(from: 0, to: ids.count, by: places) {
            let piece = ids[start..<min(start + places, ids.count)].map { SQLValue.text($0.text) }
            // Places that are left over name the first send again.
            let key = [.integer(hub.number)] + piece + Array(repeating: piece[0], count: places - piece.count)
            for row in try connection.rows(sends, key) {
                let telemetry = try Self.telemetry(row, now)
                found[telemetry.id] = telemetry
            }
            try addNumbers(key, to: &found, connection)
        }
        return found
    }

    private func addNumbers(
        _ key: [SQLValue], to found: inout [NotificationID: NotificationTelemetry], _ connection: any SQLConnection
    ) throws {
        for row in try connection.rows(tallies, key) {
            let (id, outcome, count) = (try Self.id(row), try Self.outcome(row, 1), Int(try row.integer(2)))
            found[id]?.outcomes[outcome, default: 0] += count
            found[id]?.platformOutcomes[Platform(rawValue: try row.text(3)), default: [:]][outcome] = count
        }
        for row in try connection.rows(reasons, key) {
            let reason = OutcomeReason(
                platform: Platform(rawValue: try row.text(1)), outcome: try Self.outcome(row, 2), reason: try row.text(3))
            found[try Self.id(row)]?.reasons[reason] = Int(try row.integer(4))
        }
        for row in try connection.rows(waits, key) {
            guard let wait = SendWait(stored: try row.text(1)) else { continue }
            let id = try Self.id(row)
            guard var telemetry = found[id] else { continue }
            let main: Platform = if case .native(let platform) = telemetry.format { platform } else { .apns }
            let service = (try row.optionalText(2).map(Platform.init(rawValue:)) ?? main).service
            telemetry.wait = telemetry.wait.map { Self.first($0, wait) } ?? wait
            telemetry.waits[service] = telemetry.waits[service].map { Self.first($0, wait) } ?? wait
            found[id] = telemetry
        }
        for (id, telemetry) in found where telemetry.state == .completed || telemetry.state == .expired {
            found[id]?.targets = telemetry.outcomes.values.reduce(0, +)
        }
    }

    /// What an operator has to do counts more than what ends by itself.
    private static func first(_ one: SendWait, _ other: SendWait) -> SendWait {
        let isFirst = (one.cause == .operator ? 0 : 1, one.reason) < (other.cause == .operator ? 0 : 1, other.reason)
        return isFirst ? one : other
    }

    private static func id(_ row: SQLRow) throws -> NotificationID {
        guard let id = NotificationID(try row.text(0)) else { throw SQLFault.unexpectedColumn(0) }
        return id
    }

    private static func outcome(_ row: SQLRow, _ column: Int) throws -> TargetOutcome {
        guard let outcome = TargetOutcome(rawValue: try row.text(column)) else { throw SQLFault.unexpectedColumn(column) }
        return outcome
    }

    private static func telemetry(_ row: SQLRow, _ now: Timestamp) throws -> NotificationTelemetry {
        guard let state = NotificationState(rawValue: try row.text(1)) else { throw SQLFault.unexpectedColumn(1) }
        let dueAt = Timestamp(milliseconds: try row.integer(3))
        let format = SendFormat(stored: try row.text(6))
        var telemetry = NotificationTelemetry(
            id: try id(row), state: state == .scheduled && dueAt <= now ? .accepted : state,
            enqueuedAt: Timestamp(milliseconds: try row.integer(2)), dueAt: dueAt,
            startedAt: try row.optionalInteger(4).map(Timestamp.init(milliseconds:)),
            endedAt: try row.optionalInteger(5).map(Timestamp.init(milliseconds:)), format: format,
            isDirect: try row.integer(7) != 0, body: try row.bytes(9))
        if case .native(let platform) = format { telemetry.platformOutcomes[platform] = [:] }
        telemetry.endOrder = try row.optionalInteger(10).map(OrderNumber.init)
        telemetry.targets = try row.optionalInteger(11).map(Int.init)
        telemetry.audience = try row.optionalText(8).flatMap { try? TagExpression(parsing: $0) }
        return telemetry
    }
}

/// What push services said of handles that are of no use any more.
enum FeedbackRows {
    /// Adds a row. To be called while the record is still there, since the row names its installation.
    static func add(_ feedback: DeviceFeedback, in hub: HubID, _ connection: any SQLConnection) throws {
        try connection.run(
            insert,
            [
                .integer(hub.number), .text(feedback.platform.rawValue), .text(feedback.handle.text),
                .optional(feedback.record?.text), .optional(feedback.installation?.text), .text(feedback.notification.text),
                .text(feedback.reason.rawValue), .integer(feedback.notedAt.milliseconds),
            ])
    }

    static func page(
        after number: Int64, limit: Int, in hub: HubID, _ connection: any SQLConnection
    ) throws -> [DeviceFeedback] {
        try connection.rows(select, [.integer(hub.number), .integer(number), .integer(Int64(limit))]).map(feedback)
    }

    /// The rows of one send.
    static func page(
        of id: NotificationID, after number: Int64, limit: Int, in hub: HubID, _ connection: any SQLConnection
    ) throws -> [DeviceFeedback] {
        let values: [SQLValue] = [.integer(hub.number), .text(id.text), .integer(number), .integer(Int64(limit))]
        return try connection.rows(selectOfSend, values).map(feedback)
    }

    private static func feedback(_ row: SQLRow) throws -> DeviceFeedback {
        guard let notification = NotificationID(try row.text(5)) else { throw SQLFault.unexpectedColumn(5) }
        guard let reason = DeviceFeedback.Reason(rawValue: try row.text(6)) else { throw SQLFault.unexpectedColumn(6) }
        return DeviceFeedback(
            number: try row.integer(0), platform: Platform(rawValue: try row.text(1)),
            handle: DeviceToken(canonical: try row.text(2)), record: try row.optionalText(3).flatMap(RecordID.init),
            installation: try row.optionalText(4).flatMap(RecordID.init), notification: notification, reason: reason,
            notedAt: Timestamp(milliseconds: try row.integer(7)))
    }

    static let all = [insert, select, selectOfSend, deleteOld]

    static let deleteOld = SQLStatement(
        "DELETE FROM feedback WHERE number IN (SELECT number FROM feedback WHERE noted_at < $1 ORDER BY noted_at LIMIT $2)")
    private static let insert = SQLStatement(
        """
        INSERT INTO feedback (hub_id, platform, handle, record_id, installation_id, notification_id, reason, noted_at)
        VALUES ($1, $2, $3, $4, COALESCE($5, (
            SELECT COALESCE(parent, record_id) FROM devices
            WHERE hub_id = $1 AND record_id = $4 AND kind = 'installation')), $6, $7, $8)
        """)
    private static let select = SQLStatement(
        """
        SELECT number, platform, handle, record_id, installation_id, notification_id, reason, noted_at FROM feedback
        WHERE hub_id = $1 AND number > $2 ORDER BY number LIMIT $3
        """)
    private static let selectOfSend = SQLStatement(
        """
        SELECT number, platform, handle, record_id, installation_id, notification_id, reason, noted_at FROM feedback
        WHERE hub_id = $1 AND notification_id = $2 AND number > $3 ORDER BY number LIMIT $4
        """)
}
