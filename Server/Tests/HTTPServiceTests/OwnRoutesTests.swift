import HTTPService
import HTTPTypes
import Hummingbird
import ServiceErrors
import Testing

@Suite("Routes that match in their own way")
struct OwnRoutesTests {
    /// Takes `/hub…` in any case, with or without a final slash.
    private struct Shouting: OwnRoutes {
        struct Renderer: ErrorRenderer {
            var challenge: String { "Shout" }

            func render(_ error: ServiceError, entry: ErrorTableEntry, requestID: String) -> (mediaType: String, body: [UInt8]) {
                ("text/plain", Array("own: \(error.code.rawValue)".utf8))
            }

            func status(of error: ServiceError, entry: ErrorTableEntry) -> HTTPResponse.Status {
                error.code == .forbidden ? .unauthorized : entry.status
            }
        }

        var errorRenderer: any ErrorRenderer { Renderer() }

        func match(path: String, method: HTTPRequest.Method) -> OwnMatch? {
            path.lowercased().hasPrefix("/hub") && method != .patch ? OwnMatch(template: "/hub") : nil
        }

        func respond(to request: Request, context: ServiceRequestContext) async throws -> Response {
            switch request.uri.query {
            case "closed": throw ServiceError(.unauthenticated)
            case "weak": throw ServiceError(.forbidden)
            default: return Response(status: .ok, body: .init(byteBuffer: .init(string: request.uri.path)))
            }
        }
    }

    private let harness = RouterHarness { router in
        router.get("/hub/exact") { _, _ in "exact" }
        router.get("/api/notifications") { _, _ in "api" }
        router.add(Shouting())
    }

    @Test("they get what no other route takes, in every spelling that they know", arguments: ["/HUB/a/", "/hub//b", "/Hub/%2e"])
    func spellings(path: String) async throws {
        #expect(try await harness.call(.get, path).text == path)
        #expect(try await harness.call(.put, path, body: "x").text == path)
        let head = try await harness.call(.head, path)
        #expect(head.status == .ok)
        #expect(head.text.isEmpty)
    }

    @Test("an exact route comes first, and its own 404 and 405 stay")
    func exactFirst() async throws {
        #expect(try await harness.call(.get, "/hub/exact").text == "exact")
        #expect(try await harness.call(.get, "/api/notifications/").status == .notFound)
        #expect(try await harness.call(.delete, "/api/notifications").status == .methodNotAllowed)
        #expect(try await harness.call(.patch, "/hub/a").code == "unknown-route")
    }

    @Test("their errors have their own form, status and challenge")
    func errors() async throws {
        let closed = try await harness.call(.get, "/hub/a?closed")
        #expect(closed.status == .unauthorized)
        #expect(closed.text == "own: unauthenticated")
        #expect(closed.headers[.wwwAuthenticate] == "Shout")
        #expect(try await harness.call(.get, "/hub/a?weak").status == .unauthorized)
        #expect(harness.log.lines.last?.metadata["route"] == "/hub")
    }
}
