/// Reads an expression (Reference/AzureNotificationHubs.md#4-2, as the official .NET client checks it before it sends).
///
///     expression := "{" term { "+" term } "}" | property { "+" term }
///     term       := property | "'" text "'" | "\"" text "\""
///     property   := ( "$" | "." | "%" | "#" ) "(" name [ ":{" fallback "}" ] [ "," length ] ")"
///
/// Blanks are free between the tokens. The braces may be missing around a concatenation and `#` may stand alone in braces, because
/// that client lets both pass. Nothing recurses, so time and stack are bounded by the length.
struct ExpressionParser {
    typealias Expression = TemplateExpression

    let text: PositionedText
    var index = 0

    init(_ text: PositionedText) { self.text = text }

    /// The expression that the text is; `nil` if it is a literal, which is any text that begins with none of the five characters.
    static func parse(_ text: PositionedText) throws(TemplateFault) -> Expression? {
        guard let first = text.scalars.first, ["$", ".", "%", "#", "{"].contains(first) else { return nil }
        var parser = ExpressionParser(text)
        return try parser.expression()
    }

    private mutating func expression() throws(TemplateFault) -> Expression {
        let isBraced = take("{")
        var terms: [Expression.Term] = []
        var bareIndex: Int?
        repeat {
            skipBlanks()
            if peek == "#" { bareIndex = index }
            terms.append(try term())
            if let bareIndex, terms.count > 1 { throw fault(.bareInConcatenation, at: bareIndex) }
            // Blanks that belong to no token are no part of an expression without braces.
            if isBraced || nextBeyondBlanks == "+" { skipBlanks() }
        } while take("+")
        if isBraced, !take("}") { throw fault(.missingBrace) }
        guard index == text.scalars.count else { throw fault(.textAfterExpression) }
        return Expression(terms: terms)
    }

    private mutating func term() throws(TemplateFault) -> Expression.Term {
        switch peek {
        case "'", "\"": return .literal(try literal())
        case "$", ".", "%", "#": return .property(try property())
        default: throw fault(.expectedTerm)
        }
    }

    /// A literal in quotes; a quote in it is doubled.
    private mutating func literal() throws(TemplateFault) -> String {
        let start = index
        let quote = text.scalars[index]
        var view = String.UnicodeScalarView()
        index += 1
        while let scalar = peek {
            index += 1
            if scalar == quote, !take(quote) { return String(view) }
            view.append(scalar)
        }
        throw fault(.unterminatedLiteral, at: start)
    }

    var peek: Unicode.Scalar? { index < text.scalars.count ? text.scalars[index] : nil }

    mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard peek == scalar else { return false }
        index += 1
        return true
    }

    mutating func skipBlanks() {
        while let scalar = peek, scalar.properties.isWhitespace { index += 1 }
    }

    private var nextBeyondBlanks: Unicode.Scalar? {
        var ahead = self
        ahead.skipBlanks()
        return ahead.peek
    }

    func fault(_ reason: TemplateError.Reason, at index: Int? = nil) -> TemplateFault {
        TemplateFault(reason, at: text.offset(index ?? self.index))
    }

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

/// A text whose characters know the byte of the body that they were read from, so that an error in an expression names the place
/// in the body even behind escapes.
struct PositionedText {
    private(set) var scalars: [Unicode.Scalar] = []
    /// The byte of each scalar.
    private(set) var offsets: [Int] = []
    /// The byte behind the last scalar.
    var end: Int

    init(end: Int) { self.end = end }

    /// A text that stands by itself, without escapes.
    init(_ text: String) {
        end = text.utf8.count
        var offset = 0
        for scalar in text.unicodeScalars {
            append(scalar, at: offset)
            offset += UTF8.width(scalar)
        }
    }

    mutating func append(_ scalar: Unicode.Scalar, at offset: Int) {
        scalars.append(scalar)
        offsets.append(offset)
    }

    /// The byte of the scalar at `index`, or of the end.
    func offset(_ index: Int) -> Int { index < offsets.count ? offsets[index] : end }

    /// The whole text.
    var string: String { self[scalars.indices] }

    /// The text between two scalars.
    subscript(range: Range<Int>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars[range])
        return String(view)
    }
}
