import RichPushModel
import TagExpressions

/// The tags by which audiences name one person, and how they are taken out of an audience.
struct PersonTraces: Sendable {
    let tags: Set<Tag>

    /// Stands where the person stood. No user can have it: `#` is in no user name.
    static let nobody = "username:#erased"

    /// Whether an audience is for the person alone: every tag of it names them.
    func areAll(of audience: String) throws -> Bool {
        guard let expression = try? TagExpression(parsing: audience) else { return false }
        return expression.tags.allSatisfy(tags.contains)
    }

    /// The audience with the person taken out; `nil` when it does not name them. It means the same to everybody else.
    func removed(from audience: String) -> String? {
        guard let expression = try? TagExpression(parsing: audience), expression.tags.contains(where: tags.contains),
            let nobody = Tag(Self.nobody)
        else { return nil }
        return replaced(expression, nobody).description
    }

    private func replaced(_ expression: TagExpression, _ nobody: Tag) -> TagExpression {
        switch expression {
        case .tag(let tag): .tag(tags.contains(tag) ? nobody : tag)
        case .not(let inner): .not(replaced(inner, nobody))
        case .and(let left, let right): .and(replaced(left, nobody), replaced(right, nobody))
        case .or(let left, let right): .or(replaced(left, nobody), replaced(right, nobody))
        }
    }
}
