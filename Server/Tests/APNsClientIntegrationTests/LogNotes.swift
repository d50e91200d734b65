import Logging
import NIOConcurrencyHelpers

/// Keeps what one client logs.
final class LogNotes: Sendable {
    struct Line: Sendable {
        var message: String
        var metadata: [String: String]
    }

    private let kept = NIOLockedValueBox<[Line]>([])

    var lines: [Line] { kept.withLockedValue { $0 } }

    var logger: Logger { Logger(label: "test") { [self] _ in Handler(notes: self) } }

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
                $0.append(Line(message: event.message.description, metadata: merged.mapValues(\.description)))
            }
        }
    }
}
