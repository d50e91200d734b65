import RichPushModel
import SQLStorage

/// One connection to the server. Belongs to one thread, which is the only one to touch it.
///
/// Every call has a deadline. What a call throws is a `PostgresFault`; after `.broken` and after a missed deadline nothing is
/// known of the server's side any more, and the connection is only good for `close`.
final class PostgresConnection {
    /// What all connections of a database have in common.
    struct Context: Sendable {
        var library: LibPQ
        var url: DatabaseURL
        var clock: any ServiceClock
        var limits: PostgresLimits
        var canceller: Canceller
    }

    let context: Context
    private let raw: LibPQ.Link
    private(set) var isBroken = false
    private var hasChanged = false
    /// The answer to the last statement but one of those that were sent together.
    private var beforeLast: PostgresResult?
    /// How many transactions that changed rows were committed.
    private(set) var keptCount = 0
    /// Whether another transaction was urgent at the last commit.
    private(set) var otherIsUrgent = false
    private let counter: WarningCounter
    /// How many warnings the server has sent on this connection.
    var warnings: Int { counter.number }
    /// Whether its socket can wait for many bytes at once.
    private let canGather: Bool
    /// The names of the statements that this connection has prepared.
    private var prepared: [SQLStatement: String] = [:]
    /// Whether a statement failed since the transaction began: nothing else is done in it after that.
    private(set) var failure: PostgresFault?
    /// Whether the last transaction failed and was not ended yet.
    private var endsFirst = false
    /// Whether the end of the last transaction has been sent, and its answer not been read yet.
    private var isEnding = false

    private var library: LibPQ { context.library }

    /// Connects; takes at most the limit for it. Throws `.unreachable`.
    init(_ context: Context) throws {
        self.context = context
        guard let raw = Self.connect(context) else { throw PostgresFault.unreachable("out of memory") }
        self.raw = raw
        counter = WarningCounter(context.library)
        canGather = SocketWait.canGather(context.library.socket(raw))
        guard context.library.status(raw) == 0 else {
            let message = Self.message(raw, context)
            context.library.finish(raw)
            throw PostgresFault.unreachable(context.url.scrubbed(message), advice: ConnectionAdvice.advice(on: message))
        }
        // Notices would go to standard error; of warnings the number is kept. The counter lives as long as the link.
        _ = context.library.setNoticeReceiver(
            raw, { counter, notice in WarningCounter.count(notice, at: counter) }, Unmanaged.passUnretained(counter).toOpaque())
        _ = context.library.setNonBlocking(raw, 1)
    }

    /// Ends the connection. Nothing may be called afterwards.
    func close() { library.finish(raw) }

    /// What comes before the URL may be set differently in it, what comes after may not.
    private static func connect(_ context: Context) -> LibPQ.Link? {
        let limits = context.limits
        let pairs: [(String, String)] = [
            ("fallback_application_name", "clarion"), ("connect_timeout", "\(limits.connect.components.seconds)"),
            ("keepalives_idle", "15"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "20000"), ("target_session_attrs", "read-write"), ("dbname", context.url.text),
            ("client_encoding", "UTF8"),
        ]
        return withTexts(pairs.map(\.0)) { names in
            withTexts(pairs.map(\.1)) { values in context.library.connect(names, values, 1) }
        }
    }

    private static func withTexts(_ texts: [String], _ body: (LibPQ.Texts) -> LibPQ.Link?) -> LibPQ.Link? {
        var bytes: [CChar] = []
        let starts = texts.map { text in
            defer { bytes += text.utf8CString }
            return bytes.count
        }
        return bytes.withUnsafeBufferPointer { memory in
            let pointers = starts.map { start -> UnsafePointer<CChar>? in memory.baseAddress?.advanced(by: start) } + [nil]
            return pointers.withUnsafeBufferPointer { list in list.baseAddress.flatMap(body) }
        }
    }

    /// The library's error message in one line. It may contain secrets.
    private static func message(_ raw: LibPQ.Link, _ context: Context) -> String {
        let text = context.library.errorMessage(raw).map { String(cString: $0) } ?? ""
        return text.split(whereSeparator: \.isNewline).joined(separator: "; ")
    }
}

extension PostgresConnection {
    /// Begins a transaction: what was before is forgotten.
    func begin(_ text: String) throws { try begin(text, within: context.limits.answer) }

    func begin(_ text: String, within limit: Duration?) throws {
        try finishEnd()
        (failure, hasChanged, otherIsUrgent) = (nil, false, false)
        // A pooler may pass on notifications that another of its clients listens to; discard them, as no one else would.
        _ = takeCalls()
        let end = endsFirst ? "ROLLBACK; " : ""
        endsFirst = false
        try simple(end + text, within: limit)
    }

    /// Runs one or more statements without values; returns the answer to the last.
    @discardableResult
    func simple(_ text: String, within limit: Duration?) throws -> PostgresResult {
        try noting {
            try send(library.sendQuery(raw, text), limit)
        }
    }

    /// Ends a transaction that writes, after the statements `before`. Returns the command that was done.
    func commit(before: String) throws -> Substring {
        let answer = try simple(before + TransactionText.commit, within: context.limits.answer)
        otherIsUrgent = beforeLast.map { $0.count == 1 && $0.isNull(0, 0) } ?? false
        return answer.command
    }

    /// Runs a statement with values, prepared at its first use on this connection unless `unnamed`.
    func execute(_ statement: SQLStatement, _ values: [SQLValue], unnamed: Bool) throws -> PostgresResult {
        try noting {
            let limit = context.limits.answer
            let parameters = PostgresParameters(values)
            guard !unnamed else {
                return try send(
                    parameters.withPointers { count, values, lengths, formats in
                        library.sendWithValues(raw, statement.text, count, nil, values, lengths, formats, 1)
                    }, limit)
            }
            let name = try preparedName(of: statement)
            return try send(
                parameters.withPointers { count, values, lengths, formats in
                    library.sendPrepared(raw, name, count, values, lengths, formats, 1)
                }, limit, isPrepared: true)
        }
    }

    /// The name is derived from the text, so that behind a pooler that shares server connections a name never means two texts.
    private func preparedName(of statement: SQLStatement) throws -> String {
        if let known = prepared[statement] { return known }
        let name = "clarion_" + String(StatementName.number(of: statement.text), radix: 16)
        _ = try send(library.sendPrepare(raw, name, statement.text, 0, nil), context.limits.answer)
        prepared[statement] = name
        return name
    }

    private func noting(_ body: () throws -> PostgresResult) throws -> PostgresResult {
        if let failure { throw failure }
        do {
            return try body()
        } catch let fault as PostgresFault {
            failure = fault
            throw fault
        }
    }

    /// Undoes the transaction, whatever its state, if that is possible.
    func rollBack() {
        guard !isBroken else { return }
        (failure, endsFirst) = (nil, false)
        _ = try? simple("ROLLBACK", within: context.limits.answer)
        failure = nil
    }

    /// Ends a transaction that has written nothing without waiting for the answer. The next `begin` reads it.
    func endReading() {
        guard !isBroken, failure == nil else { return rollBack() }
        guard library.sendQuery(raw, "ROLLBACK") == 1 else {
            isBroken = true
            return
        }
        isEnding = true
        switch library.flush(raw) {
        case 0: break
        // Sent now, since the next use of this connection may be late.
        case 1: try? finishEnd()
        default: isBroken = true
        }
    }

    /// A fault here is not the next caller's: for it the connection was lost while idle.
    private func finishEnd() throws {
        guard isEnding else { return }
        isEnding = false
        do {
            _ = try send(1, context.limits.connect)
        } catch {
            isBroken = true
            throw PostgresFault.broken("the transaction before did not end")
        }
    }

    /// Lets the next transaction end this one, whose statement the server has refused. This saves a round trip, so that a retry does not
    /// start later than the transaction that won the conflict.
    func rollBackWithNext() { (failure, endsFirst) = (nil, true) }

    /// Ends what the next transaction would have ended.
    func finishRollBack() { if endsFirst { rollBack() } }

    /// Whether something was called on a channel that this connection listens to; waits for it at most so long.
    func hears(within limit: Duration) throws -> Bool {
        if takeCalls() { return true }
        guard let ready = SocketWait.wait(for: library.socket(raw), toWrite: false, atMost: limit), ready.canRead else {
            return false
        }
        guard library.consumeInput(raw) != 0 else { throw broken() }
        return takeCalls()
    }

    private func takeCalls() -> Bool {
        var isCalled = false
        while let call = library.nextCall(raw) {
            library.freeMemory(call)
            isCalled = true
        }
        return isCalled
    }

    func noteChange() { hasChanged = true }

    func noteCommit() { if hasChanged { keptCount += 1 } }

    /// Undoes what came after the savepoint and goes on.
    func forgetFailure() { failure = nil }
}

extension PostgresConnection {
    private func send(_ accepted: Int32, _ limit: Duration?, isPrepared: Bool = false) throws -> PostgresResult {
        guard accepted == 1 else { throw broken() }
        let deadline = limit.map { context.clock.uptime + $0 }
        try flush(until: deadline)
        var last: PostgresResult?
        beforeLast = nil
        var fault: PostgresFault?
        while let result = try next(until: deadline) {
            if let found = result.fault(isPrepared: isPrepared), fault == nil {
                fault = result.hasState ? found : broken()
            }
            (beforeLast, last) = (last, result)
        }
        if library.status(raw) != 0 { isBroken = true }
        if let fault {
            if fault.kind == .broken { isBroken = true }
            throw fault
        }
        guard let last else { throw broken() }
        return last
    }

    /// So much of a long answer is read at once. The server writes eight kilobytes at a time, and being woken for each of these costs
    /// more than all else that is done with them.
    private static let piece: Int32 = 32_768
    /// An answer counts as long after so many pieces. The last of a long one may be waited for a millisecond longer than it takes.
    private static let shortWaits = 3

    private func waitForMore(until deadline: Duration?, after waits: Int) throws {
        if waits >= Self.shortWaits, canGather, SocketWait.gather(Self.piece, from: library.socket(raw)) { return }
        _ = try wait(until: deadline, toWrite: false)
    }

    private func flush(until deadline: Duration?) throws {
        while true {
            switch library.flush(raw) {
            case 0: return
            case 1:
                // The server may wait for us to read before it reads on.
                let ready = try wait(until: deadline, toWrite: true)
                if ready.canRead, library.consumeInput(raw) == 0 { throw broken() }
            default: throw broken()
            }
        }
    }

    private func next(until deadline: Duration?) throws -> PostgresResult? {
        var waits = 0
        while library.isBusy(raw) != 0 {
            // The library reads sixteen kilobytes at a time, and there may be more.
            if waits == 0 || !SocketWait.canRead(library.socket(raw)) {
                try waitForMore(until: deadline, after: waits)
                waits += 1
            } else if let deadline, context.clock.uptime >= deadline {
                throw late()
            }
            guard library.consumeInput(raw) != 0 else { throw broken() }
        }
        return library.nextResult(raw).map { PostgresResult($0, library) }
    }

    private func wait(until deadline: Duration?, toWrite: Bool) throws -> SocketWait.Readiness {
        let left = deadline.map { $0 - context.clock.uptime }
        if let left, left <= .zero { throw late() }
        guard let ready = SocketWait.wait(for: library.socket(raw), toWrite: toWrite, atMost: left) else { throw late() }
        return ready
    }

    private func broken() -> PostgresFault {
        isBroken = true
        return .broken(context.url.scrubbed(Self.message(raw, context)))
    }

    /// The server is asked to stop what it does for this connection, and the connection is given up: what comes on it later would
    /// be taken for the answer to something else.
    private func late() -> PostgresFault {
        isBroken = true
        if let cancellation = library.cancellation(raw) { context.canceller.cancel(cancellation, library) }
        return .late("no answer within the deadline")
    }
}

/// Counts the warnings that a server sends beside its answers. Used by the thread of its connection alone.
private final class WarningCounter {
    private let library: LibPQ
    private(set) var number = 0

    init(_ library: LibPQ) { self.library = library }

    /// `counter` is what was handed to the library with the connection.
    static func count(_ notice: OpaquePointer?, at counter: UnsafeMutableRawPointer?) {
        guard let notice, let counter else { return }
        let found = Unmanaged<WarningCounter>.fromOpaque(counter).takeUnretainedValue()
        // The severity in English, whatever the language of the server.
        let severity = found.library.resultField(notice, Int32(UInt8(ascii: "V"))).map { String(cString: $0) }
        if severity == "WARNING" { found.number += 1 }
    }
}

/// A number that stands for the text of a statement.
enum StatementName {
    /// FNV-1a with 64 bits: two of some hundred texts never meet, and every process finds the same.
    static func number(of text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
