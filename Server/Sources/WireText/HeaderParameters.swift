/// A header of the form `value; name=token; name="quoted text"`, for example `Content-Type` (RFC 9110, 5.6.6).
public struct HeaderParameters: Hashable, Sendable {
    /// What stands before the first semicolon.
    public let value: String
    /// The parameters by their names in lower case.
    public let parameters: [String: String]

    /// Reads a header; `nil` when it is malformed or names a parameter twice.
    public init?(_ header: String) {
        var rest = Substring(header).unicodeScalars
        let value = Self.take(&rest) { $0 != ";" }.trimmingBlanks
        guard !value.isEmpty else { return nil }
        var parameters: [String: String] = [:]
        while !rest.isEmpty {
            rest.removeFirst()
            Self.skipBlanks(&rest)
            if rest.isEmpty || rest.first == ";" { continue }
            let name = Self.take(&rest, while: Self.isToken).lowercased()
            guard !name.isEmpty, rest.popFirst() == "=", let text = Self.strictValue(&rest),
                parameters.updateValue(text, forKey: name) == nil
            else { return nil }
            Self.skipBlanks(&rest)
            guard rest.isEmpty || rest.first == ";" else { return nil }
        }
        self.value = value
        self.parameters = parameters
    }

    /// Reads what old clients write: blanks around `=`, values that are no tokens, quotes that never close, and of two parameters of one
    /// name the first. At most 16 parameters count.
    public init(lenient header: String) {
        var rest = Substring(header).unicodeScalars
        value = Self.take(&rest) { $0 != ";" }.trimmingBlanks
        var parameters: [String: String] = [:]
        while parameters.count < 16, rest.popFirst() == ";" {
            let name = Self.take(&rest) { $0 != "=" && $0 != ";" }.trimmingBlanks.lowercased()
            guard rest.first == "=" else { continue }
            rest.removeFirst()
            Self.skipBlanks(&rest)
            let isQuoted = rest.first == "\""
            let text = isQuoted ? Self.quoted(&rest) { _ in true }.text : Self.take(&rest) { $0 != ";" }.trimmingBlanks
            parameters[name] = parameters[name] ?? text
            _ = Self.take(&rest) { $0 != ";" }
        }
        self.parameters = parameters
    }

    private static func take(_ rest: inout Substring.UnicodeScalarView, while isPart: (Unicode.Scalar) -> Bool) -> Substring {
        let part = rest.prefix(while: isPart)
        rest = rest[part.endIndex...]
        return Substring(part)
    }

    private static func strictValue(_ rest: inout Substring.UnicodeScalarView) -> String? {
        guard rest.first == "\"" else {
            let token = take(&rest, while: isToken)
            return token.isEmpty ? nil : String(token)
        }
        // A backslash is also what old browsers leave in a path; before any other character it stands for itself.
        let (text, isClosed) = quoted(&rest) { $0 == "\"" || $0 == "\\" }
        return isClosed ? text : nil
    }

    /// A text in quotes, and whether they close. A backslash before what is not `isEscaped` stands for itself.
    private static func quoted(
        _ rest: inout Substring.UnicodeScalarView, isEscaped: (Unicode.Scalar) -> Bool
    ) -> (text: String, isClosed: Bool) {
        rest.removeFirst()
        var text = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            if scalar == "\"" { return (String(text), true) }
            if scalar == "\\", let next = rest.first, isEscaped(next) {
                text.append(rest.removeFirst())
            } else {
                text.append(scalar)
            }
        }
        return (String(text), false)
    }

    private static func skipBlanks(_ rest: inout Substring.UnicodeScalarView) { rest = rest.drop { $0 == " " || $0 == "\t" } }

    private static func isToken(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: "!#$%&'*+-.^_`|~".unicodeScalars.contains(scalar)
        }
    }
}
