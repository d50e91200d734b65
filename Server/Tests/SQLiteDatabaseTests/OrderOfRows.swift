/// What one `ORDER BY` of a statement says, as far as the names go.
struct OrderOfRows {
    /// The first table named after `FROM`.
    var table: String
    /// The table and the words of the order, for a list of exceptions.
    var name: String
    /// The table's columns that the order has, and those that are the same in all rows because they equal a value.
    var columns: Set<String>

    /// Every order in a statement, wherever it stands.
    static func all(in text: String) -> [OrderOfRows] {
        let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return words.ranges(of: " ORDER BY ").compactMap { range in
            // Parentheses that are closed again belong to no query of this level.
            let before = flattened(words[..<range.lowerBound])
            guard let from = before.ranges(of: "FROM ").last else { return nil }
            let tail = words[range.upperBound...]
            return OrderOfRows(source: String(before[from.upperBound...]), order: String(tail.prefix(upTo: end(of: tail))))
        }
    }

    private init(source: String, order: String) {
        let parts = source.split(separator: "WHERE ", maxSplits: 1)
        let tables = parts.first.map(String.init) ?? ""
        table = String(tables.prefix { $0 != " " && $0 != "(" })
        name = "\(table) ORDER BY \(order)"
        // The words behind a table's name and `JOIN` with a table's name are how the query calls them.
        let named = tables.split(separator: "JOIN ").map { $0.split(separator: " ") }
        let aliases = named.map { $0.count > 1 && $0[1] != "ON" ? String($0[1]) : String($0.first ?? "") }
        let (own, others) = (aliases.first ?? table, Set(aliases))
        func column(_ word: Substring) -> String? {
            let path = word.split(separator: ".").map { $0.drop { $0 == "+" || $0 == "(" } }
            if path.count == 2 { return path[0].drop { $0 == "+" } == own ? String(path[1]) : nil }
            return path.first.map(String.init)
        }
        let sorted = order.split(separator: ", ").compactMap { $0.split(separator: " ").first.flatMap(column) }
        let fixed = (parts.count > 1 ? parts[1] : "").matches(of: /([+\w.]+) = ([$'\w.]+)/).compactMap { match in
            let isOther = match.2.split(separator: ".").first.map { match.2.contains(".") && others.contains(String($0)) } ?? true
            let isColumn = !match.2.contains(".") && match.2.first?.isLetter == true
            return isOther || isColumn ? nil : column(match.1)
        }
        columns = Set(sorted + fixed)
    }

    /// The text without what stands in parentheses that are closed in it, from the last one that is not.
    private static func flattened(_ text: Substring) -> String {
        var levels = [""]
        for character in text {
            switch character {
            case "(": levels.append("")
            case ")" where levels.count > 1: levels.removeLast()
            default: levels[levels.count - 1].append(character)
            }
        }
        return levels.last ?? ""
    }

    /// Where the order ends: at its limit, at a parenthesis of the query around it, or with the statement.
    private static func end(of text: Substring) -> Substring.Index {
        let stops = [text.firstRange(of: " LIMIT"), text.firstRange(of: " FOR UPDATE")].compactMap { $0?.lowerBound }
        return (stops + [text.firstIndex(of: ")"), text.firstIndex(of: ";")].compactMap { $0 }).min() ?? text.endIndex
    }
}
