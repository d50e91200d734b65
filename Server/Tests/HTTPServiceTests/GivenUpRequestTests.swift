import ClarionTesting
import HTTPTypes
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOEmbedded
import ServiceErrors
import Testing

@testable import HTTPService

@Suite("A request that is given up while it is answered")
struct GivenUpRequestTests {
    @Test("the result of its handler is answered all the same", arguments: [HTTPResponse.Status.created, .badRequest])
    func answered(_ status: HTTPResponse.Status) async throws {
        let commit = NIOLockedValueBox<CheckedContinuation<Void, Never>?>(nil)
        let router = ServiceRouter()
        router.post("/send") { _, _ -> Response in
            // A write under way cannot be undone.
            await withCheckedContinuation { continuation in commit.withLockedValue { $0 = continuation } }
            if status == .badRequest { throw ServiceError(.invalidField) }
            return Response(status: status)
        }
        let responder = router.buildResponder()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let answer = Task {
            let source = ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: logger)
            return try await responder.respond(
                to: Request(
                    head: HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/send"),
                    body: RequestBody(buffer: .init())),
                context: ServiceRequestContext(source: source)
            ).status
        }
        #expect(await eventually { commit.withLockedValue({ $0 != nil }) })
        answer.cancel()
        for _ in 0..<1_000 { await Task.yield() }
        commit.withLockedValue { $0 }?.resume()
        #expect(try await answer.value == status)
    }
}
