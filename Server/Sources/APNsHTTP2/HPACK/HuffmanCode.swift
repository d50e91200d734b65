/// The Huffman code of HPACK (RFC 7541, 5.2 and Appendix B).
enum HuffmanCode {
    /// The bits that `byte` takes.
    @inline(__always)
    static func length(of byte: UInt8) -> Int { Int(encoding[Int(byte)].length) }

    /// The bytes that a string of these bytes takes.
    static func encodedLength(of text: some Sequence<UInt8>) -> Int {
        (text.reduce(0) { $0 + length(of: $1) } + 7) / 8
    }

    static let encoding: [(code: UInt32, length: UInt8)] = Array(table.prefix(256))
    static let endOfString = 256
}
