import Logging
import ServiceErrors
import Synchronization
import Testing

@testable import PushHub

@Suite("The log of a trouble")
struct TroubleLogTests {
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
        func log(event: LogEvent) { lines.all.withLock { $0.append("\(event.level) \(event.message)") } }
    }

    @Test("it is told when it begins and when it is over, however often it is met meanwhile")
    func once() {
        let lines = Lines()
        let trouble = TroubleLog("The queue cannot be read", logger: Logger(label: "test") { _ in Handler(lines: lines) })
        trouble.succeeded()
        #expect(lines.all.withLock { $0.isEmpty })
        for _ in 1...2 {
            for _ in 1...50 { trouble.failed(ServiceError(.storageUnavailable)) }
            for _ in 1...3 { trouble.succeeded() }
        }
        let expected = ["warning The queue cannot be read", "notice Over: The queue cannot be read"]
        #expect(lines.all.withLock { $0 } == expected + expected)
    }

    @Test("another reason is told too, and not without end")
    func reasons() {
        let lines = Lines()
        let trouble = TroubleLog("The queue cannot be read", logger: Logger(label: "test") { _ in Handler(lines: lines) })
        for _ in 1...3 {
            trouble.failed(ServiceError(.storageUnavailable))
            trouble.failed(ServiceError(.notReady, "another version has taken over"))
        }
        #expect(lines.all.withLock { $0.count } == 2)
        for number in 1...100 { trouble.failed(ServiceError(.notReady, "reason \(number)")) }
        #expect(lines.all.withLock { $0.count } == 8)
        trouble.succeeded()
        #expect(lines.all.withLock { $0.last } == "notice Over: The queue cannot be read")
    }
}
