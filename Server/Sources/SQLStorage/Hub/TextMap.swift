#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Words by name, or a list of pairs, as one column.
enum TextMap {
    /// `nil` for an empty one.
    static func text(_ map: [String: String]) throws -> String? {
        guard !map.isEmpty else { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(map), as: UTF8.self)
    }

    static func read(_ text: String?) throws -> [String: String] {
        guard let text else { return [:] }
        guard let map = try? JSONDecoder().decode([String: String].self, from: Data(text.utf8)) else {
            throw SQLFault.refused(code: 0, reason: "a column does not hold what was stored")
        }
        return map
    }

    static func text(pairs: [[String]]) throws -> String { String(decoding: try JSONEncoder().encode(pairs), as: UTF8.self) }

    static func pairs(_ text: String) throws -> [[String]] {
        guard let pairs = try? JSONDecoder().decode([[String]].self, from: Data(text.utf8)),
            pairs.allSatisfy({ $0.count == 2 })
        else { throw SQLFault.refused(code: 0, reason: "a column does not hold what was stored") }
        return pairs
    }
}
