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
