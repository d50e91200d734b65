/// A header of the form `value; name=token; name="quoted text"`, for example `Content-Type` (RFC 9110, 5.6.6).
public struct HeaderParameters: Hashable, Sendable {
    /// What stands before the first semicolon.
    public let value: String
    /// The parameters by their names in lower case.
    public let parameters: [String: String]

    /// Reads a header; `nil` when it is malformed or names a parameter twice.
    public init?(_ header: some StringProtocol) {
        var rest = Substring(header)
        let value = Self.trimmed(Self.take(&rest) { $0 != ";" })
        guard !value.isEmpty else { return nil }
        var parameters: [String: String] = [:]
        while !rest.isEmpty {
            rest.removeFirst()
            Self.skipBlanks(&rest)
            if rest.isEmpty || rest.first == ";" { continue }
            let name = Self.take(&rest, while: Self.isToken).lowercased()
            guard !name.isEmpty, rest.first == "=" else { return nil }
            rest.removeFirst()
            guard let text = rest.first == "\"" ? Self.quoted(&rest) : Self.token(&rest) else { return nil }
            guard parameters.updateValue(text, forKey: name) == nil else { return nil }
            Self.skipBlanks(&rest)
            guard rest.isEmpty || rest.first == ";" else { return nil }
        }
        self.value = value
        self.parameters = parameters
    }

    private static func take(_ rest: inout Substring, while isPart: (Character) -> Bool) -> Substring {
        let part = rest.prefix(while: isPart)
        rest = rest[part.endIndex...]
        return part
    }

    private static func token(_ rest: inout Substring) -> String? {
        let text = take(&rest, while: isToken)
        return text.isEmpty ? nil : String(text)
    }

    private static func quoted(_ rest: inout Substring) -> String? {
        rest.removeFirst()
        var text = ""
        while let character = rest.popFirst() {
            switch character {
            case "\"": return text
            // A backslash is also what old browsers leave in a path; before any other character it stands for itself.
            case "\\" where rest.first == "\"" || rest.first == "\\": text.append(rest.removeFirst())
            default: text.append(character)
            }
        }
        return nil
    }

    private static func skipBlanks(_ rest: inout Substring) { rest = rest.drop { $0 == " " || $0 == "\t" } }

    private static func trimmed(_ text: Substring) -> String {
        var text = text.drop { $0 == " " || $0 == "\t" }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return String(text)
    }

    private static func isToken(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || "!#$%&'*+-.^_`|~".contains(character))
    }
}
