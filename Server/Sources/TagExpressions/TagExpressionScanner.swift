import RichPushModel

/// Cuts the text of an expression into tokens.
struct TagExpressionScanner {
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
