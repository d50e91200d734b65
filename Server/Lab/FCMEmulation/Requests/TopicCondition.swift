import WireText

/// An expression over topics: `'a' in topics && ('b' in topics || !('c' in topics))` (Reference/FCM.md#2-1).
struct TopicCondition: Sendable {
    static let topicLimit = 5

    private struct Malformed: Error {}

    /// Whether a device that follows these topics gets the message.
    typealias Test = @Sendable (_ topics: Set<String>) -> Bool

    let matches: Test
    /// How many topics are named.
    let topicCount: Int

    /// `nil` for a text that is no expression.
    init?(_ text: String) {
        guard text.utf8.count <= 4_096, var tokens = Self.tokens(of: text)?[...] else { return nil }
        topicCount = tokens.count { $0.hasPrefix("'") }
        guard let matches = try? Self.any(&tokens, depth: 0), tokens.isEmpty else { return nil }
        self.matches = matches
    }

    /// Words, marks, and names with their first quote.
    private static func tokens(of text: String) -> [String]? {
        var tokens: [String] = []
        var rest = text[...].drop { $0 == " " }
        while let first = rest.first {
            if first == "'" || first == "\"" {
                let name = rest.dropFirst().prefix { $0 != first }
                guard ValueForm.isTopic(String(name)), name.endIndex < rest.endIndex else { return nil }
                tokens.append("'" + name)
                rest = rest[name.endIndex...].dropFirst()
            } else {
                let word = ["&&", "||", "!", "(", ")"].first(where: rest.hasPrefix) ?? String(rest.prefix { $0.isLetter })
                guard !word.isEmpty else { return nil }
                tokens.append(word)
                rest = rest.dropFirst(word.count)
            }
            rest = rest.drop { $0 == " " }
        }
        return tokens
    }

    private static func any(_ tokens: inout ArraySlice<String>, depth: Int) throws(Malformed) -> Test {
        let first = try all(&tokens, depth: depth)
        guard tokens.first == "||" else { return first }
        tokens.removeFirst()
        let rest = try any(&tokens, depth: depth)
        return { first($0) || rest($0) }
    }

    private static func all(_ tokens: inout ArraySlice<String>, depth: Int) throws(Malformed) -> Test {
        let first = try single(&tokens, depth: depth)
        guard tokens.first == "&&" else { return first }
        tokens.removeFirst()
        let rest = try all(&tokens, depth: depth)
        return { first($0) && rest($0) }
    }

    private static func single(_ tokens: inout ArraySlice<String>, depth: Int) throws(Malformed) -> Test {
        guard depth < 20, let first = tokens.popFirst() else { throw Malformed() }
        switch first {
        case "!":
            let inner = try single(&tokens, depth: depth + 1)
            return { !inner($0) }
        case "(":
            let inner = try any(&tokens, depth: depth + 1)
            guard tokens.popFirst() == ")" else { throw Malformed() }
            return inner
        default:
            guard first.hasPrefix("'"), tokens.popFirst() == "in", tokens.popFirst() == "topics" else { throw Malformed() }
            return { $0.contains(String(first.dropFirst())) }
        }
    }
}
