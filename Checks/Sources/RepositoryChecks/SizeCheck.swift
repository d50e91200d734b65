/// Holds files and functions to the budget: nobody should be afraid to open one.
public struct SizeCheck: Sendable {
    /// Lines of a file.
    public static let fileLimit = 500
    /// Lines of a function, from its declaration to its closing brace.
    public static let functionLimit = 60

    /// Creates the check.
    public init() {}

    /// What is over budget.
    public func findings(in files: [SourceFile]) -> [Finding] {
        files.flatMap { file in
            let count = file.lines.count - 1
            let long = FunctionScanner(file.text).functions.filter { $0.lineCount > Self.functionLimit }
            return (count > Self.fileLimit ? [Finding(file.path, "has \(count) lines, more than \(Self.fileLimit)")] : [])
                + long.map { function in
                    Finding(
                        "\(file.path):\(function.line)",
                        "\(function.name) has \(function.lineCount) lines, more than \(Self.functionLimit)")
                }
        }
    }

    /// One line about the whole: how many files, and how long they are.
    public func summary(of files: [SourceFile]) -> String {
        let counts = files.map { $0.lines.count - 1 }.sorted()
        guard let largest = counts.last else { return "no files" }
        return
            "\(counts.count) files, lines: median \(counts[counts.count / 2]), 90 % below \(counts[counts.count * 9 / 10]), largest \(largest)"
    }
}
