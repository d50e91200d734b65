import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions

/// A key under which inboxes find a notification. Finding is not reading: the access rule decides afterwards.
public struct AudienceKey: Hashable, Sendable {
    public let text: String

    private init(_ text: String) { self.text = text }

    /// By bytes, as tags and databases compare.
    public static func == (left: AudienceKey, right: AudienceKey) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    public func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// Takes a key from storage.
    public init(stored text: String) { self.text = text }

    /// For users with the tag.
    public static func tag(_ tag: Tag) -> AudienceKey { AudienceKey("t:" + tag.folded) }

    /// For audiences that a device without any of their tags may belong to.
    public static let everyone = AudienceKey("*")

    /// For the sender.
    public static func sender(_ user: UserID) -> AudienceKey { AudienceKey("s:\(user.number)") }

    /// Every key of an audience. A matching device has one of the tags under an even number of negations, or
    /// the expression is true without any tag: without those tags, removing further tags can only make it true.
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

extension TagExpression {
    /// The one user whose devices alone can match; `nil` if several users' may match, or if that is unknown.
    var onlyUser: UserName? {
        switch self {
        case .tag(let tag): Self.user(of: tag)
        case .not: nil
        case .and(let left, let right): left.onlyUser ?? right.onlyUser
        case .or(let left, let right): left.onlyUser.flatMap { $0 == right.onlyUser ? $0 : nil }
        }
    }

    /// Whether every tag names a user, and at least one has to match.
    var namesUsersOnly: Bool { !tags.isEmpty && tags.allSatisfy { Self.user(of: $0) != nil } && !matches([]) }

    private static func user(of tag: Tag) -> UserName? {
        let prefix = "username:"
        guard tag.folded.hasPrefix(prefix) else { return nil }
        return UserName(String(tag.folded.dropFirst(prefix.count)))
    }
}

/// Which tags a client may give its device.
struct TagRules {
    var protectedPrefixes: [String]

    /// The tags of the device: the user's own, those that the app's backend gave the user, and the client's. A client's that is among
    /// the former is dropped. Throws `forbidden` for another protected tag and `invalid-field` for too many.
    func tags(_ asked: [Tag], of principal: Principal) throws -> [Tag] {
        let own = Tag.user(principal.name)
        var tags = [own]
        for tag in principal.userTags where !tags.contains(tag) { tags.append(tag) }
        for tag in asked where !tags.contains(tag) {
            if let prefix = protectedPrefixes.first(where: { tag.folded.hasPrefix($0.lowercased()) }) {
                throw ServiceError(.forbidden, "tags that begin with \(prefix) are set by the server only")
            }
            tags.append(tag)
        }
        guard tags.count <= Self.maximumTags else {
            throw ServiceError(.invalidField, "tags: a device has at most \(Self.maximumTags) tags with the user's own")
        }
        return tags
    }

    /// Reads tags given as text. Throws `invalid-field` naming the first malformed one by its position.
    static func read(_ texts: [String]) throws -> [Tag] {
        try texts.enumerated().map { index, text in
            guard let tag = Tag(text) else {
                throw ServiceError(.invalidField, "tags[\(index)]: a tag has 1 to 120 letters, digits and _ @ # . : -")
            }
            return tag
        }
    }

    /// As many as a registration of the hub protocol may have (Reference/AzureNotificationHubs.md#3-1).
    static let maximumTags = 60
}
