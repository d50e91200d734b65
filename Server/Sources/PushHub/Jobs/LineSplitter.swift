/// Cuts a file that arrives in pieces into lines, without ever holding more than one line and one piece.
public struct LineSplitter: Sendable {
    /// A line of the file.
    public struct Line: Hashable, Sendable {
        /// Counted from 1, empty lines included.
        public var number: Int
        /// Without its line end; `nil` when the line is longer than allowed.
        public var bytes: [UInt8]?
        /// Where the next line begins, in bytes from the start of the file: from there reading can go on.
        public var end: Int

        /// Creates a line.
        public init(number: Int, bytes: [UInt8]?, end: Int) {
            self.number = number
            self.bytes = bytes
            self.end = end
        }
    }

    /// The longest line, in bytes.
    public let limit: Int
    private var buffer: [UInt8] = []
    /// Where the next line begins in `buffer`, and up to where no line end was found.
    private var start = 0
    private var searched = 0
    private var discards = false
    private var number: Int
    private var offset: Int

    /// Creates a splitter.
    ///
    /// - Parameters:
    ///   - limit: the longest line, in bytes; longer ones are skipped and reported.
    ///   - number: how many lines came before, when reading goes on.
    ///   - offset: where in the file reading goes on, the `end` of the last line.
    public init(limit: Int, after number: Int = 0, offset: Int = 0) {
        self.limit = limit
        self.number = number
        self.offset = offset
    }

    /// Adds the next piece of the file.
    public mutating func append(_ piece: some Sequence<UInt8>) {
        buffer.removeFirst(start)
        searched -= start
        start = 0
        buffer.append(contentsOf: piece)
    }

    /// The next whole line, or `nil` when more of the file is needed. Empty lines are skipped.
    public mutating func next() -> Line? {
        while let end = buffer[searched...].firstIndex(of: 0x0A) {
            let bytes = buffer[start..<end]
            offset += bytes.count + 1
            start = end + 1
            searched = start
            if let line = line(bytes) { return line }
        }
        searched = buffer.count
        if buffer.count - start > limit {
            // The rest of this line is not kept either.
            discards = true
            offset += buffer.count - start
            start = buffer.count
        }
        return nil
    }

    /// The last line, when the file does not end with a line end. Call it once, after `next` has nothing more.
    public mutating func finish() -> Line? {
        let bytes = buffer[start...]
        guard !bytes.isEmpty || discards else { return nil }
        offset += bytes.count
        start = buffer.count
        searched = start
        return line(bytes)
    }

    private mutating func line(_ bytes: ArraySlice<UInt8>) -> Line? {
        number += 1
        let isFirst = number == 1
        let wasDiscarding = discards
        discards = false
        if wasDiscarding || bytes.count > limit { return Line(number: number, bytes: nil, end: offset) }
        var bytes = bytes
        if isFirst, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        while let last = bytes.last, Self.isSpace(last) { bytes = bytes.dropLast() }
        while let first = bytes.first, Self.isSpace(first) { bytes = bytes.dropFirst() }
        return bytes.isEmpty ? nil : Line(number: number, bytes: Array(bytes), end: offset)
    }
    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
}
