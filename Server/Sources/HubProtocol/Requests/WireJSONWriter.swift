import WireText

/// Writes JSON to the byte: no blanks, `"` `\` and control characters escaped, everything else as UTF-8.
struct WireJSONWriter {
    private var bytes: [UInt8] = []

    var text: String { String(decoding: bytes, as: UTF8.self) }

    mutating func write(_ value: WireJSON) {
        switch value {
        case .null: bytes += Array("null".utf8)
        case .bool(let isTrue): bytes += Array((isTrue ? "true" : "false").utf8)
        case .number(let text): bytes += Array(text.utf8)
        case .string(let text): JSONText.append(string: text, to: &bytes)
        case .array(let values): write(values, UInt8(ascii: "["), UInt8(ascii: "]")) { $0.write($1) }
        case .object(let members):
            write(members, UInt8(ascii: "{"), UInt8(ascii: "}")) { writer, member in
                JSONText.append(string: member.name, to: &writer.bytes)
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
}
