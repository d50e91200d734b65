import TagExpressions

/// Who is to get a send.
public enum SendRecipients: Hashable, Sendable {
    /// Every device of the hub.
    case everyone
    /// The devices that match.
    case matching(TagExpression)
    /// These handles, registered or not (direct sends). One that stands there more than once counts once.
    case handles([DeviceHandle])

    /// Everyone, or who matches.
    public init(_ audience: TagExpression?) { self = audience.map(SendRecipients.matching) ?? .everyone }

    /// The expression, if there is one. Everyone and a direct send have none.
    public var audience: TagExpression? {
        if case .matching(let expression) = self { expression } else { nil }
    }

    /// The handles of a direct send.
    public var handles: [DeviceHandle]? {
        if case .handles(let handles) = self { handles } else { nil }
    }
}
