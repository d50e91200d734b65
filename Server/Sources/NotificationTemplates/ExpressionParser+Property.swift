extension ExpressionParser {
    /// One of `$(…)`, `.(…)`, `%(…)` and `#(…)`.
    mutating func property() throws(TemplateFault) -> Expression.Property {
        let start = index
        let sign = text.scalars[index]
        index += 1
        if sign == "$", isBody { throw fault(.bodyExpression, at: start) }
        guard take("(") else { throw fault(.expectedParenthesis) }
        let name = try name()
        let fallback = try fallback()
        let form = try form(of: sign)
        guard take(")") else { throw fault(.missingParenthesis, at: start) }
        return Expression.Property(name: name, form: form, fallback: fallback)
    }

    private var isBody: Bool {
        let word = text.scalars[index...].prefix(4)
        return word.count == 4 && zip(word, "body".unicodeScalars).allSatisfy { $0.properties.lowercaseMapping == String($1) }
    }

    private mutating func name() throws(TemplateFault) -> String {
        skipBlanks()
        let start = index
        while let scalar = peek, Self.isNameScalar(scalar) { index += 1 }
        let end = index
        skipBlanks()
        guard let next = peek else { throw fault(.missingParenthesis, at: start) }
        let isFallback = next == ":" && index + 1 < text.scalars.count && text.scalars[index + 1] == "{"
        guard next == ")" || next == "," || isFallback else { throw fault(.malformedPropertyName) }
        guard end > start else { throw fault(.missingPropertyName, at: start) }
        guard end - start <= TemplateLimits.propertyName else {
            throw fault(.propertyNameTooLong(limit: TemplateLimits.propertyName), at: start)
        }
        return text[start..<end].lowercased()
    }

    /// Any text up to a closing brace; a `\` before a character takes away its meaning.
    private mutating func fallback() throws(TemplateFault) -> String? {
        guard peek == ":" else { return nil }
        let start = index
        index += 2
        var view = String.UnicodeScalarView()
        while let scalar = peek {
            index += 1
            if scalar == "}" {
                skipBlanks()
                return String(view)
            }
            if scalar == "\\" {
                guard let escaped = peek else { break }
                index += 1
                view.append(escaped)
            } else {
                view.append(scalar)
            }
        }
        throw fault(.unterminatedFallback, at: start)
    }

    private mutating func form(of sign: Unicode.Scalar) throws(TemplateFault) -> Expression.Property.Form {
        let comma = index
        let length = try length()
        switch (sign, length) {
        case ("$", nil): return .whole
        case ("$", let length?): return .cut(length)
        case (".", let length?): return .dotted(length)
        case (".", nil): throw fault(.missingLength)
        case (_, .some): throw fault(.forbiddenLength, at: comma)
        case ("%", nil): return .encoded
        case (_, nil): return .bare
        }
    }

    private mutating func length() throws(TemplateFault) -> Int? {
        guard take(",") else { return nil }
        skipBlanks()
        let start = index
        _ = take("+")
        let digits = index
        while let scalar = peek, ("0"..."9").contains(scalar) { index += 1 }
        let end = index
        skipBlanks()
        guard end > digits, let length = Int32(text[digits..<end]), peek == ")" || peek == nil else {
            throw fault(.malformedLength, at: start)
        }
        return Int(length)
    }

    private static func isNameScalar(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_": true
        default: false
        }
    }
}
