/// Divides Swift into code and prose, line by line: comments and the text of strings are prose.
struct LiteralStripper {
    /// What was taken out so far, a line for each comment and each piece of a string.
    private(set) var prose = ""
    /// Whether the next line begins in a comment.
    private(set) var isInComment = false
    /// Whether the next line begins in a string of several lines.
    private(set) var isInText = false

    /// The line without what is no code.
    mutating func strip(_ line: Substring) -> String {
        var code = ""
        var rest = line
        while !rest.isEmpty {
            if isInComment {
                isInComment = !skip(&rest, past: "*/")
            } else if isInText {
                isInText = !skip(&rest, past: "\"\"\"")
            } else if rest.hasPrefix("//") {
                prose += rest.drop { $0 == "/" } + "\n"
                break
            } else if rest.hasPrefix("/*") {
                isInComment = true
                rest = rest.dropFirst(2)
            } else if rest.hasPrefix("\"\"\"") {
                isInText = true
                rest = rest.dropFirst(3)
            } else if rest.hasPrefix("\"") {
                skipString(&rest)
            } else {
                code.append(rest.removeFirst())
            }
        }
        return code
    }

    /// Moves everything up to the mark to the prose; false, and the whole line, when the line has none.
    private mutating func skip(_ rest: inout Substring, past mark: String) -> Bool {
        defer { prose += "\n" }
        while !rest.isEmpty {
            if rest.hasPrefix(mark) {
                rest = rest.dropFirst(mark.count)
                return true
            }
            prose.append(rest.removeFirst())
        }
        return false
    }

    private mutating func skipString(_ rest: inout Substring) {
        rest = rest.dropFirst()
        while let character = rest.popFirst(), character != "\"" {
            prose.append(character)
            if character == "\\", let next = rest.popFirst() { prose.append(next == "n" ? " " : next) }
        }
        prose += "\n"
    }
}
