import ClarionTesting
import HTTPTypes
import Hummingbird
import Logging
import ServiceErrors
import Testing

@testable import HTTPService

@Suite("A failed request")
struct FailureTests {
    private enum Surprise: Error { case broken(secret: String) }

    private let harness = RouterHarness { router in
        router.get("/known") { _, _ -> String in throw ServiceError(.overloaded, "the queue is full", retryAfter: 7) }
        router.get("/default") { _, _ -> String in throw ServiceError(.storageUnavailable) }
        router.get("/surprise") { _, _ -> String in throw Surprise.broken(secret: "hunter2") }
        router.get("/framework") { _, _ -> String in throw HTTPError(.badRequest, message: "quoting <input>") }
        router.get("/login") { _, _ -> String in throw ServiceError(.unauthenticated) }
        router.post("/body") { request, _ in String(decoding: try await request.readBody(limit: 8), as: UTF8.self) }
        router.post("/collect") { request, _ in String(buffer: try await request.body.collect(upTo: 8)) }
        router.get("/wrong") { _, _ -> String in throw ServiceError(.invalidField, "template SECRET: no such thing") }
        router.get("/fine") { _, _ in "fine" }
    }

    @Test("is answered as a problem document with its code, its detail and when to retry")
    func problem() async throws {
        let response = try await harness.call(.get, "/known")
        #expect(response.status == .serviceUnavailable)
        #expect(response.headers[.contentType] == "application/problem+json")
        #expect(response.headers[.retryAfter] == "7")
        #expect(
            response.text
                == #"{"code":"overloaded","detail":"the queue is full","status":503,"#
                + #""title":"The server has more work than it can queue.","type":"/docs/errors#overloaded"}"#)
        #expect(try await harness.call(.get, "/default").headers[.retryAfter] == "5")
    }

    @Test("writes exactly one line, at the level of the table, with the id that the caller got")
    func oneLine() async throws {
        let response = try await harness.call(.get, "/known?handle=SECRET")
        let lines = harness.log.lines
        #expect(lines.count == 1)
        let line = try #require(lines.first)
        #expect(line.level == .warning)
        #expect(line.message == "Request failed")
        #expect(line.metadata["error_code"] == "overloaded")
        #expect(line.metadata["error_detail"] == "the queue is full")
        #expect(line.metadata["route"] == "/known")
        #expect(line.metadata["status"] == "503")
        let id = try #require(response.headers[HTTPField.Name("X-Request-Id")!])
        #expect(line.metadata["request_id"] == id)
        #expect(id.wholeMatch(of: /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/) != nil)
        #expect(!line.metadata.values.contains { $0.contains("SECRET") })
    }

    @Test("of a request that is wrong quotes the caller to the caller, and not to the log")
    func quoted() async throws {
        let response = try await harness.call(.get, "/wrong")
        #expect(response.status == .badRequest)
        #expect(response.detail == "template SECRET: no such thing")
        let line = try #require(harness.log.lines.first)
        #expect(line.metadata["error_code"] == "invalid-field" && line.metadata["error_detail"] == nil)
        #expect(!line.metadata.values.contains { $0.contains("SECRET") })
    }

    @Test("that is unexpected is a 500, logged as an error by its kind alone")
    func surprise() async throws {
        let response = try await harness.call(.get, "/surprise")
        #expect(response.status == .internalServerError)
        #expect(response.code == "internal")
        #expect(response.detail == nil)
        let line = try #require(harness.log.lines.first)
        #expect(harness.log.lines.count == 1)
        #expect(line.level == .error)
        #expect(line.metadata["error_type"]?.hasSuffix("Surprise broken") == true)
        #expect(!"\(line)\(response.text)".contains("hunter2"))
    }

    @Test("of the framework keeps its status and loses its words")
    func framework() async throws {
        let response = try await harness.call(.get, "/framework")
        #expect(response.status == .badRequest)
        #expect(response.code == "invalid-field")
        #expect(!response.text.contains("quoting"))
        #expect(try await harness.call(.post, "/collect", body: "123456789").code == "payload-too-large")
    }

    @Test("for want of credentials says which ones")
    func unauthenticated() async throws {
        let response = try await harness.call(.get, "/login")
        #expect(response.status == .unauthorized)
        #expect(response.headers[.wwwAuthenticate] == #"Basic realm="clarion", charset="UTF-8""#)
        #expect(harness.log.lines.first?.level == .notice)
    }

    @Test(
        "for want of credentials makes no browser ask for a password when a script of a page calls",
        arguments: [("cors", #"Bearer realm="clarion""#), ("navigate", #"Basic realm="clarion", charset="UTF-8""#)])
    func unauthenticatedPage(mode: String, challenge: String) async throws {
        let name = try #require(HTTPField.Name("Sec-Fetch-Mode"))
        let response = try await harness.call(.get, "/login", headers: [name: mode])
        #expect(response.headers[.wwwAuthenticate] == challenge)
    }

    @Test("on an unknown path is logged without the path")
    func unknownPath() async throws {
        let response = try await harness.call(.get, "/api/SECRET")
        #expect(response.code == "unknown-route")
        #expect(harness.log.lines.first?.metadata["route"] == "unmatched")
        #expect(!"\(harness.log.lines)".contains("SECRET"))
    }

    @Test("is not what a success logs")
    func success() async throws {
        #expect(try await harness.call(.get, "/fine").text == "fine")
        #expect(harness.log.lines.map(\.message) == ["Request answered"])
        #expect(harness.log.lines.map(\.level) == [.debug])
    }

    @Test("for a body above the limit is a 413, whether its length was announced or not")
    func bodyLimit() async throws {
        #expect(try await harness.call(.post, "/body", body: "12345678").text == "12345678")
        let response = try await harness.call(.post, "/body", body: "123456789")
        #expect(response.status == .contentTooLarge)
        #expect(response.detail == "the body has more than 8 bytes")
        var options = ServiceOptions()
        options.maximumBodyBytes = 8
        let small = RouterHarness(options: options) { router in
            router.post("/stream") { request, _ in
                var count = 0
                for try await chunk in request.chunks { count += chunk.count }
                return String(count)
            }
        }
        #expect(try await small.call(.post, "/stream", body: "12345678").text == "8")
        #expect(try await small.call(.post, "/stream", body: "123456789").code == "payload-too-large")
    }

    @Test("for a body that ends before its Content-Length is not taken for a whole one")
    func cutBody() async throws {
        let response = try await harness.call(.post, "/body", headers: [.contentLength: "5"])
        #expect(response.status == .requestTimeout)
        #expect(response.detail == "the connection ended before the body did")
    }

    @Test("whose long body was not read ends the connection")
    func unreadBody() async throws {
        let response = try await harness.call(.post, "/nothing", body: String(repeating: "x", count: 70_000))
        #expect(response.status == .notFound)
        #expect(response.headers[.connection] == "close")
        let endless = try await harness.call(.post, "/nothing", headers: [.transferEncoding: "chunked"])
        #expect(endless.headers[.connection] == "close")
        #expect(try await harness.call(.post, "/nothing", body: "short").headers[.connection] == nil)
        #expect(try await harness.call(.get, "/nothing").headers[.connection] == nil)
    }
}

@Suite("The request deadline")
struct RequestDeadlineTests {
    private func answer(
        to method: HTTPRequest.Method = .post, extension extra: Duration? = nil, advancing steps: [Duration], body: String? = nil,
        endsAllTheSame: Bool = false
    ) async throws -> (status: Int, code: String?) {
        let clock = ManualClock()
        let harness = RouterHarness(options: ServiceOptions(clock: clock)) { router in
            router.on("/slow", method: method) { request, context in
                if let extra { context.deadline.extend(to: clock.uptime + extra) }
                _ = try await request.readBody(limit: 100)
                do { try await clock.sleep(for: .seconds(100)) } catch  where endsAllTheSame {}
                return "done"
            }
        }
        async let response = harness.call(method, "/slow", body: body)
        for step in steps {
            #expect(await eventually { clock.sleeperCount >= 2 })
            clock.advance(by: step)
        }
        return try await (response.status.code, response.code)
    }

    @Test("ends a handler that takes too long, and says that the outcome is unknown")
    func passes() async throws {
        let answer = try await answer(advancing: [.seconds(30)], body: "read")
        #expect(answer == (503, "outcome-unknown"))
    }

    @Test("of a question that changes nothing leaves nothing unknown", arguments: [HTTPRequest.Method.get, .head])
    func question(method: HTTPRequest.Method) async throws {
        let answer = try await answer(to: method, advancing: [.seconds(30)])
        #expect(answer.status == 503)
        #expect((method == .head || answer.code == "storage-unavailable"))
    }

    @Test("leaves the answer to a handler that has done its work all the same: a client would do it again")
    func late() async throws {
        let answer = try await answer(advancing: [.seconds(30)], body: "read", endsAllTheSame: true)
        #expect(answer == (200, nil))
    }

    @Test("is moved by a route that takes uploads")
    func moves() async throws {
        let answer = try await answer(extension: .seconds(200), advancing: [.seconds(30), .seconds(70)])
        #expect(answer == (200, nil))
    }

    @Test(
        "a request's id has all its digits",
        arguments: [
            ("587f9e4db1d1362fe7e6de9ca93973f", "0587f9e4-db1d-1362-fe7e-6de9ca93973f"),
            ("ABCDEF0123456789abcdef0123456789", "abcdef01-2345-6789-abcd-ef0123456789"),
            ("", "00000000-0000-0000-0000-000000000000"), ("7", "00000000-0000-0000-0000-000000000007"),
        ])
    func requestID(number: String, id: String) { #expect(ServiceRequestContext.guid(number) == id) }
}
