/// What a test run in JUnit's form says: which tests passed and which did not, as `Suite.function`.
public struct TestReport: Sendable {
    public private(set) var passed: Set<String> = []
    public private(set) var failed: Set<String> = []

    /// Reads the text. A test with arguments failed if any of them did.
    public init(_ text: String) {
        for part in text.split(separator: "<testcase ", omittingEmptySubsequences: false).dropFirst() {
            guard let suite = Self.value("classname", in: part)?.split(separator: ".").last,
                let name = Self.value("name", in: part)?.split(separator: "(").first
            else { continue }
            let test = "\(suite).\(name)"
            if part.contains("<failure") { failed.insert(test) } else { passed.insert(test) }
        }
        passed.subtract(failed)
    }

    private static func value(_ attribute: String, in part: Substring) -> Substring? {
        let rest = part.split(separator: "\(attribute)=\"", maxSplits: 1, omittingEmptySubsequences: false)
        return attribute == "name"
            ? name(in: part) : rest.dropFirst().first?.split(separator: "\"", omittingEmptySubsequences: false).first
    }

    /// `name` is the end of `classname` too.
    private static func name(in part: Substring) -> Substring? {
        let rest = part.split(separator: " name=\"", maxSplits: 1, omittingEmptySubsequences: false)
        let text = part.hasPrefix("name=\"") ? part.dropFirst(6) : rest.dropFirst().first
        return text?.split(separator: "\"", omittingEmptySubsequences: false).first
    }
}
