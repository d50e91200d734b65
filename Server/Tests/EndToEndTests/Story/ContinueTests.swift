import Foundation
import NIOCore
import NIOPosix
import Testing

/// A client that sends a large body only when it is welcome (RFC 9110, 10.1.1), on a real socket.
struct ContinueTests {
    /// What the server says to a head before any of its body has come, and then to the body if it asked for it.
    private func talk(to stage: Stage, head: String, body: [UInt8]) async throws -> (first: String, last: String) {
        let port = try #require(URL(string: stage.address)?.port)
        let client = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        // A server that never answers must not hold the test.
        let timeout = client.channel.eventLoop.scheduleTask(in: .seconds(30)) { client.channel.close(promise: nil) }
        defer { timeout.cancel() }
        return try await client.executeThenClose { inbound, outbound in
            var answers = inbound.makeAsyncIterator()
            func next() async throws -> String { try await answers.next().map { String(buffer: $0) } ?? "" }
            try await outbound.write(ByteBuffer(string: head.replacing("\n", with: "\r\n") + "\r\n\r\n"))
            let first = try await next()
            guard first.hasPrefix("HTTP/1.1 100 Continue\r\n\r\n") else { return (first, "") }
            try await outbound.write(ByteBuffer(bytes: body))
            return (first, try await next())
        }
    }

    private func head(_ length: Int, user: String?) -> String {
        let authorization = user.map { "\nAuthorization: Basic " + Data("\($0):\($0)".utf8).base64EncodedString() }
        return """
            POST /api/v1/content HTTP/1.1
            Host: 127.0.0.1
            Content-Type: image/gif
            Content-Length: \(length)
            Expect: 100-continue
            """ + (authorization ?? "")
    }

    @Test("gets 100 Continue when its body is accepted")
    func accepted() async throws {
        try await Stage.open { stage in
            let picture = [UInt8](Picture.random(side: 8))
            let answer = try await talk(to: stage, head: head(picture.count, user: "ann"), body: picture)
            #expect(answer.first == "HTTP/1.1 100 Continue\r\n\r\n")
            #expect(answer.last.hasPrefix("HTTP/1.1 201 Created\r\n"))
        }
    }

    @Test("gets the final answer at once when it is not signed in, or its body is too large, and the connection ends")
    func refused() async throws {
        try await Stage.open { stage in
            let unauthorized = try await talk(to: stage, head: head(100, user: nil), body: [])
            #expect(unauthorized.first.hasPrefix("HTTP/1.1 401 "))
            #expect(unauthorized.first.lowercased().contains("connection: close\r\n"))
            let large = try await talk(to: stage, head: head(900_000_000, user: "ann"), body: [])
            #expect(large.first.hasPrefix("HTTP/1.1 413 "))
            #expect(large.first.lowercased().contains("connection: close\r\n"))
        }
    }
}
