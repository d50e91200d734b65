public struct TagExpression: Hashable, Sendable {}
