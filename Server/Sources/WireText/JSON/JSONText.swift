/// Writes JSON with its keys in the order of the calls, so that a push has the same bytes every time.
public enum JSONText {
    /// An object of the members that are not `nil`.
    public static func object(_ members: [(name: String, value: String?)]) -> String {
        let written = members.compactMap { member in member.value.map { "\(string(member.name)):\($0)" } }
        return "{\(written.joined(separator: ","))}"
    }

    /// A string literal (RFC 8259 section 7). Everything that need not be escaped stays as it is, to save bytes.
    public static func string(_ value: String) -> String {
        var bytes: [UInt8] = []
        append(string: value, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends a string literal.
    public static func append(string value: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x0A: bytes += "\\n".utf8
            case 0x0D: bytes += "\\r".utf8
            case 0x09: bytes += "\\t".utf8
            case 0..<0x20: bytes += "\\u00\(Hexadecimal.text(of: CollectionOfOne(byte)))".utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
