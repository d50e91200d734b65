import RichPushModel

extension TagExpression {
    /// How to find the devices that an expression may mean.
    public enum Plan: Hashable, Sendable {
        /// Every match has at least one of these tags: reading their index entries is enough.
        case tags(Set<Tag>)
        /// Some match has none of the tags: all devices must be looked at.
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
