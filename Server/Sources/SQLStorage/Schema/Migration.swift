/// One numbered step of the schema. A step that was released never changes again; a later step repairs what it did wrong.
public struct Migration: Sendable {
    /// From 1, without gaps.
    public let number: Int
    /// For people: what the step is about.
    public let name: String
    /// The step that a node must at least know to go on beside this one; 0 when any may. A step that an older program would write past
    /// (a column that has to be filled in, a table whose rows mean something else) names its own number.
    public let oldestBeside: Int
    /// The statements, with the dialect's words filled in.
    public let script: @Sendable (SQLDialect) -> String

    /// Creates a step.
    public init(number: Int, name: String, oldestBeside: Int = 0, script: @escaping @Sendable (SQLDialect) -> String) {
        self.number = number
        self.name = name
        self.oldestBeside = oldestBeside
        self.script = script
    }
}
