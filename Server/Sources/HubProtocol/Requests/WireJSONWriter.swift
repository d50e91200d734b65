/// Writes JSON to the byte: no blanks, `"` `\` and control characters escaped, everything else as UTF-8.
struct WireJSONWriter {
    private var bytes: [UInt8] = []

    var text: String { String(decoding: bytes, as: UTF8.self) }

    mutating func write(_ value: WireJSON) {
        switch value {
        case .null: bytes += Array("null".utf8)
        case .bool(let isTrue): bytes += Array((isTrue ? "true" : "false").utf8)
        case .number(let text): bytes += Array(text.utf8)
        case .string(let text): write(text)
        case .array(let values): write(values, UInt8(ascii: "["), UInt8(ascii: "]")) { $0.write($1) }
        case .object(let members):
            write(members, UInt8(ascii: "{"), UInt8(ascii: "}")) { writer, member in
                writer.write(member.name)
                writer.bytes.append(UInt8(ascii: ":"))
                writer.write(member.value)
            }
        }
    }

    private mutating func write<Element>(
        _ elements: [Element], _ open: UInt8, _ close: UInt8, _ body: (inout WireJSONWriter, Element) -> Void
    ) {
        bytes.append(open)
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            body(&self, element)
        }
        bytes.append(close)
    }

    private mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x0A: bytes += Array("\\n".utf8)
            case 0x0D: bytes += Array("\\r".utf8)
            case 0x09: bytes += Array("\\t".utf8)
            case 0..<0x20: bytes += Array("\\u00".utf8) + [Self.digit(byte >> 4), Self.digit(byte & 15)]
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func digit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
    }
}
