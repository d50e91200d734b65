/// How often each thing that should not be there may still occur. A count may fall and never rise.
public struct Budget: Sendable {
    /// The file that holds it, from the root of the repository.
    public static let path = "Checks/budget.txt"

    private let notes: [String]
    private let limits: [String: Int]

    /// Reads lines of a number and a name. Lines that begin with `#` are notes.
    ///
    /// - Throws: `Malformed` for a line that has no number before its name, or a name that was there before.
    public init(_ text: String) throws(Malformed) {
        var limits: [String: Int] = [:]
        let lines = text.split(separator: "\n")
        for line in lines where !line.hasPrefix("#") {
            let parts = line.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let limit = Int(parts[0]), limit > 0 else {
                throw Malformed(line: String(line), fault: "begins with no number above 0")
            }
            guard limits.updateValue(limit, forKey: String(parts[1])) == nil else {
                throw Malformed(line: String(line), fault: "has a name that was there before")
            }
        }
        self.limits = limits
        notes = lines.filter { $0.hasPrefix("#") }.map(String.init)
    }

    /// A line that is no entry.
    public struct Malformed: Error, CustomStringConvertible {
        let line: String
        let fault: String
        public var description: String { "\(Budget.path): the line \"\(line)\" \(fault)" }
    }

    /// How often the named thing may occur.
    public func limit(of name: String) -> Int { limits[name] ?? 0 }

    /// Counts above their budgets, and budgets of what is not counted. `counts` has everything that is counted, also with 0.
    public func findings(for counts: [String: Int]) -> [Finding] {
        counts.sorted { $0.key < $1.key }.filter { $0.value > limit(of: $0.key) }.map { name, count in
            Finding(Self.path, "\(name): \(count), and the budget is \(limit(of: name)); write it another way")
        }
            + limits.keys.sorted().filter { counts[$0] == nil }.map {
                Finding(Self.path, "\($0): nothing of this name is counted; remove the line")
            }
    }

    /// The budgets that can be lowered, as sentences.
    public func notices(for counts: [String: Int]) -> [String] {
        limits.sorted { $0.key < $1.key }.compactMap { name, limit in
            guard let count = counts[name], count < limit else { return nil }
            return "\(Self.path): \(name) has fallen from \(limit) to \(count); lower it with scripts/check lower"
        }
    }

    /// The text of the budget with every limit that can be lowered at its count. No limit rises.
    public func lowered(to counts: [String: Int]) -> String {
        let entries = limits.map { name, limit in (name: name, limit: min(limit, counts[name] ?? 0)) }
        let lines = entries.filter { $0.limit > 0 }.sorted { $0.name < $1.name }.map { "\($0.limit) \($0.name)" }
        return (notes + lines).joined(separator: "\n") + "\n"
    }
}
