/// What was said on connections, as `decode.py` reads it: pieces of two bytes for the number of the connection, one byte `c` or `s` for
/// who spoke, four bytes of length, and the bytes.
struct TunnelTape: Sendable {
    enum Side: Character, Sendable {
        case client = "c"
        case server = "s"
    }

    private(set) var bytes: [UInt8] = []

    mutating func note(_ side: Side, _ piece: [UInt8], connection: Int = 1) {
        bytes += Self.bigEndian(connection, 2)
        bytes += [side.rawValue.asciiValue ?? 0]
        bytes += Self.bigEndian(piece.count, 4) + piece
    }

    private static func bigEndian(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}
