import RichPushModel

/// Reads an expression by recursive descent; depth, length and number of tags are bounded, so time and stack are too.
///
///     or    := and { "||" and }
///     and   := unary { "&&" unary }
///     unary := "!" unary | "(" or ")" | tag
private struct TagExpressionParser {
    private var scanner: TagExpressionScanner
    private var token: TagExpressionScanner.Token
    private var depth = 0
    private var tagPositions: [Int] = []

    init(_ text: String, commas: TagExpression.Commas) throws(TagExpressionError) {
        guard text.utf8.count <= TagExpressionLimits.bytes else { throw TagExpressionError(.tooLong, at: 0) }
        scanner = TagExpressionScanner(text, commas: commas)
        token = try scanner.next()
    }

    mutating func parse() throws(TagExpressionError) -> TagExpression {
        if token == .end { throw TagExpressionError(.empty, at: 0) }
        let expression = try alternatives()
        guard token == .end else { throw TagExpressionError(.expectedOperator, at: scanner.position) }
        if !expression.hasOnlyAlternatives, tagPositions.count > TagExpressionLimits.tags {
            throw TagExpressionError(
                .tooManyTags(limit: TagExpressionLimits.tags), at: tagPositions[TagExpressionLimits.tags])
        }
        return expression
    }

    private mutating func alternatives() throws(TagExpressionError) -> TagExpression {
        var expression = try conjunction()
        while token == .or {
            token = try scanner.next()
            expression = .or(expression, try conjunction())
        }
        return expression
    }

    private mutating func conjunction() throws(TagExpressionError) -> TagExpression {
        var expression = try unary()
        while token == .and {
            token = try scanner.next()
            expression = .and(expression, try unary())
        }
        return expression
    }

    private mutating func unary() throws(TagExpressionError) -> TagExpression {
        switch token {
        case .tag(let tag):
            try count()
            token = try scanner.next()
            return .tag(tag)
        case .not:
            return .not(try nested { parser throws(TagExpressionError) in try parser.unary() })
        case .open:
            let opened = scanner.position
            let inner = try nested { parser throws(TagExpressionError) in try parser.alternatives() }
            guard token == .close else {
                throw TagExpressionError(token == .end ? .missingParenthesis : .expectedOperator, at: opened)
            }
            token = try scanner.next()
            return inner
        case .and, .or, .close, .end:
            throw TagExpressionError(.expectedOperand, at: scanner.position)
        }
    }

    private mutating func nested(
        _ body: (inout TagExpressionParser) throws(TagExpressionError) -> TagExpression
    ) throws(TagExpressionError) -> TagExpression {
        guard depth < TagExpressionLimits.depth else { throw TagExpressionError(.tooDeep, at: scanner.position) }
        depth += 1
        token = try scanner.next()
        let expression = try body(&self)
        depth -= 1
        return expression
    }

    private mutating func count() throws(TagExpressionError) {
        guard tagPositions.count < TagExpressionLimits.tagsInAlternatives else {
            throw TagExpressionError(.tooManyTags(limit: TagExpressionLimits.tagsInAlternatives), at: scanner.position)
        }
        tagPositions.append(scanner.position)
    }
}

extension TagExpression {
    /// What a comma between tags means.
    public enum Commas: Hashable, Sendable {
        /// It is a mistake: the grammar has none.
        case refused
        /// The same as `||`. For the tags header of a send: a client that is given a list of tags where it expects an expression
        /// joins them with commas (Reference/AzureNotificationHubs.md#2-7).
        case joinAlternatives
    }

    /// Reads the text of an expression (Reference/AzureNotificationHubs.md#3-2). Throws with the place for anything that breaks
    /// the grammar or a limit.
    public init(parsing text: String, commas: Commas = .refused) throws(TagExpressionError) {
        var parser = try TagExpressionParser(text, commas: commas)
        self = try parser.parse()
    }
}

/// Cuts the text of an expression into tokens.
private struct TagExpressionScanner {
    enum Token: Hashable {
        case tag(Tag)
        case not, and, or, open, close, end
    }

    private let scalars: [Unicode.Scalar]
    private let commas: TagExpression.Commas
    private var index = 0
    /// The character at which the current token begins, counted from 1.
    private(set) var position = 1

    init(_ text: String, commas: TagExpression.Commas) {
        scalars = Array(text.unicodeScalars)
        self.commas = commas
    }

    /// The next token. Every call but the one that returns `end` moves on by at least one character.
    mutating func next() throws(TagExpressionError) -> Token {
        while index < scalars.count, Self.isBlank(scalars[index]) { index += 1 }
        position = index + 1
        guard index < scalars.count else { return .end }
        switch scalars[index] {
        case "(": return single(.open)
        case ")": return single(.close)
        case "!": return single(.not)
        case "&": return try double("&", .and)
        case "|": return try double("|", .or)
        case "," where commas == .joinAlternatives: return single(.or)
        case "$": return .tag(try address())
        default: return .tag(try word())
        }
    }

    private mutating func single(_ token: Token) -> Token {
        index += 1
        return token
    }

    private mutating func double(_ scalar: Unicode.Scalar, _ token: Token) throws(TagExpressionError) -> Token {
        guard index + 1 < scalars.count, scalars[index + 1] == scalar else {
            throw TagExpressionError(.unexpectedCharacter, at: position)
        }
        index += 2
        return token
    }

    private mutating func address() throws(TagExpressionError) -> Tag {
        guard let end = scalars[index...].firstIndex(of: "}"), let tag = Tag.addressing(text(through: end + 1)) else {
            throw TagExpressionError(.malformedAddress, at: position)
        }
        index = end + 1
        return tag
    }

    private mutating func word() throws(TagExpressionError) -> Tag {
        let end = scalars[index...].firstIndex(where: endsWord) ?? scalars.count
        guard let tag = Tag(text(through: end)) else { throw TagExpressionError(.malformedTag, at: position) }
        index = end
        return tag
    }

    private func text(through end: Int) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars[index..<end])
        return String(view)
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }

    private func endsWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "(", ")", "!", "&", "|": true
        case ",": commas == .joinAlternatives
        default: Self.isBlank(scalar)
        }
    }
}
