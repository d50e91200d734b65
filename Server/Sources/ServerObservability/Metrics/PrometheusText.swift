/// Words of the exposition format.
enum PrometheusText {
    /// A metric or label name: letters, digits and underscores, no digit first. Everything else becomes an underscore.
    static func name(_ text: String) -> String {
        var name = String(
            text.unicodeScalars.map {
                $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0)) ? Character($0) : "_"
            })
        if name.isEmpty || name.first?.isNumber == true { name = "_" + name }
        return name
    }

    /// A label value with its escapes, at most 120 characters.
    static func value(_ text: String) -> String {
        var escaped = ""
        for character in text.prefix(120) {
            switch character {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n", "\r\n", "\r": escaped += "\\n"
            default: escaped.append(character)
            }
        }
        return escaped
    }

    static func help(_ text: String) -> String { text.split(whereSeparator: \.isNewline).joined(separator: " ") }

    static func number(_ value: Double) -> String {
        if value == .infinity { return "+Inf" }
        if let whole = Int64(exactly: value) { return String(whole) }
        return String(value)
    }
}
