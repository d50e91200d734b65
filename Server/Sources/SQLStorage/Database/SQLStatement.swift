/// The text of one operation, written once for every engine, with values as `$1`, `$2`, … in order of position.
///
/// Every statement must be listed in `SQLStatement.all` of its store, so that a test can prepare each on both engines.
public struct SQLStatement: Sendable, Hashable {
    /// The SQL text. Words of the dialect (row locks, for example) are filled in before it gets here.
    public let text: String
    /// The numbers of the values in the order in which the text first names each: an engine that takes `$1` for a name counts
    /// its parameters that way.
    public let appearance: [Int]

    /// Creates a statement from a text known at compile time.
    public init(_ text: StaticString) { self.init(composed: text.description) }

    /// Creates a statement whose text was put together from the dialect's words; never from input.
    public init(composed text: String) {
        self.text = text
        appearance = Self.appearance(in: text)
    }

    /// So many values for a list in parentheses: `$2, $3, …`.
    static func places(_ count: Int, from first: Int) -> String {
        (first..<first + count).map { "$\($0)" }.joined(separator: ", ")
    }

    /// No text of ours has a dollar sign for anything else.
    private static func appearance(in text: String) -> [Int] {
        var numbers: [Int] = []
        for part in text.utf8.split(separator: UInt8(ascii: "$"), omittingEmptySubsequences: false).dropFirst() {
            let digits = part.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            if let number = Int(String(decoding: digits, as: UTF8.self)), !numbers.contains(number) { numbers.append(number) }
        }
        return numbers
    }

    public static func == (left: SQLStatement, right: SQLStatement) -> Bool { left.text == right.text }

    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
