/// Percent escapes as signature version 4 wants them: all but the unreserved characters, in upper case.
enum S3Escaping {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// A name or value of a query.
    static func query(_ text: String) -> String { escaped(text, slash: false) }

    /// A path, whose slashes stay.
    static func path(_ text: String) -> String { escaped(text, slash: true) }

    private static func escaped(_ text: String, slash: Bool) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isUnreserved(byte) || (slash && byte == UInt8(ascii: "/")) {
                result.append(byte)
            } else {
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0x0F)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
