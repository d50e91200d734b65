import ClarionTesting
import Logging
import NIOConcurrencyHelpers
import RichPushModel
import ServerObservability
import Testing

@Suite("A log line")
struct LineLogHandlerTests {
    private func line(
        _ format: LogFormat = .text, _ message: Logger.Message = "Request answered", level: Logger.Level = .info,
        metadata: Logger.Metadata = [:]
    ) -> String {
        let written = NIOLockedValueBox<[String]>([])
        let clock = ManualClock(start: Timestamp(milliseconds: 1_709_210_096_007))
        let options = LogOptions(format: format, allowedKeys: ["status", "route", "user"], clock: clock) { line in
            written.withLockedValue { $0.append(line) }
        }
        var logger = Logger(label: "clarion") { LineLogHandler(label: $0, level: .debug, options: options) }
        logger[metadataKey: "user"] = "ann"
        logger.log(level: level, message, metadata: metadata)
        return written.withLockedValue { $0.joined() }
    }

    @Test("says when, how bad, who and what, then the data in the order of their keys")
    func text() {
        #expect(
            line(metadata: ["status": "200", "route": "/a b"])
                == "2024-02-29T12:34:56.007Z info clarion \"Request answered\" route=\"/a b\" status=200 user=ann\n")
    }

    @Test("is one JSON object when machines read it")
    func json() {
        #expect(
            line(.json, level: .error, metadata: ["status": .stringConvertible(500), "user": "bob"])
                == #"{"time":"2024-02-29T12:34:56.007Z","level":"error","logger":"clarion","#
                + #""message":"Request answered","status":"500","user":"bob"}"# + "\n")
    }

    @Test("holds no key that is not on the list", arguments: LogFormat.allCases)
    func unknownKeys(format: LogFormat) {
        let text = line(format, metadata: ["password": "hunter2", "Status": "hunter2", "status.x": "hunter2"])
        #expect(!text.contains("hunter2"))
        #expect(!text.contains("password"))
    }

    @Test("stays one line whatever a value holds", arguments: LogFormat.allCases)
    func injection(format: LogFormat) {
        let text = line(format, "a\nb", metadata: ["route": "x\r\n2024 error \u{1B}[31m\u{202E}\u{2028} \"quoted\" \\"])
        #expect(text.filter(\.isNewline).count == 1)
        #expect(!text.unicodeScalars.dropLast().contains { $0.value < 0x20 || $0.value == 0x202E || $0.value == 0x2028 })
        #expect(text.contains(#"x\r\n2024 error \u001b[31m\u202e\u2028 \"quoted\" \\"#))
    }

    @Test("cuts values that are too long to be meant")
    func long() {
        let text = line(metadata: ["route": .string(String(repeating: "x", count: 5_000))])
        #expect(text.utf8.count < 500)
        #expect(text.contains("x…"))
    }

    @Test("is not written below the level")
    func level() {
        #expect(line(level: .trace) == "")
    }
}
