/// Why a text is not the JSON that its reader takes, and where. Each reader has sentences of its own for its callers.
public struct JSONFault: Error, Hashable, Sendable {
    /// What is wrong.
    public enum Problem: Hashable, Sendable {
        case notUTF8
        case tooDeep(limit: Int)
        /// What is missing, at the place where it should begin.
        case value
        case name
        case colon
        case commaOrBrace
        case commaOrBracket
        /// A digit of a fraction or an exponent.
        case digit
        case duplicateName
        case unterminatedString
        case controlCharacter
        /// The text ends behind a backslash.
        case unterminatedEscape
        case unknownEscape
        case malformedUnicodeEscape
        case loneSurrogate
        /// Something follows the value.
        case end
        /// A rule of the reader that uses the cursor, in its words.
        case rule(String)
    }

    public let problem: Problem
    /// Where the string, escape, number or name begins that is wrong; otherwise the same as `offset`.
    public let start: Int
    /// The byte at which it was noticed.
    public let offset: Int

    /// Creates a fault.
    public init(_ problem: Problem, from start: Int, at offset: Int) {
        self.problem = problem
        self.start = start
        self.offset = offset
    }
}
