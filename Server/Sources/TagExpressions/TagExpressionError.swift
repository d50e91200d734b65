/// Why a text is no tag expression, and where.
public struct TagExpressionError: Error, Hashable, Sendable {
    /// What is wrong.
    public enum Reason: Hashable, Sendable {
        case empty
        case tooLong
        case tooDeep
        case tooManyTags(limit: Int)
        /// The word is too long for a tag or has a character that no tag may have.
        case malformedTag
        /// A `$` that begins neither `$InstallationId:{…}` nor `$UserId:{…}`, or one of them with a value that cannot be.
        case malformedAddress
        case unexpectedCharacter
        case expectedOperand
        case expectedOperator
        case missingParenthesis
    }

    public let reason: Reason
    /// The character where it was noticed, counted from 1; 0 when it is not at one place.
    public let position: Int

    /// Creates an error.
    public init(_ reason: Reason, at position: Int) {
        self.reason = reason
        self.position = position
    }
}

extension TagExpressionError: CustomStringConvertible {
    /// A sentence for the caller; it repeats nothing of the input.
    public var description: String {
        position > 0 ? "\(sentence) (at character \(position))" : sentence
    }

    private var sentence: String {
        switch reason {
        case .empty: "the tag expression is empty"
        case .tooLong: "the tag expression is longer than \(TagExpressionLimits.bytes) bytes"
        case .tooDeep: "the tag expression is nested deeper than \(TagExpressionLimits.depth)"
        case .tooManyTags(let limit):
            "the tag expression has more than \(limit) tags; 20 are allowed with || only, else 6"
        case .malformedTag: "a tag has 1 to 120 letters, digits and _ @ # . : -"
        case .malformedAddress:
            "only $InstallationId:{…} and $UserId:{…} may begin with $, with 1 to 256 characters but } and control characters"
        case .unexpectedCharacter: "the tag expression has a character that is neither tag nor operator"
        case .expectedOperand: "a tag, ! or ( is expected"
        case .expectedOperator: "&& or || is expected"
        case .missingParenthesis: "a closing parenthesis is missing"
        }
    }
}
