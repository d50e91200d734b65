@testable import HTTPService
import HTTPTypes
import Hummingbird
import Testing

@Suite("Pages of other sites")
struct BrowserGuardTests {
    private let harness = RouterHarness { router in
        router.group("/api").add(middleware: CrossSiteGuard()).post("/notifications") { _, _ in "sent" }
    }

    private func status(_ headers: HTTPFields) async throws -> Int {
        try await harness.call(.post, "/api/notifications", headers: headers).status.code
    }

    @Test(
        "cannot use the API, whatever origin they name",
        arguments: [
            "https://evil.example", "null", "http://localhost.evil.example", "http://localhost:81", "file://", "localhost", "",
            "http://", "chrome-extension://localhost",
        ])
    func foreignOrigin(origin: String) async throws {
        #expect(try await status([.origin: origin]) == 403)
    }

    @Test("cannot use the API when the browser says where the request comes from", arguments: ["cross-site", "same-site", "?"])
    func foreignSite(site: String) async throws {
        #expect(try await status([HTTPField.Name("Sec-Fetch-Site")!: site]) == 403)
        #expect(try await status([HTTPField.Name("Sec-Fetch-Site")!: site, .origin: "http://localhost"]) == 403)
    }

    @Test("differ from our own page and from programs")
    func own() async throws {
        #expect(try await status([:]) == 200)
        #expect(try await status([.origin: "http://localhost"]) == 200)
        #expect(try await status([.origin: "http://LOCALHOST:80"]) == 200)
        // A proxy in front ended TLS.
        #expect(try await status([.origin: "https://localhost"]) == 200)
        #expect(try await status([HTTPField.Name("Sec-Fetch-Site")!: "same-origin", .origin: "http://localhost"]) == 200)
        #expect(try await status([HTTPField.Name("Sec-Fetch-Site")!: "none"]) == 200)
    }

    @Test("cannot reach a loopback listener by a name of their own")
    func hosts() async throws {
        #expect(HostGuard.host(of: "127.0.0.1:8080") == "127.0.0.1")
        #expect(HostGuard.host(of: "[::1]:8080") == "[::1]")
        #expect(HostGuard.host(of: "[::1]") == "[::1]")
        #expect(HostGuard.host(of: "Evil.Example:80") == "evil.example")
        var options = ServiceOptions()
        options.allowedHosts = []
        let open = RouterHarness(options: options) { $0.get("/x") { _, _ in "x" } }
        #expect(try await open.call(.get, "/x").status == .ok)
    }

    @Test("get answers that a browser neither guesses at nor frames nor runs")
    func securityHeaders() async throws {
        for path in ["/api/notifications", "/nothing"] {
            let headers = try await harness.call(.post, path).headers
            #expect(headers[.xContentTypeOptions] == "nosniff")
            #expect(headers[.contentSecurityPolicy] == "default-src 'none'; frame-ancestors 'none'; sandbox")
            #expect(headers[HTTPField.Name("Referrer-Policy")!] == "no-referrer")
            #expect(headers[HTTPField.Name("Cross-Origin-Resource-Policy")!] == "same-origin")
            #expect(headers[.cacheControl] == "no-store")
        }
    }

    @Test("do not weaken what a page of ours asks for, except that types are never guessed")
    func ownPolicy() async throws {
        let page = RouterHarness { router in
            router.get("/phone") { _, _ in
                Response(status: .ok, headers: [.contentSecurityPolicy: "default-src 'self'", .xContentTypeOptions: "sniff"])
            }
        }
        let headers = try await page.call(.get, "/phone").headers
        #expect(headers[.contentSecurityPolicy] == "default-src 'self'")
        #expect(headers[.xContentTypeOptions] == "nosniff")
    }
}
