import SQLStorage

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
