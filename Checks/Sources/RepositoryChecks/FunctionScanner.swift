/// Finds the functions of a Swift text by its braces. It knows comments and strings well enough not to count theirs.
struct FunctionScanner {
    struct Function: Hashable {
        var name: String
        var line: Int
        var lineCount: Int
    }

    private(set) var functions: [Function] = []
    /// One entry for each open brace: the function that it opened, if it did.
    private var open: [(name: String, line: Int)?] = []
    /// A function whose brace has not come yet.
    private var pending: (name: String, line: Int)?

    init(_ text: String) {
        var line = 1
        var stripper = LiteralStripper()
        for source in text.split(separator: "\n", omittingEmptySubsequences: false) {
            read(stripper.strip(source), line: line)
            line += 1
        }
    }

    private mutating func read(_ code: String, line: Int) {
        if let name = Self.declaredFunction(in: code) { pending = (name, line) }
        for character in code {
            if character == "{" {
                open.append(pending)
                pending = nil
            } else if character == "}" {
                // A requirement of a protocol has no brace of its own; the protocol's end is the end of waiting for one.
                pending = nil
                guard let opened = open.popLast(), let function = opened else { continue }
                functions.append(Function(name: function.name, line: function.line, lineCount: line - function.line + 1))
            }
        }
    }

    private static func declaredFunction(in code: String) -> String? {
        let words = code.split { $0 == " " || $0 == "(" || $0 == "<" }
        guard let index = words.firstIndex(where: { ["func", "init", "init?", "deinit", "subscript"].contains($0) }) else {
            return nil
        }
        let before = words[..<index]
        guard before.allSatisfy({ $0.first == "@" || modifiers.contains(String($0)) }) else { return nil }
        return words[index] == "func" && index + 1 < words.endIndex ? String(words[index + 1]) : String(words[index])
    }

    private static let modifiers: Set<String> = [
        "public", "package", "internal", "fileprivate", "private", "static", "class", "mutating", "nonmutating", "override",
        "final",
        "convenience", "required", "nonisolated", "consuming", "borrowing", "async", "open", "isolated", "prefix", "postfix",
    ]
}
