import RichPushModel

/// A condition on the tags of a device, which selects the audience of a send.
///
/// It is a tree. Code builds audiences from its cases, never by putting text together; text is only what a caller of the hub
/// protocol sends (`init(parsing:)`) and what storage keeps (`description`).
public indirect enum TagExpression: Hashable, Sendable {
    /// The device has the tag.
    case tag(Tag)
    /// The condition does not hold.
    case not(TagExpression)
    /// Both hold.
    case and(TagExpression, TagExpression)
    /// At least one holds.
    case or(TagExpression, TagExpression)
}

extension TagExpression {
    /// Whether a device with these tags is meant.
    public func matches(_ tags: Set<Tag>) -> Bool {
        switch self {
        case .tag(let tag): tags.contains(tag)
        case .not(let inner): !inner.matches(tags)
        case .and(let left, let right): left.matches(tags) && right.matches(tags)
        case .or(let left, let right): left.matches(tags) || right.matches(tags)
        }
    }

    /// At least one of the conditions; `nil` for none, because no expression matches no device.
    public static func any(_ conditions: [TagExpression]) -> TagExpression? { balanced(conditions[...], TagExpression.or) }

    /// All of the conditions; `nil` for none.
    public static func all(_ conditions: [TagExpression]) -> TagExpression? { balanced(conditions[...], TagExpression.and) }

    /// Every tag of the expression, from left to right, as often as it stands there.
    public var tags: [Tag] {
        switch self {
        case .tag(let tag): [tag]
        case .not(let inner): inner.tags
        case .and(let left, let right), .or(let left, let right): left.tags + right.tags
        }
    }

    /// Halves the list, so that a long one makes a shallow tree and recursion stays bounded.
    private static func balanced(
        _ conditions: ArraySlice<TagExpression>, _ join: (TagExpression, TagExpression) -> TagExpression
    ) -> TagExpression? {
        guard conditions.count > 1 else { return conditions.first }
        let middle = conditions.startIndex + conditions.count / 2
        guard let left = balanced(conditions[..<middle], join), let right = balanced(conditions[middle...], join) else {
            return nil
        }
        return join(left, right)
    }
}

extension TagExpression: CustomStringConvertible {
    /// The shortest usual text of the expression; it parses back to a tree with the same meaning and the same text.
    public var description: String { text(within: .or) }

    /// How strongly an operator binds (Reference/AzureNotificationHubs.md#3-2: `!` over `&&` over `||`).
    private enum Binding: Int { case or, and, not }

    private func text(within outer: Binding) -> String {
        let (own, text): (Binding, String) =
            switch self {
            case .tag(let tag): (.not, tag.text)
            case .not(let inner): (.not, "!" + inner.text(within: .not))
            case .and(let left, let right): (.and, left.text(within: .and) + " && " + right.text(within: .and))
            case .or(let left, let right): (.or, left.text(within: .or) + " || " + right.text(within: .or))
            }
        return own.rawValue < outer.rawValue ? "(\(text))" : text
    }
}

/// The bounds of an expression: those of the hub protocol (Reference/AzureNotificationHubs.md#3-2), and two that keep any input
/// cheap.
public enum TagExpressionLimits {
    /// Tags in an expression that has only `||`.
    public static let tagsInAlternatives = 20
    /// Tags in an expression with any other operator.
    public static let tags = 6
    /// Bytes of the text.
    public static let bytes = 4096
    /// Parentheses and `!` within each other.
    public static let depth = 64
}

extension TagExpression {
    /// Checks a tree that code has built against the limits of the hub protocol. Throws with position 0.
    public func checkLimits() throws(TagExpressionError) {
        let limit = hasOnlyAlternatives ? TagExpressionLimits.tagsInAlternatives : TagExpressionLimits.tags
        if tags.count > limit { throw TagExpressionError(.tooManyTags(limit: limit), at: 0) }
        if description.utf8.count > TagExpressionLimits.bytes { throw TagExpressionError(.tooLong, at: 0) }
        if depth > TagExpressionLimits.depth { throw TagExpressionError(.tooDeep, at: 0) }
    }

    /// Whether the expression is one tag or tags joined by `||`.
    public var hasOnlyAlternatives: Bool {
        switch self {
        case .tag: true
        case .or(let left, let right): left.hasOnlyAlternatives && right.hasOnlyAlternatives
        case .not, .and: false
        }
    }

    private var depth: Int {
        switch self {
        case .tag: 0
        case .not(let inner): 1 + inner.depth
        case .and(let left, let right), .or(let left, let right): 1 + max(left.depth, right.depth)
        }
    }
}

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
