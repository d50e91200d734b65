/// The two forms of a log line.
public enum LogFormat: String, Sendable, CaseIterable {
    /// `2026-01-31T12:00:00.000Z info clarion "Request answered" status=200`, for people.
    case text
    /// One JSON object, for machines.
    case json
}
