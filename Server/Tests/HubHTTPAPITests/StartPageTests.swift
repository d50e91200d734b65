import Hummingbird
import Testing

@testable import HubHTTPAPI

@Suite("The root of the server")
struct StartPageTests {
    private static let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

    @Test("a browser gets the page, and clients of the protocol what they got before")
    func root() async throws {
        let hub = try await HubUnderTest(options: {
            $0.startPage = { Response(status: .ok, body: .init(byteBuffer: .init(string: "page"))) }
        })
        let page = try await hub.call(ClientRequest("GET", "/", [("Accept", Self.browser)]))
        #expect(page.status == 200 && page.body == "page")
        for request in [
            ClientRequest("GET", "/"), ClientRequest("GET", "/", [("Accept", "*/*")]),
            ClientRequest("GET", "/", [("Accept", Self.browser), ("Authorization", "SharedAccessSignature sr=x")]),
            ClientRequest("GET", "/demo", [("Accept", Self.browser)]), ClientRequest("DELETE", "/", [("Accept", Self.browser)]),
        ] {
            let answer = try await hub.call(request)
            #expect([401, 405].contains(answer.status) && answer.body != "page", "\(request.method) \(request.target)")
        }
    }

    @Test("without a page a browser is told that a signature is missing")
    func none() async throws {
        let hub = try await HubUnderTest()
        #expect(try await hub.call(ClientRequest("GET", "/", [("Accept", Self.browser)])).status == 401)
    }
}
