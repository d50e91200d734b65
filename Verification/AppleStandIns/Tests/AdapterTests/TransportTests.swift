import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice
@testable import RichPushPlatform

extension AppleFace {
    /// With the `URLSession` of Linux; Apple's is another implementation of the same interface.
    @Suite("The network through URLSession")
    struct Transport {
        private func get(_ server: LoopbackServer, _ path: String = "/x") -> TransportRequest {
            TransportRequest(method: "GET", url: server.url(path), headers: ["authorization": "Bearer abc"])
        }

        private func newFile() -> URL { FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString) }

        @Test("sends method, headers and body, and reads status, headers and body")
        func exchange() async throws {
            let server = try LoopbackServer { _ in
                LoopbackServer.response("201 Created", headers: ["ETag: \"x\""], body: Data("hello".utf8))
            }
            let request = TransportRequest(
                method: "PUT", url: server.url("/a?b=c"), headers: ["x-own": "1"], body: Data("body".utf8))
            let response = try await URLSessionTransport().send(request, maximumBytes: 100, deadline: .seconds(5))
            #expect(response.status == 201 && response.body == Data("hello".utf8) && response.headers["etag"] == "\"x\"")
            let head = try #require(server.requests.first)
            #expect(head.hasPrefix("PUT /a?b=c HTTP/1.1") && head.lowercased().contains("x-own: 1"))
        }

        @Test("follows no redirect: the engine decides who sees the authorization header")
        func redirect() async throws {
            let other = try LoopbackServer { _ in LoopbackServer.response("200 OK") }
            let location = "Location: \(other.url("/elsewhere"))"
            let server = try LoopbackServer { _ in LoopbackServer.response("302 Found", headers: [location]) }
            let response = try await URLSessionTransport().send(get(server), maximumBytes: 100, deadline: .seconds(5))
            #expect(response.status == 302 && response.headers["location"] == "\(other.url("/elsewhere"))")
            let file = newFile()
            let download = try await URLSessionTransport()
                .download(get(server), to: file, maximumBytes: 100, deadline: .seconds(5))
            #expect(download.status == 302 && !FileManager.default.fileExists(atPath: file.path))
            #expect(other.requests.isEmpty)
        }

        @Test("downloads to a file, and reads a refusal instead of writing it")
        func download() async throws {
            let bytes = Samples.png(3, count: 300_000)
            let server = try LoopbackServer { head in
                head.contains("/missing")
                    ? LoopbackServer.response("404 Not Found", body: Data("no".utf8))
                    : LoopbackServer.response("200 OK", body: bytes)
            }
            let file = newFile()
            let response = try await URLSessionTransport()
                .download(get(server), to: file, maximumBytes: 1 << 20, deadline: .seconds(5))
            #expect(response.status == 200 && response.body.isEmpty)
            #expect(try Data(contentsOf: file) == bytes)
            let other = newFile()
            let refused = try await URLSessionTransport()
                .download(get(server, "/missing"), to: other, maximumBytes: 1 << 20, deadline: .seconds(5))
            #expect(refused.status == 404 && refused.body == Data("no".utf8))
            #expect(!FileManager.default.fileExists(atPath: other.path))
        }

        @Test("reads a refusal that is longer than the content, and of one without end at least the status")
        func longRefusal() async throws {
            let problem = Data(#"{"code":"notification-recalled"}"#.utf8) + Data(count: 300)
            let server = try LoopbackServer { head in
                head.contains("/page")
                    ? LoopbackServer.response("503 Service Unavailable", body: Data(count: 400_000))
                    : LoopbackServer.response("404 Not Found", body: problem)
            }
            for (path, status, body) in [("/x", 404, problem), ("/page", 503, Data())] {
                let answer = try await URLSessionTransport()
                    .download(get(server, path), to: newFile(), maximumBytes: 30, deadline: .seconds(30))
                #expect(answer.status == status && answer.body == body)
            }
        }

        @Test("keeps a request from networks that it may not use")
        func networks() async throws {
            let server = try LoopbackServer { _ in LoopbackServer.response("200 OK") }
            for network in [AllowedNetwork.any, .unconstrained, .inexpensive] {
                var request = get(server)
                request.network = network
                _ = try await URLSessionTransport().send(request, maximumBytes: 100, deadline: .seconds(30))
            }
            let spared = server.requests.map { head in
                ["constrained", "expensive"].filter { head.lowercased().contains("x-spares-\($0)") }
            }
            #expect(spared == [[], ["constrained"], ["constrained", "expensive"]])
        }

        @Test("ends what is longer than the caller takes")
        func tooLarge() async throws {
            let server = try LoopbackServer { _ in LoopbackServer.response("200 OK", body: Data(count: 200_000)) }
            await #expect(throws: TransportError.tooLarge) {
                _ = try await URLSessionTransport().send(get(server), maximumBytes: 1_000, deadline: .seconds(5))
            }
            await #expect(throws: TransportError.tooLarge) {
                _ = try await URLSessionTransport()
                    .download(get(server), to: newFile(), maximumBytes: 1_000, deadline: .seconds(5))
            }
        }

        @Test("says that a server cannot be reached")
        func unreachable() async throws {
            let url = try #require(URL(string: "http://127.0.0.1:1/"))
            await #expect(throws: TransportError.unreachable) {
                let request = TransportRequest(method: "GET", url: url)
                _ = try await URLSessionTransport().send(request, maximumBytes: 100, deadline: .seconds(5))
            }
        }

        @Test("speaks plain http to this machine only")
        func insecure() async throws {
            let url = try #require(URL(string: "http://example.org/"))
            await #expect(throws: TransportError.unreachable) {
                let request = TransportRequest(method: "GET", url: url, headers: ["authorization": "Bearer abc"])
                _ = try await URLSessionTransport().send(request, maximumBytes: 100, deadline: .seconds(5))
            }
        }

        @Test("ends when its caller is cancelled")
        func cancelled() async throws {
            let server = try LoopbackServer { _ in
                Thread.sleep(forTimeInterval: 2)
                return Data()
            }
            let request = get(server)
            let task = Task { try? await URLSessionTransport().send(request, maximumBytes: 100, deadline: .seconds(30)) }
            while server.requests.isEmpty { await Task.yield() }
            task.cancel()
            #expect(await task.value == nil)
        }

        @Test("keeps no cookie")
        func cookies() async throws {
            let server = try LoopbackServer { _ in
                LoopbackServer.response("200 OK", headers: ["Set-Cookie: a=b; Path=/"])
            }
            let transport = URLSessionTransport()
            for _ in 0..<2 { _ = try await transport.send(get(server), maximumBytes: 100, deadline: .seconds(5)) }
            #expect(server.requests.count == 2 && server.requests.allSatisfy { !$0.lowercased().contains("cookie:") })
        }
    }
}
