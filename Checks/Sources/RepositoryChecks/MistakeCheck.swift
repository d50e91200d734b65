/// Holds the tests to their promises: with a mistake in the sources exactly the tests fail that are named for it.
public struct MistakeCheck: Sendable {
    /// How many complaints there are.
    public static let complaints = 1...26

    public let mistakes: [Mistake]

    /// Creates the check.
    public init(_ mistakes: [Mistake]) { self.mistakes = mistakes }

    public var groups: [Int] { Set(mistakes.map(\.group)).sorted() }

    /// Every test that is named for any mistake; these are run with each group.
    public var tests: [String] { Set(mistakes.flatMap(\.fails)).sorted() }

    /// What is wrong with the list itself, without building anything: every complaint has a mistake, every text to replace is
    /// there, every named test is named on the page and exists.
    public func findings(page: String, text: (String) -> String?, tests: String) -> [Finding] {
        let missing = Self.complaints.filter { number in !mistakes.contains { $0.complaint == number } }
        var findings = missing.map { Finding("complaint \($0)", "no mistake is made for it") }
        for mistake in mistakes {
            let place = "complaint \(mistake.complaint)"
            if mistake.edits.isEmpty || mistake.group < 1 { findings.append(Finding(place, "a mistake without edit or group")) }
            for edit in mistake.edits where text(edit.file).flatMap({ edit.applied(to: $0) }) == nil {
                findings.append(Finding(place, "the text to replace does not occur exactly once in \(edit.file)"))
            }
            for test in mistake.fails where !tests.contains("func \(test.split(separator: ".").last ?? "")(") {
                findings.append(Finding(place, "there is no test \(test)"))
            }
            guard let named = mistake.fails.first, page.contains("| \(mistake.complaint) |"), page.contains("`\(named)`") else {
                findings.append(Finding(place, "its test is not on the page of complaints"))
                continue
            }
        }
        return findings
    }

    /// The files with all mistakes of a group.
    public func mistaken(group: Int, text: (String) -> String?) -> [String: String]? {
        var files: [String: String] = [:]
        for edit in mistakes.filter({ $0.group == group }).flatMap(\.edits) {
            guard let before = files[edit.file] ?? text(edit.file), let after = edit.applied(to: before) else { return nil }
            files[edit.file] = after
        }
        return files
    }

    /// What the tests did not notice, and what they noticed without reason.
    public func verdict(group: Int, passed: Set<String>, failed: Set<String>) -> [Finding] {
        var findings: [Finding] = []
        let made = mistakes.filter { $0.group == group }
        for mistake in made {
            for test in mistake.fails where !failed.contains(test) {
                let word = passed.contains(test) ? "passes" : "was not run"
                findings.append(Finding("complaint \(mistake.complaint)", "\(test) \(word) although \(mistake.sentence)"))
            }
        }
        let expected = Set(made.flatMap(\.fails))
        findings += failed.subtracting(expected).sorted().map {
            Finding("group \(group)", "\($0) fails, and no mistake is named for it")
        }
        return findings
    }
}
