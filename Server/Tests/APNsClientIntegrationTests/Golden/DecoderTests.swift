import Testing

/// A judge that never condemns is none: made-up traffic with one mistake each, and the violation that must be found.
@Suite("The judge of recorded traffic", .timeLimit(.minutes(10)))
struct DecoderTests {
    /// Traffic of one connection, frame by frame.
    private struct Script {
        var tape = TunnelTape()

        private static func frame(_ kind: UInt8, _ flags: UInt8, _ stream: Int, _ payload: [UInt8]) -> [UInt8] {
            number(payload.count, 3) + [kind, flags] + number(stream, 4) + payload
        }

        private static func number(_ value: Int, _ size: Int) -> [UInt8] {
            (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }

        /// Both sides have said hello, and the client has acknowledged.
        init(limit: Int = 1000) {
            tape.note(.server, Self.frame(4, 0, 0, Self.number(3, 2) + Self.number(limit, 4)))
            tape.note(.client, Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + Self.frame(4, 0, 0, []))
            tape.note(.client, Self.frame(4, 1, 0, []))
            tape.note(.server, Self.frame(4, 1, 0, []))
        }

        /// `:method POST`, `:scheme https`, `:path /`, `:authority a`.
        mutating func request(_ stream: Int, body: Int = 2) {
            let block: [UInt8] = [0x83, 0x87, 0x84, 0x01, 0x01, 0x61]
            let bytes = Self.frame(1, 4, stream, block) + Self.frame(0, 1, stream, Array(repeating: 0x7B, count: body))
            tape.note(.client, bytes)
        }

        /// `:status 200`.
        mutating func answer(_ stream: Int) { tape.note(.server, Self.frame(1, 5, stream, [0x88])) }

        mutating func limit(_ limit: Int, isAcknowledged: Bool = true) {
            tape.note(.server, Self.frame(4, 0, 0, Self.number(3, 2) + Self.number(limit, 4)))
            if isAcknowledged { tape.note(.client, Self.frame(4, 1, 0, [])) }
        }

        mutating func reset(_ stream: Int, _ code: Int) { tape.note(.server, Self.frame(3, 0, stream, Self.number(code, 4))) }

        mutating func goAway(_ last: Int) { tape.note(.server, Self.frame(7, 0, 0, Self.number(last, 4) + Self.number(0, 4))) }

        mutating func pong() { tape.note(.server, Self.frame(6, 1, 0, Array(repeating: 7, count: 8))) }

        mutating func data(_ stream: Int) { tape.note(.server, Self.frame(0, 1, stream, [0x7B])) }

        func violations() async throws -> [String] { try await RecordedTraffic.decode(tape).violations }
    }

    @Test("honest traffic is found to be so")
    func honest() async throws {
        var script = Script(limit: 2)
        script.request(1)
        script.request(3)
        script.answer(1)
        script.request(5)
        // Not acknowledged yet, so the client may not have seen it.
        script.limit(1, isAcknowledged: false)
        script.answer(3)
        script.request(7)
        script.reset(7, 7)
        script.reset(7, 5)
        script.answer(5)
        script.request(9)
        script.goAway(0x7fff_ffff)
        script.goAway(9)
        script.answer(9)
        let traffic = try await RecordedTraffic.decode(script.tape)
        #expect(traffic.violations.isEmpty)
        #expect(traffic.connections[0].mostOpen == 2 && traffic.connections[0].goAways.map(\.last) == [0x7fff_ffff, 9])
    }

    @Test("a client that opens more streams than it may is found out")
    func limit() async throws {
        var script = Script(limit: 1)
        script.request(1)
        script.request(3)
        #expect(try await script.violations() == ["stream 3 makes 2 open ones, 1 are allowed"])
    }

    @Test("a client that acknowledges a lower limit and does not keep it is found out")
    func loweredLimit() async throws {
        var script = Script(limit: 3)
        for stream in [1, 3] { script.request(stream) }
        script.limit(2)
        script.request(5)
        #expect(try await script.violations() == ["stream 5 makes 3 open ones, 2 are allowed"])
    }

    @Test("streams that were reset or answered are not counted against the client, and no others")
    func closedStreams() async throws {
        var script = Script(limit: 1)
        for stream in stride(from: 1, through: 21, by: 2) {
            script.request(stream)
            if stream.isMultiple(of: 3) { script.reset(stream, 2) } else { script.answer(stream) }
        }
        #expect(try await script.violations().isEmpty)
        script.request(23)
        script.request(25)
        #expect(try await script.violations().count == 1)
    }

    @Test("a client that sends beyond the window is found out")
    func window() async throws {
        var script = Script()
        for stream in stride(from: 1, through: 9, by: 2) { script.request(stream, body: 16_000) }
        #expect(try await script.violations().contains("stream 9 sent beyond its window"))
    }

    @Test("an answer without a request and an invalid GOAWAY of a server are violations")
    func server() async throws {
        var unasked = Script()
        unasked.request(1)
        unasked.answer(3)
        #expect(try await unasked.violations().contains("an answer to stream 3, which is not open"))

        var twice = Script()
        twice.request(1)
        twice.answer(1)
        twice.data(1)
        #expect(try await twice.violations().contains { $0.hasPrefix("h2 on the server") })

        var raised = Script()
        raised.request(1)
        raised.goAway(1)
        raised.goAway(3)
        #expect(try await raised.violations() == ["GOAWAY raises its last stream from 1 to 3"])

        var beyond = Script()
        beyond.request(1)
        beyond.request(3)
        beyond.goAway(1)
        beyond.answer(3)
        #expect(try await beyond.violations() == ["an answer to stream 3 above the last of GOAWAY, 1"])

        var never = Script()
        never.reset(1, 7)
        #expect(try await never.violations().contains("a reset of stream 1, which was never open"))

        var pong = Script()
        pong.pong()
        #expect(try await pong.violations() == ["an answer to a PING that was not asked"])
    }
}
