import APNsProtocol
import ClarionTesting
import NIOCore
import Testing

@testable import APNsHTTP2

@Suite("A hostile server")
struct HostileServerTests {
    /// Frames that cost an answer or carry nothing.
    enum Flood: String, CaseIterable, CustomTestStringConvertible {
        case ping, settings, settingsAcknowledgement, emptyData, unknownFrames, priority
        case resets, windowUpdates, streamWindowUpdates, interimAnswers

        var testDescription: String { rawValue }

        var frame: ByteBuffer {
            switch self {
            case .ping: .frame(0x6, [1, 2, 3, 4, 5, 6, 7, 8])
            case .settings: .streamLimit(1000)
            case .settingsAcknowledgement: .frame(0x4, flags: 0x1)
            case .emptyData: .frame(0x0, stream: 3)
            case .unknownFrames: .frame(0xBE, [1, 2, 3])
            case .priority: .frame(0x2, stream: 3, [0, 0, 0, 0, 16])
            // Of a stream that is long closed.
            case .resets: .reset(1, .streamClosed)
            case .windowUpdates: .credit(1)
            case .streamWindowUpdates: .credit(1, stream: 3)
            case .interimAnswers: .frame(0x1, flags: 0x4, stream: 3, [0x08, 0x03] + Array("103".utf8))
            }
        }

        /// Whether the client hangs up in the end. The others cost it nothing: no answer, no memory.
        var isAnswered: Bool { ![.resets, .windowUpdates, .streamWindowUpdates, .interimAnswers].contains(self) }
    }

    @Test("a flood ends the connection or costs nothing, and no push", arguments: Flood.allCases)
    func flood(_ flood: Flood) throws {
        let hostile = try HostileRig()
        let link = try hostile.loaded()
        var many = ByteBuffer()
        for _ in 0..<100 { many.writeImmutableBuffer(flood.frame) }
        for _ in 0..<200 { hostile.say(many, on: link) }
        #expect(link.channel.isActive == !flood.isAnswered)
        #expect(hostile.written < 400_000)
        try hostile.expectBalance()
    }

    @Test("windows of zero hold every push back, until its deadline and no longer")
    func zeroWindow() throws {
        let hostile = try HostileRig()
        let link = try hostile.loaded(1)
        hostile.say(.settings((HTTP2Settings.Identifier.initialWindowSize, 0)), on: link)
        hostile.submit(50)
        hostile.rig.advance(.seconds(5))
        hostile.say(.success(3), on: link)
        try hostile.expectBalance()
        #expect(hostile.rig.metrics.accepted == 3)
    }

    @Test("a window that shrinks below nothing is waited out")
    func negativeWindow() throws {
        let hostile = try HostileRig()
        let link = try hostile.loaded(10)
        for size in [0, 1, 0, 65_535, 0, 3] {
            hostile.say(.settings((HTTP2Settings.Identifier.initialWindowSize, UInt32(size))), on: link)
        }
        hostile.submit(5, size: 3000)
        try hostile.expectBalance()
    }

    @Test("a window above the maximum ends the connection or the stream", arguments: [UInt32(0), 3])
    func windowOverflow(stream: UInt32) throws {
        let hostile = try HostileRig()
        let link = try hostile.loaded()
        hostile.say(.credit(0x7FFF_FFFF, stream: stream), on: link)
        #expect(link.channel.isActive == (stream != 0))
        try hostile.expectBalance()
    }

    @Test("settings that overflow the windows of open streams end the connection")
    func settingsOverflow() throws {
        let hostile = try HostileRig()
        let link = try hostile.loaded()
        hostile.say(.credit(0x7000_0000, stream: 3), on: link)
        hostile.say(.settings((HTTP2Settings.Identifier.initialWindowSize, 0x7FFF_FFFF)), on: link)
        #expect(!link.channel.isActive)
        try hostile.expectBalance()
    }

    @Test("a header block without end is cut off", arguments: [1, 16_000])
    func endlessContinuation(size: Int) throws {
        let hostile = try HostileRig()
        let link = try hostile.loaded()
        hostile.say(.frame(0x1, stream: 3, [0x88]), on: link)
        for _ in 0..<100 { hostile.say(.frame(0x9, stream: 3, [UInt8](repeating: 0, count: size)), on: link) }
        #expect(!link.channel.isActive)
        try hostile.expectBalance()
    }

    @Test("a small block that unpacks to a huge list is refused, and nothing of it is kept")
    func headerBomb() throws {
        let hostile = try HostileRig()
        let link = try hostile.loaded()
        // One entry of 4000 bytes goes to the table, and is then named ten thousand times.
        var block: [UInt8] = [0x40, 0x01, UInt8(ascii: "x"), 0x7F, 0xA1, 0x1E] + [UInt8](repeating: 0x61, count: 4000)
        block += [UInt8](repeating: 0xBE, count: 10_000)
        hostile.say(.frame(0x1, flags: 0x5, stream: 3, block), on: link)
        #expect(!link.channel.isActive)
        try hostile.expectBalance()
    }

    @Test("a table larger than allowed is a mistake of the server")
    func tableBomb() throws {
        let hostile = try HostileRig()
        let link = try hostile.loaded()
        hostile.say(.frame(0x1, flags: 0x5, stream: 3, [0x3F, 0xE1, 0xFF, 0xFF, 0x7F, 0x88]), on: link)
        #expect(!link.channel.isActive)
        try hostile.expectBalance()
    }

    @Test("GOAWAY upon GOAWAY, rising, falling and repeated, ends each push once")
    func goAwayStorm() throws {
        let hostile = try HostileRig()
        let link = try hostile.loaded(100)
        for last in [UInt32(0x7FFF_FFFF), 101, 101, 0x7FFF_FFFF, 51, 7, 201, 0, 0] {
            for _ in 0..<50 { hostile.say(.goAway(last: last, debug: #"{"reason":"Shutdown"}"#), on: link) }
        }
        #expect(hostile.rig.metrics.goAways == 1)
        try hostile.expectBalance()
    }

    @Test("a service that answers every connection with GOAWAY is not asked in a loop")
    func goAwayForEver() throws {
        let hostile = try HostileRig()
        hostile.submit(10)
        for _ in 0..<3000 {
            for link in hostile.rig.links where link.channel.isActive && !link.hasSpoken {
                link.hasSpoken = true
                hostile.say(.streamLimit(1), on: link)
                hostile.say(.goAway(last: 0), on: link)
            }
            hostile.rig.advance(.milliseconds(10))
        }
        // 1 + 1 + 2 + 4 + 8 + 16 seconds of back-off fit into the deadline of 30.
        #expect((2...7).contains(hostile.rig.links.count))
        #expect(hostile.submissions[0].isComplete)
    }

    @Test("an error body without end is not collected")
    func endlessBody() throws {
        let hostile = try HostileRig()
        let link = try hostile.loaded()
        hostile.say(.frame(0x1, flags: 0x4, stream: 3, ByteBuffer.headerBlock(status: 400)), on: link)
        for _ in 0..<3000 { hostile.say(.frame(0x0, stream: 3, [UInt8](repeating: 0x20, count: 16_000)), on: link) }
        let kept = hostile.rig.pool.handlers.reduce(0) { sum, entry in
            var bytes = 0
            entry.handler.connection.streams.forEach { bytes += $0.body.count }
            return sum + bytes
        }
        #expect(kept <= APNsAnswerJSON.maximumBody)
        try hostile.expectBalance()
    }

    @Test("answers to streams that were never opened, push promises and huge frames end the connection")
    func impossibleFrames() throws {
        let frames: [ByteBuffer] = [
            .success(999), .success(2), .reset(999, .cancel), .frame(0x5, flags: 0x4, stream: 3, [0, 0, 0, 2, 0x88]),
            .frame(0x0, flags: 0x1, [1]), .frame(0x4, [1, 2, 3]), .frame(0x6, [1]), .frame(0x8, [1]), .frame(0x9, stream: 3, [1]),
            .frame(0x4, flags: 0x1, [1]), .settings((HTTP2Settings.Identifier.enablePush, 1)),
            ByteBuffer(bytes: [0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 3]), .credit(0), .frame(0x0, flags: 0x8, stream: 3, [9, 1]),
        ]
        for frame in frames {
            let hostile = try HostileRig()
            let link = try hostile.loaded()
            hostile.say(frame, on: link)
            #expect(!link.channel.isActive)
            try hostile.expectBalance()
        }
    }
}
