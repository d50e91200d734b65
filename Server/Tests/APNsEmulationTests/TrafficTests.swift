import APNsProtocol
import ClarionTesting
import NIOCore
import NIOHPACK
import NIOHTTP2
import Testing

@testable import APNsEmulation

@Suite("The record of frames")
struct TrafficTests {
    private static func frame(_ type: UInt8, stream: UInt8, _ payload: [UInt8], flags: UInt8 = 0) -> [UInt8] {
        [0, UInt8(payload.count >> 8), UInt8(payload.count & 255), type, flags, 0, 0, 0, stream] + payload
    }

    @Test("frames are found wherever the bytes are cut")
    func cuts() {
        var random = SeededGenerator()
        let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        let bytes =
            preface + Self.frame(4, stream: 0, []) + Self.frame(1, stream: 1, Array(repeating: 7, count: 300))
            + Self.frame(0, stream: 1, [1, 2, 3], flags: 1) + Self.frame(200, stream: 9, [0])
        for _ in 0..<200 {
            var scanner = FrameScanner(skipsPreface: true)
            var found: [String] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...40, using: &random))
                rest = rest.dropFirst(piece.count)
                scanner.feed(ByteBuffer(bytes: piece)) { found.append("\($0.type) \($0.stream) \($0.payload.readableBytes)") }
            }
            #expect(found == ["4 0 0", "1 1 300", "0 1 3", "200 9 1"], "seed \(random.seed)")
        }
    }

    @Test("each representation of RFC 7541 is recognised, and the churn of the table is counted")
    func representations() {
        var observer = HPACKObserver(tableSize: 100)
        // :method POST; a: 1 inserted; b: 2 not indexed; c: 3 never indexed.
        observer.observe(ByteBuffer(bytes: [0x83, 0x40, 1, 97, 1, 49, 0x00, 1, 98, 1, 50, 0x10, 1, 99, 1, 51]))
        #expect(observer.statistics.indexed == 1)
        #expect(observer.statistics.inserted == 1)
        #expect(observer.statistics.notIndexed == 1)
        #expect(observer.statistics.neverIndexed == 1)
        #expect(observer.statistics.largestTable == 34)
        #expect(observer.statistics.evicted == 0)
        // Three more entries of 34 bytes in a table of 100: the first two go.
        observer.observe(ByteBuffer(bytes: [0x40, 1, 97, 1, 50, 0x40, 1, 97, 1, 51, 0x40, 1, 97, 1, 52]))
        #expect(observer.statistics.evicted == 2)
        #expect(observer.statistics.insertedNames == ["a": 4])
        // The client lowers the table to nothing: the last two go.
        observer.observe(ByteBuffer(bytes: [0x20, 0x83]))
        #expect(observer.statistics.sizeUpdates == 1)
        #expect(observer.statistics.evicted == 4)
        #expect(observer.statistics.blocks == 3)
        #expect(observer.statistics.bytes == 33)
        // What cannot be read ends the observation and nothing else.
        observer.observe(ByteBuffer(bytes: [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]))
        observer.observe(ByteBuffer(bytes: [0x83]))
        #expect(observer.statistics.blocks == 3)
    }

    @Test("every frame of a push is recorded in order, without credential and content")
    func recorded() async throws {
        try await RunningEmulator.run { emulator in
            let client = try await emulator.connect()
            #expect(try await client.send(emulator.push()).status == "200")
            try await client.close()
            let frames = emulator.apns.recordedFrames
            let received = frames.filter { $0.direction == .received && $0.stream == 1 }
            #expect(received.map(\.name) == ["HEADERS", "DATA"])
            #expect(received.allSatisfy { $0.payload.isEmpty })
            let sent = try #require(frames.first { $0.direction == .sent })
            #expect(sent.name == "SETTINGS")
            #expect(sent.length == 30)
            #expect(emulator.apns.traffic.headers.blocks == 1)
            #expect(emulator.apns.trafficByConnection.keys.sorted() == [1])
        }
    }

    @Test("the record is bounded, and off where nothing is kept")
    func bounded() {
        let recorder = TrafficRecorder(frames: 2)
        for number in 1...5 {
            let frame = FrameRecord(
                connection: 1, direction: .sent, at: .zero, type: 6, flags: 0, stream: number, length: 8, payload: [])
            recorder.record([frame], connection: 1, statistics: TrafficStatistics())
        }
        #expect(recorder.frames.map(\.stream) == [4, 5])
        #expect(!TrafficRecorder(frames: 0).isOn)
    }

    @Test("a correct client gets no complaint, a careless one a complaint for each violation")
    func complaints() async throws {
        try await RunningEmulator.run { emulator in
            let client = try await emulator.connect()
            var request = emulator.push()
            request.headers.append(("apns-id", "ec5a59d7-2e32-f33d-0000-00000000000a"))
            #expect(try await client.send(request).status == "200")
            let indexedOnce = emulator.apns.complaints.map(\.kind)
            // NIO's encoder puts whatever it may into the table, paths too.
            #expect(indexedOnce == [.indexedPaths])
            #expect(try await client.send(request).status == "200")
            #expect(emulator.apns.complaints.contains { $0.kind == .repeatedAcceptedPushes && $0.count == 1 })
            try await client.close()
        }
    }

    @Test("streams beyond the limit are complained of")
    func beyondLimit() async throws {
        try await RunningEmulator.run { emulator in
            emulator.apns.inject(.delay(.seconds(1)))
            let client = try await emulator.connect(early: [emulator.push(), emulator.push()])
            _ = try await client.earlyAnswers()
            #expect(emulator.apns.complaints.contains { $0.kind == .exceededStreamLimit && $0.count == 1 })
            try await client.close()
        }
    }
}
