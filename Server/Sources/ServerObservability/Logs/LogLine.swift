/// One record, ready to be written in either form.
struct LogLine {
    let time: String
    let level: String
    let label: String
    let message: String
    let pairs: [(key: String, value: String)]

    /// For people: plain words stay plain, anything else is quoted.
    var text: String {
        var line = "\(time) \(level) \(label) \(Self.quoted(message))"
        for (key, value) in pairs { line += " \(key)=\(Self.isPlain(value) ? value : Self.quoted(value))" }
        return line + "\n"
    }

    /// For machines: one object with `time`, `level`, `logger`, `message` and the keys of the metadata, which are none of these.
    var json: String {
        let fixed = [("time", time), ("level", level), ("logger", label), ("message", message)]
        let members = (fixed + pairs.map { ($0.key, $0.value) }).map { "\(Self.quoted($0)):\(Self.quoted($1))" }
        return "{" + members.joined(separator: ",") + "}\n"
    }

    private static func isPlain(_ value: String) -> Bool {
        !value.isEmpty
            && value.utf8.allSatisfy { (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }

    /// A JSON string. Line breaks, terminal escapes and direction marks never reach the log as themselves.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            default:
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator:
                    for unit in String(scalar).utf16 {
                        let digits = String(unit, radix: 16)
                        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                    }
                default: quoted.unicodeScalars.append(scalar)
                }
            }
        }
        return quoted + "\""
    }
}
