import WireText

/// An expression over topics: `'a' in topics && ('b' in topics || !('c' in topics))` (Reference/FCM.md#2-1).
struct TopicCondition: Sendable, Hashable {
    /// At most so many topics.
    static let topicLimit = 5

    private indirect enum Node: Sendable, Hashable {
        case topic(String)
        case not(Node)
        case all([Node])
        case any([Node])

        func matches(_ topics: Set<String>) -> Bool {
            switch self {
            case .topic(let name): topics.contains(name)
            case .not(let node): !node.matches(topics)
            case .all(let nodes): nodes.allSatisfy { $0.matches(topics) }
            case .any(let nodes): nodes.contains { $0.matches(topics) }
            }
        }
    }

    private struct Malformed: Error {}

    private let node: Node
    /// How many topics are named.
    let topicCount: Int

    /// `nil` for a text that is no expression.
    init?(_ text: String) {
        guard text.utf8.count <= 4_096, var tokens = Self.tokens(of: text)?[...] else { return nil }
        topicCount = tokens.count { $0.hasPrefix("'") }
        guard let node = try? Self.any(&tokens, depth: 0), tokens.isEmpty else { return nil }
        self.node = node
    }

    /// Whether a device that follows these topics gets the message.
    func matches(_ topics: Set<String>) -> Bool { node.matches(topics) }

    /// Words, marks, and names with their first quote.
    private static func tokens(of text: String) -> [String]? {
        var tokens: [String] = []
        var rest = text[...]
        while let first = rest.first {
            if first == " " {
                rest = rest.dropFirst()
            } else if first == "'" || first == "\"" {
                let name = rest.dropFirst().prefix { $0 != first }
                guard ValueForm.isTopic(String(name)), name.endIndex < rest.endIndex else { return nil }
                tokens.append("'" + name)
                rest = rest[name.endIndex...].dropFirst()
            } else if let mark = ["&&", "||", "!", "(", ")"].first(where: rest.hasPrefix) {
                tokens.append(mark)
                rest = rest.dropFirst(mark.count)
            } else {
                let word = rest.prefix { $0.isLetter }
                guard !word.isEmpty else { return nil }
                tokens.append(String(word))
                rest = rest[word.endIndex...]
            }
        }
        return tokens
    }

    private static func any(_ tokens: inout ArraySlice<String>, depth: Int) throws(Malformed) -> Node {
        guard depth < 20 else { throw Malformed() }
        var nodes = [try all(&tokens, depth: depth)]
        while tokens.first == "||" {
            tokens.removeFirst()
            nodes.append(try all(&tokens, depth: depth))
        }
        return nodes.count == 1 ? nodes[0] : .any(nodes)
    }

    private static func all(_ tokens: inout ArraySlice<String>, depth: Int) throws(Malformed) -> Node {
        var nodes = [try single(&tokens, depth: depth)]
        while tokens.first == "&&" {
            tokens.removeFirst()
            nodes.append(try single(&tokens, depth: depth))
        }
        return nodes.count == 1 ? nodes[0] : .all(nodes)
    }

    private static func single(_ tokens: inout ArraySlice<String>, depth: Int) throws(Malformed) -> Node {
        guard depth < 20, let first = tokens.popFirst() else { throw Malformed() }
        switch first {
        case "!": return .not(try single(&tokens, depth: depth + 1))
        case "(":
            let inner = try any(&tokens, depth: depth + 1)
            guard tokens.popFirst() == ")" else { throw Malformed() }
            return inner
        default:
            guard first.hasPrefix("'"), tokens.popFirst() == "in", tokens.popFirst() == "topics" else { throw Malformed() }
            return .topic(String(first.dropFirst()))
        }
    }
}
