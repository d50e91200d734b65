import RichPushModel
import TagExpressions

/// A word under which a notification is found for an inbox. Finding is not reading: the access rule decides afterwards.
public struct AudienceKey: Hashable, Sendable {
    public let text: String

    private init(_ text: String) { self.text = text }

    /// By bytes, as tags and databases compare.
    public static func == (left: AudienceKey, right: AudienceKey) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    public func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// Takes a key from storage.
    public init(stored text: String) { self.text = text }

    /// For whoever has the tag.
    public static func tag(_ tag: Tag) -> AudienceKey { AudienceKey("t:" + tag.folded) }

    /// For audiences that a device without any of their tags may belong to.
    public static let everyone = AudienceKey("*")

    /// For the sender.
    public static func sender(_ user: UserID) -> AudienceKey { AudienceKey("s:\(user.number)") }

    /// Every key of an audience. Whoever matches holds one of the tags that stand under an even number of negations, or
    /// else the expression is true without any tag at all: with those tags absent, fewer tags only make the negated ones truer.
    public static func keys(of audience: TagExpression) -> Set<AudienceKey> {
        var keys = Set(audience.wantedTags.map(AudienceKey.tag))
        if audience.matches([]) { keys.insert(.everyone) }
        return keys
    }
}

extension TagExpression {
    /// The tags that stand under an even number of negations: having one can only help to match.
    var wantedTags: Set<Tag> { wanted(negated: false) }

    private func wanted(negated: Bool) -> Set<Tag> {
        switch self {
        case .tag(let tag): negated ? [] : [tag]
        case .not(let inner): inner.wanted(negated: !negated)
        case .and(let left, let right), .or(let left, let right):
            left.wanted(negated: negated).union(right.wanted(negated: negated))
        }
    }
}
