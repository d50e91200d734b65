/// One numbered step of the schema. A step that was released never changes again; what it did wrong, the next one mends.
public struct Migration: Sendable {
    /// From 1, without gaps.
    public let number: Int
    /// For people: what the step is about.
    public let name: String
    /// The statements, with the dialect's words filled in.
    public let script: @Sendable (SQLDialect) -> String

    /// Creates a step.
    public init(number: Int, name: String, script: @escaping @Sendable (SQLDialect) -> String) {
        self.number = number
        self.name = name
        self.script = script
    }
}
