import HTTPService
import HTTPTypes
import Hummingbird
import Testing

@Suite("A path has one spelling")
struct ExactPathTests {
    private let harness = RouterHarness { router in
        router.get("/api/notifications/{id}") { _, context in context.parameters.get("id") ?? "" }
        router.post("/api/notifications") { _, _ in "sent" }
        router.get("/") { _, _ in "root" }
        router.get("/hubs/{hub}/tags/{tag}") { _, context in context.parameters.get("tag") ?? "" }
    }

    @Test(
        "any other spelling is a 404, for every method",
        arguments: [
            "/api/notifications/", "//api/notifications", "/api//notifications", "/api/./notifications",
            "/api/x/../notifications", "/api/notifications/.", "/api/notifications/..", "/API/notifications",
            "/api/Notifications", "/api%2fnotifications", "/api/%6eotifications", "/api/notifications%00",
            "/api/%2e/notifications", "/api/notifications%20", "/api/notificationsX", "/api/notifications/7/",
            "/api/notifications/%2e%2e", "/api/notifications/..%2f7", "/api/notifications/%5c7", "/api/notifications/%c0%af",
            "/api/notifications\\7", "/api/notifications#x", "/api/notifications;a=b", "/registerX", "/api/notifications/7%",
            "/api/notifications/%zz", "/api/notifications/%252e",
        ])
    func otherSpellings(path: String) async throws {
        for method: HTTPRequest.Method in [.get, .head, .post, .options, .delete] {
            let response = try await harness.call(method, path)
            #expect(response.status == .notFound, "\(method) \(path)")
        }
    }

    @Test("the right spelling is found, and needful escapes are passed on")
    func rightSpelling() async throws {
        #expect(try await harness.call(.get, "/api/notifications/7").text == "7")
        #expect(try await harness.call(.post, "/api/notifications?x=//../").text == "sent")
        #expect(try await harness.call(.get, "/").text == "root")
        #expect(try await harness.call(.get, "/hubs/a/tags/follows%23x").text == "follows%23x")
    }

    @Test(
        "of routes that fit, the one with a word where the others have a parameter names the request, read from the left",
        arguments: ["first", "last"])
    func mostLiteral(order: String) async throws {
        let paths = ["/a/{x}/c", "/a/b/{y}", "/{z}/b/c"]
        let harness = RouterHarness { router in
            for path in order == "first" ? paths : paths.reversed() { router.on(RouterPath(path), method: .put) { _, _ in path } }
            router.get("/a/b/{y}") { _, _ in "read" }
        }
        // Only the route of words on the left takes GET; were another one chosen, this would be a 405.
        #expect(try await harness.call(.get, "/a/b/c").text == "read")
        #expect(try await harness.call(.put, "/a/b/c").text == "/a/b/{y}")
        #expect(try await harness.call(.get, "/a/x/c").status == .methodNotAllowed)
    }

    @Test("a path of 3,000 bytes is a 404")
    func longPath() async throws {
        #expect(try await harness.call(.get, "/api/notifications/" + String(repeating: "7", count: 3_000)).status == .notFound)
    }

    @Test("a wrong method on a known path is a 405 that says what is allowed")
    func wrongMethod() async throws {
        let response = try await harness.call(.delete, "/api/notifications")
        #expect(response.status == .methodNotAllowed)
        #expect(response.headers[.allow] == "OPTIONS, POST")
        #expect(response.code == "method-not-allowed")
    }

    @Test("a method cannot be overridden by a header or a query")
    func methodOverride() async throws {
        let override: HTTPFields = [HTTPField.Name("X-HTTP-Method-Override")!: "POST"]
        #expect(try await harness.call(.get, "/api/notifications?_method=POST", headers: override).status == .methodNotAllowed)
    }

    @Test("HEAD gives the head of GET and no body")
    func head() async throws {
        let response = try await harness.call(.head, "/api/notifications/7")
        #expect(response.status == .ok)
        #expect(response.headers[.contentLength] == "1")
        #expect(response.body.readableBytes == 0)
        #expect(try await harness.call(.head, "/api/notifications").status == .methodNotAllowed)
        #expect(try await harness.call(.head, "/nothing").body.readableBytes == 0)
    }

    @Test("OPTIONS runs no handler and lets no other site in")
    func options() async throws {
        let response = try await harness.call(.options, "/api/notifications/7", headers: [.origin: "https://other.example"])
        #expect(response.status == .noContent)
        #expect(response.headers[.allow] == "GET, HEAD, OPTIONS")
        #expect(response.headers[.accessControlAllowOrigin] == nil)
    }
}
