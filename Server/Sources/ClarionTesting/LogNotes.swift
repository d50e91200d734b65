import Logging
import NIOConcurrencyHelpers

/// Keeps what is logged, for a test to read.
public final class LogNotes: Sendable {
    /// One line of the log.
    public struct Line: Sendable {
        public var level: Logger.Level
        public var message: String
        public var metadata: [String: String]
    }

    private let kept = NIOLockedValueBox<[Line]>([])

    /// Creates an empty log.
    public init() {}

    /// What was logged so far, in order.
    public var lines: [Line] { kept.withLockedValue { $0 } }

    /// Writes here, at every level.
    public var logger: Logger { Logger(label: "test") { [self] _ in Handler(notes: self) } }

    private struct Handler: LogHandler {
        let notes: LogNotes
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let merged = metadata.merging(event.metadata ?? [:]) { _, new in new }
            notes.kept.withLockedValue {
                $0.append(
                    Line(level: event.level, message: event.message.description, metadata: merged.mapValues(\.description)))
            }
        }
    }
}
