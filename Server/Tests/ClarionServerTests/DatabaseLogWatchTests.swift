import Logging
import Synchronization
import Testing

@testable import ClarionServer

@Suite("The write-ahead log of a database file")
struct DatabaseLogWatchTests {
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    private struct Handler: LogHandler {
        let lines: Lines
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]
        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) {
            lines.all.withLock { $0.append("\(event.level) \(event.metadata?["count"].map { "\($0)" } ?? "")") }
        }
    }

    @Test("is measured at each look, and told once when it is beyond its bound and once when it is not any more")
    func once() {
        let lines = Lines()
        let bytes = Mutex<Int64>(0)
        let logger = Logger(label: "test") { _ in Handler(lines: lines) }
        let watch = DatabaseLogWatch(bytes: { bytes.withLock { $0 } }, logger: logger)
        for size in [0, 128 << 20, 330_000_000, 340_000_000, 64 << 20, 0] {
            bytes.withLock { $0 = Int64(size) }
            #expect(watch.look() == Int64(size))
        }
        #expect(lines.all.withLock { $0 } == ["warning 330000000", "notice 67108864"])
    }
}
