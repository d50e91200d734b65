/// Takes comments and the text of strings out of Swift, line by line.
struct LiteralStripper {
    private var isInComment = false
    private var isInText = false

    /// The line without what is no code.
    mutating func strip(_ line: Substring) -> String {
        var code = ""
        var rest = line
        while !rest.isEmpty {
            if isInComment {
                isInComment = !Self.skip(&rest, past: "*/")
            } else if isInText {
                isInText = !Self.skip(&rest, past: "\"\"\"")
            } else if rest.hasPrefix("//") {
                break
            } else if rest.hasPrefix("/*") {
                isInComment = true
                rest = rest.dropFirst(2)
            } else if rest.hasPrefix("\"\"\"") {
                isInText = true
                rest = rest.dropFirst(3)
            } else if rest.hasPrefix("\"") {
                Self.skipString(&rest)
            } else {
                code.append(rest.removeFirst())
            }
        }
        return code
    }

    /// Drops everything up to and with the mark; false, and everything dropped, when the line has none.
    private static func skip(_ rest: inout Substring, past mark: String) -> Bool {
        while !rest.isEmpty {
            if rest.hasPrefix(mark) {
                rest = rest.dropFirst(mark.count)
                return true
            }
            rest = rest.dropFirst()
        }
        return false
    }

    private static func skipString(_ rest: inout Substring) {
        rest = rest.dropFirst()
        while let character = rest.popFirst(), character != "\"" {
            if character == "\\" { _ = rest.popFirst() }
        }
    }
}
