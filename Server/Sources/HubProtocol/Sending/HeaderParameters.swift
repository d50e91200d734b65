/// A header value of the form `word; name=value; name = "value"`. Blanks around `=` and `;` do not matter.
struct HeaderParameters {
    /// What stands in front, in lower case.
    let word: String
    private var pairs: [HeaderField] = []

    init(_ text: String) {
        var rest = Substring(text).unicodeScalars
        let first = rest.prefix { $0 != ";" }
        word = String(Substring(first)).trimmingBlanks.lowercased()
        rest = rest.dropFirst(first.count)
        while rest.popFirst() == ";", pairs.count < 16 {
            let name = rest.prefix { $0 != "=" && $0 != ";" }
            rest = rest.dropFirst(name.count)
            guard rest.first == "=" else { continue }
            rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
            pairs.append(HeaderField(String(Substring(name)).trimmingBlanks.lowercased(), Self.value(&rest)))
            rest = rest.drop { $0 != ";" }
        }
    }

    /// The first value under the name, given in lower case.
    subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

    private static func value(_ rest: inout Substring.UnicodeScalarView) -> String {
        guard rest.first == "\"" else {
            let value = rest.prefix { $0 != ";" }
            rest = rest.dropFirst(value.count)
            return String(Substring(value)).trimmingBlanks
        }
        rest.removeFirst()
        var value = String.UnicodeScalarView()
        while let scalar = rest.popFirst(), scalar != "\"" {
            if scalar == "\\", let escaped = rest.popFirst() { value.append(escaped) } else { value.append(scalar) }
        }
        return String(value)
    }
}
