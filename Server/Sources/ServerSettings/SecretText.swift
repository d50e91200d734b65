/// A text that must not be seen: printing it, in a log or an error, shows only that it is there.
public struct SecretText: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let text: String

    /// Wraps a secret.
    public init(_ text: String) { self.text = text }

    /// The secret itself, for the one place that uses it.
    public func reveal() -> String { text }

    public var description: String { "(secret)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
