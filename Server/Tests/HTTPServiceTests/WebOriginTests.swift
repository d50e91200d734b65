import HTTPTypes
import Hummingbird
import HummingbirdTesting
import ServiceErrors
import Testing

@testable import HTTPService

@Suite("Pages of other sites that are admitted")
struct WebOriginTests {
    private static let shop = "https://shop.example"

    private static func options(_ origins: [String] = [shop]) -> ServiceOptions {
        var options = ServiceOptions()
        options.webOrigins = WebOrigins(origins, below: ["/api"])
        return options
    }

    private static func routes(_ router: ServiceRouter) {
        let group = router.group("/api").add(middleware: CrossSiteGuard(admitsWebOrigins: true))
        group.post("notifications") { _, _ in "sent" }
        group.get("notifications/:status") { _, context in
            Response(status: HTTPResponse.Status(code: Int(try context.parameters.require("status")) ?? 500))
        }
        group.get("refused") { _, _ -> Response in throw ServiceError(.unauthenticated) }
        router.group("/api/own").add(middleware: CrossSiteGuard()).get { _, _ in "own" }
        router.group("/console").add(middleware: CrossSiteGuard(admitsWebOrigins: true)).post("session") { _, _ in "begun" }
    }

    private let harness = RouterHarness(options: options(), routes: routes)

    private func call(
        _ method: HTTPRequest.Method = .post, _ path: String = "/api/notifications", from origin: String?,
        _ more: HTTPFields = [:]
    ) async throws -> TestResponse {
        var headers = more
        headers[.origin] = origin
        return try await harness.call(method, path, headers: headers)
    }

    private func asks(_ origin: String, of path: String = "/api/notifications") async throws -> TestResponse {
        let headers: HTTPFields = [
            .accessControlRequestMethod: "POST", .accessControlRequestHeaders: "authorization,content-type",
            .secFetchSite: "cross-site",
        ]
        return try await call(.options, path, from: origin, headers)
    }

    @Test("may call, and read the answer", arguments: ["cross-site", "same-site", nil])
    func admitted(site: String?) async throws {
        let answer = try await call(from: Self.shop, site.map { [.secFetchSite: $0] } ?? [:])
        #expect(answer.status == .ok)
        #expect(answer.headers[.accessControlAllowOrigin] == Self.shop)
        #expect(answer.headers[.vary] == "Origin")
        #expect(answer.headers[.crossOriginResourcePolicy] == "cross-origin")
        #expect(answer.headers[.accessControlAllowCredentials] == nil)
        let exposed = try #require(answer.headers[.accessControlExposeHeaders])
        for name in ["ETag", "Content-Range", "Accept-Ranges", "Retry-After", "X-Request-Id"] { #expect(exposed.contains(name)) }
    }

    @Test("may read answers of every status", arguments: [206, 304, 307, 404, 503])
    func statuses(status: Int) async throws {
        let answer = try await call(.get, "/api/notifications/\(status)", from: Self.shop)
        #expect(answer.status.code == status)
        #expect(answer.headers[.accessControlAllowOrigin] == Self.shop)
        #expect(answer.headers[.crossOriginResourcePolicy] == "cross-origin")
    }

    @Test(
        "may read why a call is refused, also where no route is reached",
        arguments: [
            (HTTPRequest.Method.get, "/api/refused", 401), (.put, "/api/notifications", 405), (.get, "/api/nothing", 404),
            (.get, "/api//refused", 404), (.get, "/api/own", 403),
        ])
    func errors(method: HTTPRequest.Method, path: String, status: Int) async throws {
        let answer = try await call(method, path, from: Self.shop, [.secFetchMode: "cors"])
        #expect(answer.status.code == status)
        #expect(answer.headers[.accessControlAllowOrigin] == Self.shop)
        #expect(answer.headers[.accessControlExposeHeaders]?.contains("X-Request-Id") == true)
        #expect(answer.headers[.vary] == "Origin")
    }

    @Test(
        "are those whose whole origin is named, and no other",
        arguments: [
            "https://evil.example", "http://shop.example", "https://shop.example:8443", "https://www.shop.example",
            "https://shop.example.evil.example", "https://SHOP.example", "https://shop.example/", "null", "",
            "https://shop.example, https://evil.example",
        ])
    func others(origin: String) async throws {
        for answer in [try await call(from: origin), try await asks(origin)] {
            #expect(answer.code == "cross-site")
            #expect(answer.headers[.accessControlAllowOrigin] == nil)
            #expect(answer.headers[.crossOriginResourcePolicy] == "same-origin")
        }
    }

    @Test("ask before they call, and hear what they may send")
    func preflight() async throws {
        for path in ["/api/notifications", "/api/nothing", "/api"] {
            let answer = try await asks(Self.shop, of: path)
            #expect(answer.status == .noContent)
            #expect(answer.headers[.accessControlAllowOrigin] == Self.shop)
            #expect(answer.headers[.accessControlAllowMethods] == "GET, HEAD, POST, PUT, PATCH, DELETE")
            #expect(answer.headers[.accessControlMaxAge] == "600")
            #expect(answer.headers[.accessControlAllowCredentials] == nil)
            #expect(answer.headers[.vary] == "Origin")
            let fields = try #require(answer.headers[.accessControlAllowHeaders]).split(separator: ", ")
            for name in [
                "Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Range", "Accept-Language",
            ] {
                #expect(fields.contains(Substring(name)))
            }
        }
    }

    @Test("change nothing for OPTIONS of programs and of our own page")
    func programs() async throws {
        for origin in [nil, "http://localhost"] {
            let answer = try await call(.options, from: origin, [.accessControlRequestMethod: "POST"])
            #expect(answer.status == .noContent)
            #expect(answer.headers[.allow] == "OPTIONS, POST")
            #expect(answer.headers[.accessControlAllowMethods] == nil)
        }
    }

    @Test("are not admitted beside the paths that are for them, nor by a guard of another kind")
    func paths() async throws {
        #expect(try await call(.post, "/console/session", from: Self.shop).code == "cross-site")
        #expect(try await call(.post, "/console/session", from: Self.shop).headers[.accessControlAllowOrigin] == nil)
        #expect(try await asks(Self.shop, of: "/console/session").headers[.accessControlAllowOrigin] == nil)
        #expect(try await asks(Self.shop, of: "/apis").status == .notFound)
        #expect(try await call(.get, "/api/own", from: Self.shop).code == "cross-site")
    }

    @Test("keep a cache from giving one page the answer to another")
    func vary() async throws {
        #expect(try await call(from: nil).headers[.vary] == "Origin")
        #expect(try await call(from: "http://localhost").headers[.vary] == "Origin")
        #expect(try await call(from: "http://localhost").headers[.accessControlAllowOrigin] == nil)
        #expect(try await call(.get, "/console/session", from: nil).headers[.vary] == nil)
    }

    @Test("are none unless they are named")
    func none() async throws {
        let harness = RouterHarness(options: Self.options([]), routes: Self.routes)
        let answer = try await harness.call(.post, "/api/notifications", headers: [.origin: Self.shop])
        #expect(answer.code == "cross-site")
        #expect(answer.headers[.vary] == nil)
        #expect(try await harness.call(.post, "/api/notifications").headers[.vary] == nil)
    }
}
