import RichPushModel

/// A condition on the tags of a device: who gets a send.
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

    /// At least one of the conditions; `nil` for none, because no expression means nobody.
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
