/// Holds files and functions to their size limits.
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
            let count = file.lineCount
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
        guard let lengths = fileLengths(of: files) else { return "no files" }
        return
            "\(lengths.count) files, lines: median \(lengths.median), 90 % below \(lengths.percentile90), largest \(lengths.maximum)"
    }

    /// The lines of each file.
    func fileLengths(of files: [SourceFile]) -> Distribution? { Distribution(files.map(\.lineCount)) }

    /// The lines of each function.
    func functionLengths(of files: [SourceFile]) -> Distribution? {
        Distribution(files.flatMap { FunctionScanner($0.text).functions.map(\.lineCount) })
    }
}
