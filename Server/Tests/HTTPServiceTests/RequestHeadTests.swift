import Hummingbird
import NIOCore
import NIOPosix
import Testing

@testable import HTTPService

/// What a server says to bytes that a client writes on a socket.
@Suite("Heads that break the protocol")
struct RequestHeadTests {
    private func listening(_ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        let router = ServiceRouter(options: ServiceOptions())
        router.get("/small") { request, _ in "path \(request.uri.path) of \(request.head.authority ?? "")" }
        router.post("/count") { request, _ in
            var count = 0
            for try await buffer in request.body { count += buffer.readableBytes }
            return "\(count)"
        }
        try await ListeningServer.use(router, .guarded(allowance: ListeningServer.allowance()), body)
    }

    /// Everything that comes back until the server ends the connection.
    private func exchange(_ port: Int, _ text: String) async throws -> String {
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await connection.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: text))
            var answer = ""
            for try await bytes in inbound { answer += String(buffer: bytes) }
            return answer
        }
    }

    private func statuses(_ answer: String) -> [String] { answer.matches(of: #/HTTP/1\.1 (\d+)/#).map { String($0.1) } }

    @Test(
        "a head that is ambiguous gets one 400, and the connection ends",
        arguments: [
            "GET /small HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n",
            "GET /small HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n",
            "GET /small HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
            "POST /count HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
            "POST /count HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "POST /count HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "GET /small HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "GET /small HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            "GET /small HTTP/1.1\r\n\r\n", "GET /small HTTP/1.1\r\nHost: a, b\r\n\r\n",
            "GET /small HTTP/1.1\r\nHost: u@a\r\n\r\n",
            "GET /small HTTP/1.1\r\nHost: a/b\r\n\r\n", "GET http://b/small HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET ftp://a/small HTTP/1.1\r\nHost: a\r\n\r\n", "GET http:///small HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET http://u@a/small HTTP/1.1\r\nHost: a\r\n\r\n", "GET http://a:443/small HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET https://a:8443/small HTTP/1.1\r\nHost: a\r\n\r\n", "GET small HTTP/1.1\r\nHost: a\r\n\r\n",
        ])
    func ambiguous(_ text: String) async throws {
        try await listening { port in
            let answer = try await exchange(port, text + "GET /small HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(statuses(answer) == ["400"])
            #expect(answer.lowercased().contains("connection: close"))
        }
    }

    private static let brokenBodies = [
        "zz\r\n\r\n", "-1\r\na\r\n0\r\n\r\n", "ffffffffffffffffff\r\na\r\n0\r\n\r\n", "1\na\n0\n\n", "0\r\nbad trailer\r\n\r\n",
    ]

    private static func chunkedHead(_ request: String) -> String {
        "\(request) HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    }

    @Test(
        "a broken body that no handler reads leaves its request the one answer, and the connection ends", arguments: brokenBodies)
    func unreadBody(_ body: String) async throws {
        try await listening { port in
            for (request, status) in [("GET /small", "200"), ("POST /small", "405"), ("POST /nowhere", "404")] {
                let answer = try await exchange(port, Self.chunkedHead(request) + body)
                #expect(statuses(answer) == [status])
                #expect(answer.lowercased().contains("connection: close"))
            }
        }
    }

    @Test("a broken body that a handler reads gets one 400, and the connection ends", arguments: brokenBodies)
    func readBody(_ body: String) async throws {
        try await listening { port in
            let answer = try await exchange(port, Self.chunkedHead("POST /count") + body)
            #expect(statuses(answer) == ["400"])
            #expect(answer.lowercased().contains("connection: close"))
        }
    }

    @Test("requests before one with a broken body are answered first")
    func orderBeforeBody() async throws {
        try await listening { port in
            let answer = try await exchange(
                port, "GET /small HTTP/1.1\r\nHost: a\r\n\r\n" + Self.chunkedHead("POST /count") + "zz\r\n\r\n")
            #expect(statuses(answer) == ["200", "400"])
        }
    }

    @Test("requests before an ambiguous one are answered first")
    func order() async throws {
        try await listening { port in
            let answer = try await exchange(
                port, "GET /small HTTP/1.1\r\nHost: a\r\n\r\nGET /small HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
            #expect(statuses(answer) == ["200", "400"])
        }
    }

    @Test(
        "a target in absolute form is the path of the host that Host names",
        arguments: [
            ("http://a/small", "/small"), ("HTTP://A/small?x=1", "/small"), ("https://a/small", "/small"),
            ("https://a:443/small", "/small"), ("http://a:80/small", "/small"),
        ])
    func absolute(_ target: String, _ path: String) async throws {
        try await listening { port in
            let answer = try await exchange(port, "GET \(target) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(statuses(answer) == ["200"])
            #expect(answer.contains("path \(path) of a"))
        }
    }

    @Test("an older client may leave the host out")
    func older() async throws {
        try await listening { port in
            let answer = try await exchange(port, "GET /small HTTP/1.0\r\nConnection: close\r\n\r\n")
            #expect(statuses(answer) == ["200"])
        }
    }

    @Test("a chunked body is read, in any case of the word")
    func chunked() async throws {
        try await listening { port in
            let head = "POST /count HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: Chunked\r\n\r\n"
            let answer = try await exchange(port, head + "5\r\nhello\r\n0\r\n\r\n")
            #expect(statuses(answer) == ["200"])
            #expect(answer.hasSuffix("5"))
        }
    }
}
