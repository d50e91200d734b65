/// The text of one operation, written once for every engine, with values as `$1`, `$2`, … in order of position.
///
/// Every statement must be listed in `SQLStatement.all` of its store, so that a test can prepare each on both engines.
public struct SQLStatement: Sendable, Hashable {
    /// The SQL text. Words of the dialect (row locks, for example) are filled in before it gets here.
    public let text: String

    /// Creates a statement from a text known at compile time.
    public init(_ text: StaticString) { self.text = text.description }

    /// Creates a statement whose text was put together from the dialect's words; never from input.
    public init(composed text: String) { self.text = text }
}
