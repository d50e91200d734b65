import RichPushModel

/// All that a `RichPushBackend` is made of.
public struct BackendParts: Sendable {
    /// Creates parts.
    public init() {}
}
