import Logging
import WireText

/// Writes each log record as one line that no value can break, with metadata of the known keys only.
public struct LineLogHandler: LogHandler {
    public var logLevel: Logger.Level
    public var metadata: Logger.Metadata = [:]
    public var metadataProvider: Logger.MetadataProvider?
    private let label: String
    private let options: LogOptions

    /// Creates a handler for the logger `label`.
    public init(label: String, level: Logger.Level = .info, options: LogOptions) {
        self.label = label
        logLevel = level
        self.options = options
    }

    public subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        var merged = metadata
        if let provided = metadataProvider?.get() { merged.merge(provided) { _, new in new } }
        if let given = event.metadata { merged.merge(given) { _, new in new } }
        let pairs = merged.filter { options.allowedKeys.contains($0.key) }
            .map { (key: $0.key, value: Self.cut($0.value.description)) }
            .sorted { $0.key < $1.key }
        let line = LogLine(
            time: WireTime(options.clock.now).description, level: event.level.rawValue, label: label,
            message: Self.cut(event.message.description), pairs: pairs)
        options.write(options.format == .json ? line.json : line.text)
    }

    private static func cut(_ text: String) -> String {
        text.count > LogOptions.maximumValueLength ? text.prefix(LogOptions.maximumValueLength) + "…" : text
    }
}
