import ClarionTesting
import RichPushModel
import TagExpressions
import Testing

import struct RichPushModel.Tag

@Suite("Tag expressions at random")
struct TagExpressionPropertyTests {
    private static let alphabet = ["a", "b", "c", "d", "$UserId:{e}", "$InstallationId:{F}"].compactMap(Tag.stored)

    private func tree(_ tags: inout Int, _ depth: Int, _ random: inout SeededGenerator) -> TagExpression {
        let kind = depth == 0 || tags <= 1 ? 0 : Int.random(in: 0...3, using: &random)
        switch kind {
        case 1: return .not(tree(&tags, depth - 1, &random))
        case 2, 3:
            tags -= 1
            let left = tree(&tags, depth - 1, &random)
            let right = tree(&tags, depth - 1, &random)
            return kind == 2 ? .and(left, right) : .or(left, right)
        default: return .tag(Self.alphabet.randomElement(using: &random) ?? Self.alphabet[0])
        }
    }

    private func tagSets() -> [Set<Tag>] {
        (0..<(1 << Self.alphabet.count)).map { bits in
            Set(Self.alphabet.indices.filter { bits >> $0 & 1 == 1 }.map { Self.alphabet[$0] })
        }
    }

    @Test("a printed tree parses back with the same meaning and text, and every match is covered by its plan")
    func roundTrip() throws {
        var random = SeededGenerator()
        print("seed \(random.seed)")
        let sets = tagSets()
        for _ in 0..<400 {
            var tags = 6
            let original = tree(&tags, 5, &random)
            let parsed = try TagExpression(parsing: original.description)
            #expect(parsed.description == original.description)
            let plan = original.plan { _ in Int.random(in: 0...9, using: &random) }
            for set in sets {
                #expect(parsed.matches(set) == original.matches(set), "\(original)")
                if case .tags(let cover) = plan, original.matches(set) { #expect(!cover.isDisjoint(with: set), "\(original)") }
            }
        }
    }

    @Test("a compiled expression means the same, also after it was stored, and finds every match by its cover")
    func compiled() throws {
        var random = SeededGenerator()
        print("seed \(random.seed)")
        let sets = tagSets()
        for _ in 0..<400 {
            var tags = 6
            let expression = tree(&tags, 5, &random)
            let query = try AudienceQuery(expression) { _ in Int.random(in: 0...9, using: &random) }
            #expect(AudienceQuery(stored: query.stored) == query, "\(expression)")
            for set in sets { #expect(query.matches(set) == expression.matches(set), "\(expression)") }
        }
    }

    @Test("random text is an expression or an error, never a crash")
    func noise() {
        var random = SeededGenerator()
        print("seed \(random.seed)")
        let pieces = ["a", "(", ")", "!", "&&", "||", "&", "|", " ", "$", "{", "}", "$UserId:{", "é", "\u{0}", "'", "\r\n"]
        for _ in 0..<3000 {
            let text = (0..<Int.random(in: 0...30, using: &random)).compactMap { _ in pieces.randomElement(using: &random) }
                .joined()
            if let expression = try? TagExpression(parsing: text) {
                #expect((try? TagExpression(parsing: expression.description))?.description == expression.description)
            }
        }
    }
}
