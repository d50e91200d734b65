import Foundation
import Logging
import RichPushModel
import WireText

/// Writes each log record as one line that no value can break, with metadata of the known keys only.
public struct LineLogHandler: LogHandler {
    public var logLevel: Logger.Level
    public var metadata: Logger.Metadata = [:]
    public var metadataProvider: Logger.MetadataProvider?
    private let label: String
    private let options: LogOptions

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

/// One record, ready to be written in either form.
private struct LogLine {
    let time: String
    let level: String
    let label: String
    let message: String
    let pairs: [(key: String, value: String)]

    /// Human-readable: values of printable ASCII without quotes stay as they are, anything else is quoted.
    var text: String {
        var line = "\(time) \(level) \(label) \(Self.quoted(message))"
        for (key, value) in pairs { line += " \(key)=\(Self.isPlain(value) ? value : Self.quoted(value))" }
        return line + "\n"
    }

    /// For machines: one object with `time`, `level`, `logger`, `message` and the keys of the metadata, which are none of these.
    var json: String {
        let fixed = [("time", time), ("level", level), ("logger", label), ("message", message)]
        let members = (fixed + pairs.map { ($0.key, $0.value) }).map { "\(Self.quoted($0)):\(Self.quoted($1))" }
        return "{" + members.joined(separator: ",") + "}\n"
    }

    private static func isPlain(_ value: String) -> Bool {
        !value.isEmpty
            && value.utf8.allSatisfy { (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }

    /// A JSON string. Line breaks, terminal escapes and direction marks never reach the log as themselves.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            default:
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator:
                    for unit in String(scalar).utf16 {
                        let digits = String(unit, radix: 16)
                        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                    }
                default: quoted.unicodeScalars.append(scalar)
                }
            }
        }
        return quoted + "\""
    }
}

/// What the log handler writes and where.
public struct LogOptions: Sendable {
    public var format: LogFormat
    /// The metadata keys that may be written; every other key is dropped with its value.
    public var allowedKeys: Set<String>
    /// Where time stamps come from.
    public var clock: any ServiceClock
    /// Takes a finished line with its line break.
    public var write: @Sendable (String) -> Void

    /// The most characters of a value; more are cut, since a client may choose the value.
    static let maximumValueLength = 300

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

/// The two forms of a log line.
public enum LogFormat: String, Sendable, CaseIterable {
    /// `2026-01-31T12:00:00.000Z info clarion "Request answered" status=200`, human-readable.
    case text
    /// One JSON object, for machines.
    case json
}

/// The standard error stream.
public enum StandardError {
    /// Writes a line in one call where the system allows, so that lines of several threads do not mix. A log that cannot be
    /// written is lost in silence: there is nowhere left to say so.
    @Sendable
    public static func write(_ line: String) {
        var rest = Array(line.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(STDERR_FILENO, $0.baseAddress, $0.count) }
            if count < 0 {
                guard errno == EINTR else { return }
            } else {
                rest = rest.dropFirst(count)
            }
        }
    }
}

/// Outside the type, whose own function has the name of the system's.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int { write(descriptor, bytes, count) }
