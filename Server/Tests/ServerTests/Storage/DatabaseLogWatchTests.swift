import ClarionTesting
import Synchronization
import Testing

@testable import ServerStorage

@Suite("The write-ahead log of a database file")
struct DatabaseLogWatchTests {
    @Test("is measured at each check, and logged once when it exceeds its bound and once when it no longer does")
    func once() {
        let notes = LogNotes()
        let bytes = Mutex<Int64>(0)
        let watch = DatabaseLogWatch(bytes: { bytes.withLock { $0 } }, logger: notes.logger)
        for size in [0, 128 << 20, 330_000_000, 340_000_000, 64 << 20, 0] {
            bytes.withLock { $0 = Int64(size) }
            #expect(watch.look() == Int64(size))
        }
        let logged = notes.lines.map { "\($0.level) \($0.metadata["count"] ?? "")" }
        #expect(logged == ["warning 330000000", "notice 67108864"])
    }
}
