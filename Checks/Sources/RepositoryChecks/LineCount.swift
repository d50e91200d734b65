/// How many lines of Swift hold code and how many only a comment. The rest of the total is blank.
struct LineCount: Equatable, Sendable {
    var total = 0
    var code = 0
    var comments = 0

    /// Counts the lines of all files together.
    init(_ files: [SourceFile]) {
        for file in files { add(file) }
    }

    private mutating func add(_ file: SourceFile) {
        total += file.lineCount
        var stripper = LiteralStripper()
        for line in file.lines {
            let (beganInComment, beganInText) = (stripper.isInComment, stripper.isInText)
            let hasCode = !stripper.strip(line).trimmingBlanks.isEmpty
            let text = line.trimmingBlanks
            guard !text.isEmpty else { continue }
            let beginsComment = text.hasPrefix("//") || text.hasPrefix("/*")
            // A line of a string has no code either, and is not a comment.
            if !hasCode, !beganInText, beganInComment || beginsComment { comments += 1 } else { code += 1 }
        }
    }
}
