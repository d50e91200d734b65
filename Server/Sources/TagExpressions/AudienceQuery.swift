import RichPushModel

/// An audience as storage looks for it: the tags whose index entries cover all matches, and what is left to compare.
///
/// A send's audience is compiled once, at intake, and stored with the send. A record matches if the cover has it and the rest says
/// so. Tags are kept in their folded form, which is the one that storage compares.
public struct AudienceQuery: Hashable, Sendable {
    /// The records among which all matches are.
    public enum Cover: Hashable, Sendable {
        case everyRecord
        /// The records that have at least one of these tags.
        case tags([String])
    }

    /// A condition on a few tags, as a truth table: one form for every expression, so that a database needs one statement for each
    /// number of tags and not one for each expression.
    public struct Rest: Hashable, Sendable {
        /// At most `TagExpressionLimits.tags`, without duplicates.
        public let tags: [String]
        /// Bit `i` says whether a record matches that has exactly the tags at the set bits of `i`.
        public let table: UInt64

        /// Whether a record with these folded tags matches.
        func matches(_ folded: Set<String>) -> Bool {
            let index = tags.indices.reduce(0) { $0 | (folded.contains(tags[$1]) ? 1 << $1 : 0) }
            return table >> UInt64(index) & 1 == 1
        }
    }

    public let cover: Cover
    /// Absent where everything that the cover has is meant.
    public let rest: Rest?

    /// Compiles an expression; none means every record. `cost` estimates how many records have a tag and decides between covers.
    /// Throws for an expression that is over the limits.
    public init(_ expression: TagExpression?, cost: (Tag) -> Int = { _ in 1 }) throws(TagExpressionError) {
        guard let expression else {
            self = AudienceQuery(cover: .everyRecord, rest: nil)
            return
        }
        let plan = expression.plan(cost: cost)
        let limit =
            expression.hasOnlyAlternatives ? TagExpressionLimits.tagsInAlternatives : TagExpressionLimits.tags
        let tags = expression.distinctTags
        guard tags.count <= limit else { throw TagExpressionError(.tooManyTags(limit: limit), at: 0) }
        switch plan {
        case .scan:
            self = AudienceQuery(cover: .everyRecord, rest: TruthTable(expression, of: tags, cover: nil).rest)
        case .tags(let cover):
            // Tags with || alone cover nothing but matches, and may be more than a table can hold.
            let rest = expression.hasOnlyAlternatives ? nil : TruthTable(expression, of: tags, cover: cover).rest
            self = AudienceQuery(cover: .tags(cover.map(\.folded).sorted()), rest: rest)
        }
    }

    /// The records that match an expression and have at least one of these entries of the index, which are no tags of the expression.
    /// `nil` for more entries than a cover has, and for an expression of more tags than can be compared.
    public init?(_ expression: TagExpression?, amongAnyOf entries: [String]) {
        guard (1...TagExpressionLimits.tagsInAlternatives).contains(entries.count) else { return nil }
        guard let expression else {
            self = AudienceQuery(cover: .tags(entries.sorted()), rest: nil)
            return
        }
        let tags = expression.distinctTags
        guard tags.count <= TagExpressionLimits.tags else { return nil }
        self = AudienceQuery(cover: .tags(entries.sorted()), rest: TruthTable(expression, of: tags, cover: nil).rest)
    }

    private init(cover: Cover, rest: Rest?) {
        self.cover = cover
        self.rest = rest
    }

    /// Whether a record with these tags is meant.
    public func matches(_ tags: Set<Tag>) -> Bool {
        let folded = Set(tags.map(\.folded))
        if case .tags(let cover) = cover, folded.isDisjoint(with: cover) { return false }
        return rest?.matches(folded) ?? true
    }
}

extension AudienceQuery {
    /// The first line of a stored query. A program that reads another version compiles the expression instead.
    private static let version = "1"

    /// The text under which a store keeps the query: the version, the number of tags in the cover or `*`, these tags, and after them
    /// table and tags of the rest. Each is a line of its own, since no tag has a control character.
    public var stored: String {
        var lines = [Self.version]
        switch cover {
        case .everyRecord: lines.append("*")
        case .tags(let tags): lines += ["\(tags.count)"] + tags
        }
        if let rest { lines += ["\(rest.table)"] + rest.tags }
        return lines.joined(separator: "\n")
    }

    /// Reads what was stored; `nil` for anything else.
    public init?(stored text: String) {
        var lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            String(Substring($0))
        }[...]
        guard let version = lines.popFirst(), version == Self.version, let size = lines.popFirst() else { return nil }
        if size == "*" {
            cover = .everyRecord
        } else {
            guard let count = Int(size), (1...TagExpressionLimits.tagsInAlternatives).contains(count), count <= lines.count else {
                return nil
            }
            cover = .tags(Array(lines.prefix(count)))
            lines = lines.dropFirst(count)
        }
        guard let text = lines.popFirst() else {
            rest = nil
            return
        }
        guard let table = UInt64(text), (1...TagExpressionLimits.tags).contains(lines.count) else { return nil }
        rest = Rest(tags: Array(lines), table: table)
    }
}

/// What an expression says for each combination of its tags.
private struct TruthTable {
    private var tags: [Tag]
    /// By the number whose set bits are the tags of the combination; `nil` for a combination that the cover leaves out.
    private var values: [Bool?]

    init(_ expression: TagExpression, of tags: [Tag], cover: Set<Tag>?) {
        self.tags = tags
        values = (0..<1 << tags.count).map { combination in
            let present = Set(tags.indices.filter { combination >> $0 & 1 == 1 }.map { tags[$0] })
            return cover?.isDisjoint(with: present) == true ? nil : expression.matches(present)
        }
        for tag in tags { leaveOut(tag) }
    }

    /// The condition on the tags that are left; `nil` where every combination matches.
    var rest: AudienceQuery.Rest? {
        guard values.contains(false) else { return nil }
        let table = values.indices.reduce(UInt64(0)) { $0 | (values[$1] == true ? 1 << UInt64($1) : 0) }
        return AudienceQuery.Rest(tags: tags.map(\.folded), table: table)
    }

    /// Takes a tag out if the result does not depend on it. The last tag stays, as a table has at least one.
    private mutating func leaveOut(_ tag: Tag) {
        guard tags.count > 1, let place = tags.firstIndex(of: tag) else { return }
        var merged: [Bool?] = []
        for combination in values.indices where combination >> place & 1 == 0 {
            let (without, with) = (values[combination], values[combination | 1 << place])
            if let without, let with, without != with { return }
            merged.append(without ?? with)
        }
        tags.remove(at: place)
        values = merged
    }
}

extension TagExpression {
    /// Every tag of the expression once, in the order in which they first appear.
    fileprivate var distinctTags: [Tag] {
        var seen: Set<Tag> = []
        return tags.filter { seen.insert($0).inserted }
    }
}

extension TagExpression {
    /// How to find the devices that an expression may mean.
    public enum Plan: Hashable, Sendable {
        /// Every match has at least one of these tags: reading their index entries is enough.
        case tags(Set<Tag>)
        /// A device without any of the tags may match: all devices must be read.
        case scan
    }

    /// The cheapest plan. `cost` estimates how many devices have a tag; without it, fewer tags are cheaper.
    public func plan(cost: (Tag) -> Int = { _ in 1 }) -> Plan {
        cover(negated: false, cost: cost).map(Plan.tags) ?? .scan
    }

    /// Tags of which every match has at least one, or `nil` if there is no such set. A negation is carried down to the tags,
    /// so that `!(!a || b)` is found through `a`.
    private func cover(negated: Bool, cost: (Tag) -> Int) -> Set<Tag>? {
        switch self {
        case .tag(let tag): return negated ? nil : [tag]
        case .not(let inner): return inner.cover(negated: !negated, cost: cost)
        case .and(let left, let right), .or(let left, let right):
            let covers = [left.cover(negated: negated, cost: cost), right.cover(negated: negated, cost: cost)]
            return isConjunction(negated: negated) ? Self.cheapest(covers, cost: cost) : Self.union(covers)
        }
    }

    private func isConjunction(negated: Bool) -> Bool {
        if case .and = self { !negated } else { negated }
    }

    /// One covered side covers a conjunction.
    private static func cheapest(_ covers: [Set<Tag>?], cost: (Tag) -> Int) -> Set<Tag>? {
        covers.compactMap(\.self).min { total($0, cost) < total($1, cost) }
    }

    /// An alternative needs both sides covered.
    private static func union(_ covers: [Set<Tag>?]) -> Set<Tag>? {
        covers.reduce(Set()) { sum, cover in
            guard let sum, let cover else { return nil }
            return sum.union(cover)
        }
    }

    private static func total(_ cover: Set<Tag>, _ cost: (Tag) -> Int) -> Int { cover.reduce(0) { $0 + cost($1) } }
}
