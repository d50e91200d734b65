/// One thing that is wrong with the settings: where it stands and what to do about it. Never shows a secret.
public struct SettingProblem: Hashable, Sendable, CustomStringConvertible {
    /// The flag, the variable, or the file and line.
    public let place: String
    /// What is wrong, as a sentence.
    public let sentence: String

    /// Creates a problem.
    public init(place: String, sentence: String) {
        self.place = place
        self.sentence = sentence
    }

    public var description: String { "\(place): \(sentence)" }
}

/// Everything that is wrong with the settings, in one list, so that nobody mends one line at a time.
public struct SettingsError: Error, Hashable, Sendable, CustomStringConvertible {
    public let problems: [SettingProblem]

    /// Creates the error; there is at least one problem.
    public init(problems: [SettingProblem]) { self.problems = problems }

    public var description: String {
        let count = problems.count == 1 ? "1 problem" : "\(problems.count) problems"
        return "the settings have \(count)\n" + problems.map { "  - \($0)" }.joined(separator: "\n")
    }
}
