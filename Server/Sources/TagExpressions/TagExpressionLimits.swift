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
