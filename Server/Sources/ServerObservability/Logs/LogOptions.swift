import RichPushModel

/// What the log handler writes and where.
public struct LogOptions: Sendable {
    public var format: LogFormat
    /// The metadata keys that may be written; every other key is dropped with its value.
    public var allowedKeys: Set<String>
    /// Where time stamps come from.
    public var clock: any ServiceClock
    /// Takes a finished line with its line break.
    public var write: @Sendable (String) -> Void

    /// The most characters of a value; more are cut, since nobody knows what a stranger makes of a long one.
    public static let maximumValueLength = 300

    /// Creates options; lines go to standard error.
    public init(
        format: LogFormat = .text, allowedKeys: Set<String>, clock: any ServiceClock = .system,
        write: @escaping @Sendable (String) -> Void = StandardError.write
    ) {
        self.format = format
        self.allowedKeys = allowedKeys
        self.clock = clock
        self.write = write
    }
}
