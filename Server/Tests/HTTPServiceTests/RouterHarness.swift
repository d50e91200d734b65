import ClarionTesting
import HTTPService
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore

/// A router with routes of the test, called without a socket, and the log lines it wrote.
struct RouterHarness: Sendable {
    let log = LogNotes()
    private let app: Application<ServiceResponder>

    init(options: ServiceOptions = ServiceOptions(), routes: (ServiceRouter) -> Void) {
        let router = ServiceRouter(options: options)
        routes(router)
        app = Application(router: router, logger: log.logger)
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
