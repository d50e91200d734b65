/// How log lines are written.
public enum LogFormat: String, Sendable, CaseIterable {
    /// For people.
    case text
    /// For collectors: one JSON object a line.
    case json
}
