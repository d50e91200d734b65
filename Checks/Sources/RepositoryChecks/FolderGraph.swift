/// Which folder of a module uses which, with the first place that shows it.
struct FolderGraph {
    /// Where a folder uses another one, and the name that it mentions there.
    struct Witness {
        var place: String
        var name: String
    }

    private(set) var uses: [String: [String: Witness]] = [:]

    /// Notes a use; the first witness of a pair stays.
    mutating func note(_ from: String, uses to: String, _ witness: @autoclosure () -> Witness) {
        if from != to, uses[from]?[to] == nil { uses[from, default: [:]][to] = witness() }
    }

    mutating func remove(_ from: String, uses to: String) { uses[from]?[to] = nil }

    /// Whether this use would close a circle with the others.
    func closesCircle(_ from: String, uses to: String) -> Bool { way(from: to, to: from) != nil }

    /// A circle for each group of folders that all reach one another: the shortest of the group, as the folders in their order.
    var circles: [[String]] {
        var circles: [[String]] = []
        var met: Set<String> = []
        for circle in shortestCircles where !met.contains(circle[0]) {
            circles.append(circle)
            met.formUnion(uses.keys.filter { way(from: circle[0], to: $0) != nil && way(from: $0, to: circle[0]) != nil })
        }
        return circles
    }

    /// The shortest circle through each folder that is in one, the shortest first.
    private var shortestCircles: [[String]] {
        let circles = uses.keys.sorted().compactMap { folder in
            next(to: folder).compactMap { way(from: $0, to: folder) }.min { $0.count < $1.count }.map { [folder] + $0.dropLast() }
        }
        return circles.enumerated().sorted { ($0.element.count, $0.offset) < ($1.element.count, $1.offset) }.map(\.element)
    }

    /// The folders of a shortest way with both ends; `nil` when there is none.
    private func way(from start: String, to end: String) -> [String]? {
        var ways = [[start]]
        var met: Set = [start]
        while !ways.isEmpty {
            if let way = ways.first(where: { $0.last == end }) { return way }
            ways = ways.flatMap { way in
                next(to: way[way.count - 1]).filter { met.insert($0).inserted }.map { way + [$0] }
            }
        }
        return nil
    }

    private func next(to folder: String) -> [String] { uses[folder, default: [:]].keys.sorted() }
}
