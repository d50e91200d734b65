/// The columns of one row while it is being read, by position. Cheaper than a row that is kept.
public protocol SQLColumns {
    /// An integer column. Throws `SQLFault.unexpectedColumn` for another type.
    func integer(_ column: Int) throws -> Int64

    /// An integer column that may be null.
    func optionalInteger(_ column: Int) throws -> Int64?

    /// A text column. Throws `SQLFault.unexpectedColumn` for another type.
    func text(_ column: Int) throws -> String

    /// A text column that may be null.
    func optionalText(_ column: Int) throws -> String?

    /// Four neighbouring integer columns. Throws `SQLFault.unexpectedColumn` for another type.
    func integers(from first: Int) throws -> SIMD4<Int64>

    /// Puts the bytes of four neighbouring text columns behind those that are there, and returns where each of them ends; of one that
    /// is null there is nothing.
    func appendTexts(from first: Int, to bytes: inout [UInt8]) throws -> SIMD4<Int>
}

extension SQLRow: SQLColumns {
    public func integers(from first: Int) throws -> SIMD4<Int64> {
        SIMD4(try integer(first), try integer(first + 1), try integer(first + 2), try integer(first + 3))
    }

    public func appendTexts(from first: Int, to bytes: inout [UInt8]) throws -> SIMD4<Int> {
        var ends = SIMD4<Int>()
        for place in ends.indices {
            if let text = try optionalText(first + place) { bytes.append(contentsOf: text.utf8) }
            ends[place] = bytes.count
        }
        return ends
    }
}
