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
}
