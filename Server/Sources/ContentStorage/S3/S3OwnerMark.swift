/// Says in a bucket whose contents lie there: an object `owner` of two lines, the mark that the owning database keeps too, and for people
/// what that database is called.
public struct S3OwnerMark: Hashable, Sendable {
    /// The most bytes of either line that are looked at.
    private static let lineBytes = 400

    public var mark: String
    /// What the owner was called when it took the bucket; for a sentence to the operator.
    public var name: String

    /// Creates a mark.
    public init(mark: String, name: String) {
        self.mark = mark
        self.name = name
    }

    /// Reads what lies in a bucket. What is none of ours is a mark that no database has.
    init(text: String) {
        let lines = text.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false).map { Self.plain($0) }
        mark = lines[0]
        name = lines.count > 1 && !lines[1].isEmpty ? lines[1] : "unknown"
    }

    var text: String { "\(mark)\n\(Self.plain(name[...]))\n" }

    /// Only what fits into a line of a log.
    private static func plain(_ line: Substring) -> String {
        String(String.UnicodeScalarView(line.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }.prefix(lineBytes)))
    }
}
