/// One text of the repository.
public struct SourceFile: Sendable {
    /// From the root of the repository.
    public let path: String
    public let text: String

    /// Creates a file.
    public init(path: String, text: String) {
        self.path = path
        self.text = text
    }

    /// The lines without their ends.
    public var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

    /// How many lines end in the file.
    public var lineCount: Int { lines.count - 1 }

    /// The modules that the file imports, with the line of each.
    public var imports: [(module: String, line: Int)] {
        lines.enumerated().compactMap { index, line in
            var words = line.split(separator: " ")
            while let first = words.first, first.hasPrefix("@") || Self.importModifiers.contains(String(first)) {
                words.removeFirst()
            }
            guard words.first == "import", words.count > 1 else { return nil }
            if words.count > 2, Self.importKinds.contains(String(words[1])) { words.remove(at: 1) }
            guard let module = words[1].split(separator: ".").first else { return nil }
            return (String(module.prefix { $0.isLetter || $0.isNumber || $0 == "_" }), index + 1)
        }
    }

    private static let importModifiers: Set = ["public", "package", "internal", "fileprivate", "private"]
    private static let importKinds: Set = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
}
