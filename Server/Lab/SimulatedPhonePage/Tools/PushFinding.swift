/// What is to be said of a push before it is sent: a rule of APNs that it breaks, or something that a phone would pass over.
public struct PushFinding: Hashable, Sendable, Codable {
    /// How bad it is. Nothing keeps a developer from sending: APNs is the judge.
    public enum Severity: String, Hashable, Sendable, Codable {
        /// APNs refuses it, or nobody can read it.
        case error
        /// APNs takes it, but it probably does not do what is meant.
        case advice
    }

    public var severity: Severity
    /// The field of `HandPush` that it is about.
    public var field: String
    /// A sentence for people.
    public var message: String
    /// Where in the body, from 1; absent for what has no place.
    public var line: Int?
    /// In characters, from 1.
    public var column: Int?

    /// Creates a finding.
    public init(_ severity: Severity, _ field: String, _ message: String, line: Int? = nil, column: Int? = nil) {
        self.severity = severity
        self.field = field
        self.message = message
        self.line = line
        self.column = column
    }
}
