import Hummingbird
import NIOCore
import NIOHTTP2
import NIOPosix
import Testing

@testable import HTTPService

/// What comes back over HTTP/2.
private enum Event: Hashable {
    case answer(Int, String)
    case reset(Int, HTTP2ErrorCode)
    case goAway(HTTP2ErrorCode)
}

@Suite("Requests that HTTP/2 cannot carry")
struct MalformedRequestTests {
    private func listening(_ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        let router = ServiceRouter(options: ServiceOptions())
        router.get("/small") { _, _ in "small" }
        try await ListeningServer.use(router, .guardedHTTP2(allowance: ListeningServer.allowance()), body)
    }

    private static let request: [(name: String, value: String)] = [
        (":method", "GET"), (":scheme", "http"), (":authority", "127.0.0.1"), (":path", "/small"),
    ]

    /// Asks on one connection, first alone, then all the others and once more; what comes back, the settings left out.
    private func events(_ port: Int, _ requests: [[(name: String, value: String)]]) async throws -> Set<Event> {
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        NIOHTTP2Handler(
                            mode: .client, headerBlockValidation: .disabled, contentLengthValidation: .disabled))
                    return try NIOAsyncChannel<HTTP2Frame, HTTP2Frame>(wrappingChannelSynchronously: channel)
                }
            }
        return try await connection.executeThenClose { inbound, outbound in
            var events: Set<Event> = []
            // The answers come in any order; the last stream's may be the first.
            var open = Set((0...requests.count).map { $0 * 2 + 1 })
            let frames = (requests + [Self.request]).enumerated().map { Self.frame(of: $1, stream: $0 * 2 + 1) }
            try await outbound.write(frames[0])
            for try await frame in inbound {
                let stream = Int(frame.streamID)
                switch frame.payload {
                case .headers(let headers): events.insert(.answer(stream, headers.headers.first(name: ":status") ?? ""))
                case .rstStream(let code): events.insert(.reset(stream, code))
                case .goAway(_, let code, _): events.insert(.goAway(code))
                default: continue
                }
                open.remove(stream)
                // What comes after the first answer finds a client and a server that know each other's settings.
                if events.count == 1, stream == 1 { try await outbound.write(contentsOf: frames.dropFirst()) }
                if open.isEmpty || stream == 0 { break }
            }
            return events
        }
    }

    private static func frame(of request: [(name: String, value: String)], stream: Int) -> HTTP2Frame {
        var headers: HTTP2Frame.FramePayload.Headers = .init(headers: [:], endStream: true)
        for (name, value) in request { headers.headers.add(name: name, value: value) }
        return HTTP2Frame(streamID: HTTP2StreamID(stream), payload: .headers(headers))
    }

    @Test(
        "a malformed field resets its stream with PROTOCOL_ERROR, as RFC 9113, 8.2.1 wants it, and the next request is answered",
        arguments: [
            ("x-nul", "a\u{0}b"), ("x-line", "a\r\nb: c"), ("X-Upper", "a"), ("bad name", "a"), ("connection", "close"),
            ("te", "gzip"), (":odd", "a"), (":path", "/small"), ("content-length", "-1"), ("content-length", "7"),
        ])
    func malformed(_ name: String, _ value: String) async throws {
        try await listening { port in
            let events = try await events(port, [Self.request, Self.request + [(name, value)]])
            #expect(events == [.answer(1, "200"), .reset(3, .protocolError), .answer(5, "200")])
        }
    }

    @Test("a host that differs from the authority resets its stream alone", arguments: ["other", "127.0.0.1:1", "u@127.0.0.1"])
    func otherHost(_ host: String) async throws {
        try await listening { port in
            let events = try await events(
                port,
                [
                    Self.request, Self.request + [("host", host)], Self.request + [("host", "127.0.0.1")],
                    // The default port of the scheme names the same host (RFC 9110, 4.2.3).
                    Self.request + [("host", "127.0.0.1:80")],
                ])
            #expect(
                events == [
                    .answer(1, "200"), .reset(3, .protocolError), .answer(5, "200"), .answer(7, "200"), .answer(9, "200"),
                ])
        }
    }

    @Test("a request without a path or a method resets its stream alone", arguments: [":path", ":method", ":scheme"])
    func missing(_ name: String) async throws {
        try await listening { port in
            let events = try await events(port, [Self.request, Self.request.filter { $0.name != name }])
            #expect(events == [.answer(1, "200"), .reset(3, .protocolError), .answer(5, "200")])
        }
    }

    @Test("who sends nothing but malformed requests loses the connection")
    func flood() async throws {
        try await listening { port in
            let bad = Self.request + [("x-nul", "\u{0}")]
            let events = try await events(port, [Self.request] + Array(repeating: bad, count: 1_000))
            // Its GOAWAY may be lost with the connection, but nothing that comes after is answered.
            #expect(events.contains(.answer(1, "200")))
            #expect(!events.contains(.answer(1_002 * 2 - 1, "200")))
        }
    }

    /// A request whose fields have so many times 4,000 bytes together. The encoder sends them once and then points there.
    private static func long(_ count: Int) -> [(name: String, value: String)] {
        request + Array(repeating: ("x-long", String(repeating: "h", count: 3_994)), count: count)
    }

    @Test("header fields that are too long are answered with 431, and the connection goes on")
    func tooLong() async throws {
        try await listening { port in
            let events = try await events(port, [Self.request, Self.long(10), Self.long(17), Self.long(30)])
            #expect(
                events == [.answer(1, "200"), .answer(3, "200"), .answer(5, "431"), .answer(7, "431"), .answer(9, "200")])
        }
    }

    @Test("a header list beyond what the server announced ends the connection, as RFC 9113, 10.5.1 allows")
    func beyondAnnounced() async throws {
        try await listening { port in
            let events = try await events(port, [Self.request, Self.long(40)])
            #expect(events == [.answer(1, "200"), .goAway(.compressionError)])
        }
    }
}
