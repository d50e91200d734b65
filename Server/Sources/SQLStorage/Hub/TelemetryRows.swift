import PushHub
import RichPushModel
import TagExpressions

/// Reads where sends stand: with four statements, for one send and for a page of a list alike.
struct TelemetryRows: Sendable {
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
        waits = SQLStatement(composed: "SELECT DISTINCT notification_id, wait FROM slices \(condition) AND wait IS NOT NULL")
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
            let first = found[id]?.wait.map { Self.first($0, wait) } ?? wait
            found[id]?.wait = first
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
