import SQLStorage

/// What the server answered to one statement. Frees the library's memory with itself.
final class PostgresResult {
    private let library: LibPQ
    private let raw: OpaquePointer
    private let types: [ColumnType]
    let count: Int

    init(_ raw: OpaquePointer, _ library: LibPQ) {
        self.raw = raw
        self.library = library
        count = Int(library.rowCount(raw))
        types = (0..<library.columnCount(raw)).map { ColumnType(library.columnType(raw, $0)) }
    }

    deinit { library.clear(raw) }

    /// Why the statement failed; `nil` if it did not. `isPrepared` says that the server had prepared it before.
    func fault(isPrepared: Bool) -> PostgresFault? {
        // 1 and 2 are a command and rows that went well, 0 is an empty text.
        guard library.resultStatus(raw) > 2 else { return nil }
        return PostgresFault(state: field("C") ?? "XX000", message: field("M") ?? "no message", isPrepared: isPrepared)
    }

    /// Whether the server sent the error itself; the library makes one up when the connection ends.
    var hasState: Bool { field("C") != nil }

    /// The first word of the command that was done, for example `COMMIT`.
    var command: Substring {
        (library.commandStatus(raw).map { String(cString: $0) } ?? "").prefix { $0 != " " }
    }

    /// How many rows the statement changed.
    var changes: Int { library.changedRows(raw).flatMap { Int(String(cString: $0)) } ?? 0 }

    private func field(_ code: Unicode.Scalar) -> String? {
        library.resultField(raw, Int32(code.value)).map { String(cString: $0) }
    }
}

extension PostgresResult {
    /// The column types that the statements use; determined once for each result, not for each value.
    fileprivate enum ColumnType {
        case bool, bytes, text, int64, int32, int16, other

        /// By the fixed number of a type.
        init(_ number: UInt32) {
            switch number {
            case 16: self = .bool
            case 17: self = .bytes
            // text, unknown, name, char(n), varchar(n)
            case 25, 705, 19, 1042, 1043: self = .text
            case 20: self = .int64
            case 23: self = .int32
            case 21: self = .int16
            default: self = .other
            }
        }
    }

    func value(_ row: Int, _ column: Int) throws -> SQLValue {
        guard !isNull(row, column) else { return .null }
        switch types[column] {
        case .bytes: return .bytes(Array(content(row, column)))
        case .text: return .text(try text(row, column))
        default: return .integer(try integer(row, column))
        }
    }

    func values(_ row: Int) throws -> SQLRow { SQLRow(try types.indices.map { try value(row, $0) }) }

    func isNull(_ row: Int, _ column: Int) -> Bool { library.isNull(raw, Int32(row), Int32(column)) != 0 }

    /// A null has no bytes, which no number has.
    func integer(_ row: Int, _ column: Int) throws -> Int64 {
        let content = content(row, column)
        switch (types[column], content.count) {
        case (.int64, 8): return Int64(bigEndian: content.loadUnaligned(as: Int64.self))
        case (.int32, 4): return Int64(Int32(bigEndian: content.loadUnaligned(as: Int32.self)))
        case (.int16, 2): return Int64(Int16(bigEndian: content.loadUnaligned(as: Int16.self)))
        case (.bool, 1): return content[0] == 0 ? 0 : 1
        default: throw SQLFault.unexpectedColumn(column)
        }
    }

    func text(_ row: Int, _ column: Int) throws -> String {
        guard types[column] == .text, !isNull(row, column) else { throw SQLFault.unexpectedColumn(column) }
        return String(decoding: content(row, column), as: UTF8.self)
    }

    func appendTexts(_ row: Int, from first: Int, to bytes: inout [UInt8]) throws -> SIMD4<Int> {
        var ends = SIMD4<Int>()
        for place in ends.indices {
            let column = first + place
            if !isNull(row, column) {
                guard types[column] == .text else { throw SQLFault.unexpectedColumn(column) }
                bytes.append(contentsOf: content(row, column))
            }
            ends[place] = bytes.count
        }
        return ends
    }

    /// Valid as long as the result is.
    private func content(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: library.value(raw, Int32(row), Int32(column)), count: Int(library.length(raw, Int32(row), Int32(column))))
    }
}

/// One row of a result, read column by column where it lies.
struct PostgresColumns: SQLColumns {
    let result: PostgresResult
    let row: Int

    func integer(_ column: Int) throws -> Int64 { try result.integer(row, column) }
    func optionalInteger(_ column: Int) throws -> Int64? { result.isNull(row, column) ? nil : try integer(column) }
    func text(_ column: Int) throws -> String { try result.text(row, column) }
    func optionalText(_ column: Int) throws -> String? { result.isNull(row, column) ? nil : try text(column) }

    func integers(from first: Int) throws -> SIMD4<Int64> {
        SIMD4(try integer(first), try integer(first + 1), try integer(first + 2), try integer(first + 3))
    }

    func appendTexts(from first: Int, to bytes: inout [UInt8]) throws -> SIMD4<Int> {
        try result.appendTexts(row, from: first, to: &bytes)
    }
}

/// The values of one statement in the form in which the library takes them.
///
/// Integers travel as text, so that they fit whatever integer type the server infers; text and bytes travel as they are, with
/// their length, so that nothing in them ends them early.
struct PostgresParameters {
    private var bytes: [UInt8] = []
    private var starts: [Int?] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    init(_ values: [SQLValue]) {
        starts.reserveCapacity(values.count)
        lengths.reserveCapacity(values.count)
        formats.reserveCapacity(values.count)
        for value in values {
            switch value {
            case .null:
                starts.append(nil)
                lengths.append(0)
                formats.append(0)
            case .integer(let number): append("\(number)".utf8, format: 0)
            case .text(let text): append(text.utf8, format: 1)
            case .bytes(let bytes): append(bytes, format: 1)
            }
        }
    }

    private mutating func append(_ content: some Collection<UInt8>, format: Int32) {
        starts.append(bytes.count)
        lengths.append(Int32(clamping: content.count))
        formats.append(format)
        bytes.append(contentsOf: content)
        bytes.append(0)
    }

    /// Calls with the number of values, their pointers, lengths and formats.
    func withPointers<Result>(
        _ body: (Int32, LibPQ.Texts?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Result
    ) -> Result {
        bytes.withUnsafeBytes { memory in
            let base = memory.bindMemory(to: CChar.self).baseAddress
            let pointers = starts.map { start -> UnsafePointer<CChar>? in start.flatMap { base?.advanced(by: $0) } }
            return pointers.withUnsafeBufferPointer { pointers in
                body(Int32(starts.count), pointers.baseAddress, lengths, formats)
            }
        }
    }
}

/// A connection as storage sees it. Lives only inside a transaction's closure.
struct PostgresTransaction: SQLConnection {
    let link: PostgresConnection
    /// Whether statements are sent with their text each time.
    let unnamed: Bool

    var dialect: SQLDialect { .postgresql }

    func rows(_ statement: SQLStatement, _ values: [SQLValue]) throws -> [SQLRow] {
        let result = try execute(statement, values)
        return try (0..<result.count).map(result.values)
    }

    func forEachRow(_ statement: SQLStatement, _ values: [SQLValue], _ body: (any SQLColumns) throws -> Void) throws {
        let result = try execute(statement, values)
        for row in 0..<result.count { try body(PostgresColumns(result: result, row: row)) }
    }

    @discardableResult
    func run(_ statement: SQLStatement, _ values: [SQLValue]) throws -> Int {
        let changes = try execute(statement, values).changes
        if changes > 0 { link.noteChange() }
        return changes
    }

    /// As long as it takes: a step of the schema may lay out a large table anew.
    func script(_ text: String) throws {
        do { _ = try link.simple(text, within: nil) } catch let fault as PostgresFault { throw fault.fault }
    }

    private func execute(_ statement: SQLStatement, _ values: [SQLValue]) throws -> PostgresResult {
        guard statement.appearance.allSatisfy({ (1...values.count).contains($0) }) else {
            throw SQLFault.refused(code: 1, reason: "a value is missing")
        }
        // An engine that numbers parameters wants no value more than it has numbers.
        let needed = Array(values.prefix(statement.appearance.max() ?? 0))
        do {
            return try link.execute(statement, needed, unnamed: unnamed)
        } catch let fault as PostgresFault {
            throw fault.fault
        }
    }
}
