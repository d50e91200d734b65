import HTTPService
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import NIOConcurrencyHelpers
import RichPushModel

/// A router with routes of the test, called without a socket, and the log lines it wrote.
struct RouterHarness: Sendable {
    let log = LogRecorder()
    private let app: Application<ServiceResponder>

    init(options: ServiceOptions = ServiceOptions(), routes: (ServiceRouter) -> Void) {
        let router = ServiceRouter(options: options)
        routes(router)
        let recorder = log
        app = Application(router: router, logger: Logger(label: "test") { _ in RecordingLogHandler(recorder: recorder) })
    }

    func call(
        _ method: HTTPRequest.Method, _ uri: String, headers: HTTPFields = [:], body: String? = nil
    ) async throws -> TestResponse {
        try await app.test(.router) { client in
            try await client.executeRequest(
                uri: uri, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
        }
    }
}

extension TestResponse {
    var text: String { String(buffer: body) }

    /// The `code` of a problem document.
    var code: String? { text.firstMatch(of: #/"code":"([a-z-]+)"/#).map { String($0.1) } }

    /// The `detail` of a problem document.
    var detail: String? { text.firstMatch(of: #/"detail":"([^"]*)"/#).map { String($0.1) } }
}

/// The log lines of one test.
final class LogRecorder: Sendable {
    struct Line: Sendable {
        var level: Logger.Level
        var message: String
        var metadata: [String: String]
    }

    private let recorded = NIOLockedValueBox<[Line]>([])

    var lines: [Line] { recorded.withLockedValue { $0 } }

    func add(_ line: Line) { recorded.withLockedValue { $0.append(line) } }
}

struct RecordingLogHandler: LogHandler {
    let recorder: LogRecorder
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let merged = metadata.merging(event.metadata ?? [:]) { _, new in new }
        recorder.add(.init(level: event.level, message: event.message.description, metadata: merged.mapValues(\.description)))
    }
}
