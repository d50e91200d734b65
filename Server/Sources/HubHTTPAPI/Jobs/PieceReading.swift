import PushHub

/// Reads a range of a file piece by piece.
actor PieceReading {
    private static let size: Int64 = 64 * 1024
    private let file: any BlobReading
    private var rest: Range<Int64>

    init(file: any BlobReading, range: Range<Int64>) {
        self.file = file
        rest = range
    }

    /// The next piece, `nil` at the end. One caller asks, one piece after the other.
    func next() async throws -> [UInt8]? {
        guard !rest.isEmpty else { return nil }
        let piece = rest.lowerBound..<min(rest.upperBound, rest.lowerBound + Self.size)
        rest = piece.upperBound..<rest.upperBound
        return try await file.read(at: piece.lowerBound, count: Int(piece.count))
    }
}
