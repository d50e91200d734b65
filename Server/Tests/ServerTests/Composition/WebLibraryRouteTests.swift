import HTTPService
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing
import WebLibrary

@Suite("The library for web pages")
struct WebLibraryRouteTests {
    private func get(_ path: String, headers: HTTPFields = [:]) async throws -> TestResponse {
        let router = ServiceRouter()
        WebLibraryRoutes(version: "12.34.56").addRoutes(to: router)
        return try await Application(router: router).test(.router) { client in
            try await client.executeRequest(uri: path, method: .get, headers: headers, body: nil)
        }
    }

    @Test("may be loaded by pages of every site", arguments: ["/web/v1/clarion.js", "/web/v1/worker.js"])
    func headers(path: String) async throws {
        let answer = try await get(path, headers: [.origin: "https://shop.example"])
        #expect(answer.status == .ok)
        #expect(answer.body.readableBytes > 0)
        #expect(answer.headers[.contentType] == "text/javascript; charset=utf-8")
        #expect(answer.headers[.accessControlAllowOrigin] == "*")
        #expect(answer.headers[.crossOriginResourcePolicy] == "cross-origin")
        #expect(answer.headers[.xContentTypeOptions] == "nosniff")
    }

    @Test("is kept for an hour, and then asked for by its tag")
    func caching() async throws {
        let first = try await get("/web/v1/clarion.js")
        #expect(first.headers[.cacheControl] == "public, max-age=3600")
        let tag = try #require(first.headers[.eTag])
        let again = try await get("/web/v1/clarion.js", headers: [.ifNoneMatch: tag])
        #expect(again.status == .notModified)
        #expect(again.headers[.accessControlAllowOrigin] == "*")
        #expect(again.headers[.cacheControl] == "public, max-age=3600")
        #expect(again.body.readableBytes == 0)
    }

    @Test("has less than 12,000 bytes in all, and names its version and source first")
    func size() async throws {
        var size = 0
        for name in ["clarion.js", "worker.js"] {
            let text = String(buffer: try await get("/web/v1/\(name)").body)
            #expect(text.hasPrefix("// Clarion 12.34.56, made of Server/Sources/WebLibrary/Library/\(name)\n"))
            size += text.utf8.count
        }
        #expect(size < 12_000)
    }

    @Test("has no other file")
    func others() async throws { #expect(try await get("/web/v1/other.js").status == .notFound) }
}
