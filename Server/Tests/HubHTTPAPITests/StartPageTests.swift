import Hummingbird
import Testing

@testable import HubHTTPAPI

@Suite("The root of the server")
struct StartPageTests {
    private static let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

    @Test("an unsigned request gets the page, from a browser or not, and clients of the protocol get what they got before")
    func root() async throws {
        let hub = try await HubUnderTest(options: {
            $0.startPage = { Response(status: .ok, body: .init(byteBuffer: .init(string: "page"))) }
        })
        for fields in [[("Accept", Self.browser)], [("Accept", "*/*")], []] {
            let page = try await hub.call(ClientRequest("GET", "/", fields))
            #expect(page.status == 200)
            #expect(page.body == "page")
        }
        for request in [
            ClientRequest("GET", "/?api-version=2015-01"), ClientRequest("DELETE", "/"),
            ClientRequest("GET", "/", [("Accept", Self.browser), ("Authorization", "SharedAccessSignature sr=x")]),
        ] {
            let answer = try await hub.call(request)
            #expect([401, 405].contains(answer.status) && answer.body != "page", "\(request.method) \(request.target)")
        }
    }

    @Test("without a page a browser is answered that a signature is missing")
    func none() async throws {
        let hub = try await HubUnderTest()
        #expect(try await hub.call(ClientRequest("GET", "/", [("Accept", Self.browser)])).status == 401)
    }

    @Test(
        "a mistyped path is a plain 404, also where a hub has the name",
        arguments: ["/favicon.ico", "/robots.txt", "/phonee", "/demo", "/demo/nothing", "/demo/a/b/c/d"])
    func mistyped(_ path: String) async throws {
        let hub = try await HubUnderTest()
        let answer = try await hub.call(ClientRequest("GET", path, [("Accept", Self.browser)]))
        #expect(answer.status == 404)
        #expect(answer.body.contains("\"code\":\"unknown-route\""))
        #expect(!answer.body.contains("<Error>"))
    }

    @Test(
        "where a hub is addressed the answer is the protocol's XML",
        arguments: ["/demo?api-version=2015-01", "/demo/registrations", "/demo/messages/?api-version=2015-01"])
    func addressed(_ target: String) async throws {
        let hub = try await HubUnderTest()
        let answer = try await hub.call(ClientRequest(target.contains("messages") ? "POST" : "GET", target))
        #expect(answer.status == 401)
        #expect(answer.body.contains("<Error>"))
    }
}
