/// A place in a document, both numbers from 1; the column counts Unicode scalars.
public struct XMLPosition: Hashable, Sendable {
    public var line: Int
    public var column: Int

    /// Creates a position.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}

extension XMLPosition: CustomStringConvertible {
    public var description: String { "line \(line), column \(column)" }
}
