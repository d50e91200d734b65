import SQLStorage
import Synchronization
import Testing

/// What a transaction asked and was answered.
final class Trace: Sendable {
    struct Step {
        var statement: SQLStatement
        var values: [SQLValue]
        var rows: [SQLRow]
        var changes: Int?
    }

    private struct State {
        var steps: [Step] = []
        /// Those that the other engine has not been asked for yet.
        var left: [Step] = []
    }

    private let state = Mutex(State())

    /// A transaction may be run again.
    func start() { state.withLock { $0 = State() } }

    func rewind() { state.withLock { $0.left = $0.steps } }

    func record(_ step: Step) { state.withLock { $0.steps.append(step) } }

    var isUsedUp: Bool { state.withLock { $0.left.isEmpty } }

    /// The same step of the other engine. Who goes through a set has no order, so others may come before it.
    func take(_ statement: SQLStatement, _ values: [SQLValue]) -> Step? {
        state.withLock { state in
            let index = state.left.firstIndex { $0.statement == statement && $0.values == values }
            return index.map { state.left.remove(at: $0) }
        }
    }
}

/// The first engine: what it answers is remembered.
struct RecordedConnection: SQLConnection {
    let inner: any SQLConnection
    let trace: Trace

    var dialect: SQLDialect { inner.dialect }

    func rows(_ statement: SQLStatement, _ values: [SQLValue]) throws -> [SQLRow] {
        let rows = try inner.rows(Self.translated(statement), values)
        // Each engine counts orders up in its own words.
        let recorded = statement == SQLDialect.sqlite.nextOrder ? SQLDialect.postgresql.nextOrder : statement
        trace.record(.init(statement: recorded, values: values, rows: rows))
        return rows
    }

    @discardableResult
    func run(_ statement: SQLStatement, _ values: [SQLValue]) throws -> Int {
        let changes = try inner.run(Self.translated(statement), values)
        trace.record(.init(statement: statement, values: values, rows: [], changes: changes))
        return changes
    }

    func script(_ text: String) throws { try inner.script(text) }

    /// The stores were made with the other engine's dialect.
    private static func translated(_ statement: SQLStatement) -> SQLStatement {
        let words = SQLDialect.postgresql.skipLocked
        guard statement.text.contains(words) else { return statement }
        return SQLStatement(composed: statement.text.split(separator: words).joined())
    }
}

/// The second engine: what it answers has to be what the first one did.
struct ComparedConnection: SQLConnection {
    let inner: any SQLConnection
    let trace: Trace

    var dialect: SQLDialect { inner.dialect }

    /// Where the statement asks for no order, rows come in the first engine's: what follows is then the same on both.
    func rows(_ statement: SQLStatement, _ values: [SQLValue]) throws -> [SQLRow] {
        let rows = try inner.rows(statement, values)
        guard let step = step(statement, values) else { return rows }
        let isOrdered = statement.text.contains("ORDER BY") && !statement.text.contains("RETURNING")
        let isSame = isOrdered ? rows == step.rows : Self.counted(rows) == Self.counted(step.rows)
        if !isSame { Issue.record("\(statement.text) with \(values): SQLite found \(step.rows), PostgreSQL \(rows)") }
        return isSame ? step.rows : rows
    }

    @discardableResult
    func run(_ statement: SQLStatement, _ values: [SQLValue]) throws -> Int {
        let changes = try inner.run(statement, values)
        if let step = step(statement, values), step.changes != changes {
            Issue.record("\(statement.text) with \(values): SQLite changed \(step.changes ?? -1) rows, PostgreSQL \(changes)")
        }
        return changes
    }

    func script(_ text: String) throws { try inner.script(text) }

    private func step(_ statement: SQLStatement, _ values: [SQLValue]) -> Trace.Step? {
        guard let step = trace.take(statement, values) else {
            Issue.record("only PostgreSQL was asked \(statement.text) with \(values)")
            return nil
        }
        return step
    }

    private static func counted(_ rows: [SQLRow]) -> [SQLRow: Int] { rows.reduce(into: [:]) { $0[$1, default: 0] += 1 } }
}
