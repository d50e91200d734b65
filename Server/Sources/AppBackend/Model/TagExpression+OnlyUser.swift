import RichPushModel
import TagExpressions

extension TagExpression {
    /// The one user whose devices alone can match; `nil` when it may be several users' or nobody can tell.
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
