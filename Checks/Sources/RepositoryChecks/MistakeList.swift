/// The mistakes of a text file, in order.
///
/// Each begins with `complaint NUMBER: SENTENCE`, then `group NUMBER`, `fails TEST TEST…` and, once or several times,
/// `file PATH` with the lines to replace after `--- was`, those in their place after `--- becomes`, and `--- end`.
public struct MistakeList: Sendable {
    /// A line that cannot be understood.
    public struct Fault: Error, CustomStringConvertible {
        public let line: Int
        public let sentence: String

        public var description: String { "line \(line): \(sentence)" }
    }

    private enum Part { case between, was, becomes }

    public private(set) var mistakes: [Mistake] = []

    /// Reads the text.
    public init(_ text: String) throws(Fault) {
        var part = Part.between
        var (was, becomes): ([Substring], [Substring]) = ([], [])
        var file = ""
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            switch (part, line) {
            case (_, "--- was"):
                part = .was
                (was, becomes) = ([], [])
            case (.was, "--- becomes"): part = .becomes
            case (.becomes, "--- end"):
                part = .between
                guard !mistakes.isEmpty, !file.isEmpty, !was.isEmpty else {
                    throw Fault(line: index + 1, sentence: "an edit of nothing")
                }
                mistakes[mistakes.count - 1].edits.append(
                    Mistake.Edit(file: file, was: was.joined(separator: "\n"), becomes: becomes.joined(separator: "\n")))
            case (.was, _): was.append(line)
            case (.becomes, _): becomes.append(line)
            case (.between, _):
                if line.hasPrefix("file ") { file = String(line.dropFirst(5)) } else { try read(line, index + 1) }
            }
        }
    }

    private mutating func read(_ line: Substring, _ number: Int) throws(Fault) {
        let words = line.split(separator: " ")
        guard let first = words.first, !line.hasPrefix("#") else { return }
        if first == "complaint", words.count > 2, let complaint = Int(words[1].dropLast()), words[1].hasSuffix(":") {
            let sentence = words.dropFirst(2).joined(separator: " ")
            mistakes.append(Mistake(complaint: complaint, sentence: sentence, group: 0, fails: [], edits: []))
            return
        }
        guard !mistakes.isEmpty else { throw Fault(line: number, sentence: "something before the first complaint") }
        switch first {
        case "group": mistakes[mistakes.count - 1].group = words.dropFirst().first.flatMap { Int($0) } ?? 0
        case "fails": mistakes[mistakes.count - 1].fails = words.dropFirst().map(String.init)
        default: throw Fault(line: number, sentence: "not a line of this format")
        }
    }
}
