/// Writes JSON with its keys in the order of the calls, so that a push has the same bytes every time.
enum JSONText {
    /// An object of the members that are not `nil`.
    static func object(_ members: [(name: String, value: String?)]) -> String {
        let written = members.compactMap { member in member.value.map { "\(string(member.name)):\($0)" } }
        return "{\(written.joined(separator: ","))}"
    }

    /// A string literal (RFC 8259 section 7). Everything that need not be escaped stays as it is, to save bytes.
    static func string(_ value: String) -> String {
        var json = "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": json += "\\\""
            case "\\": json += "\\\\"
            case "\n": json += "\\n"
            case "\r": json += "\\r"
            case "\t": json += "\\t"
            case _ where scalar.value < 0x20: json += "\\u00" + Hexadecimal.text(of: [UInt8(scalar.value)])
            default: json.unicodeScalars.append(scalar)
            }
        }
        return json + "\""
    }
}
