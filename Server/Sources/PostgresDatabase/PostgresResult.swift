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

    /// Why the statement failed; `nil` if it did not. `isPrepared` tells one that the server had prepared before.
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
    /// The types of columns that the statements have; told apart once for each result, not for each value.
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
