import APNsProtocol
import ClarionTesting
import Foundation
import NIOCore
import Testing

@testable import APNsHTTP2

@Suite("Fuzzed servers")
struct FuzzTests {
    /// An honest server's side of a connection with 20 pushes, the first of which was answered before.
    private var trace: ByteBuffer {
        var bytes = ByteBuffer.streamLimit(100)
        bytes.writeImmutableBuffer(.credit(1000))
        bytes.writeImmutableBuffer(.frame(0x6, [1, 2, 3, 4, 5, 6, 7, 8]))
        for stream in stride(from: UInt32(3), through: 41, by: 2) {
            switch stream % 5 {
            case 0: bytes.writeImmutableBuffer(.refusal(stream, 410, "Unregistered", timestamp: 1_800_000_000_000))
            case 1: bytes.writeImmutableBuffer(.refusal(stream, 400, "BadDeviceToken"))
            case 2: bytes.writeImmutableBuffer(.reset(stream, .internalError))
            default:
                bytes.writeImmutableBuffer(
                    .success(stream, id: UUID(uuidString: "00112233-4455-6677-8899-aabbccddeeff")?.uuidString))
            }
        }
        bytes.writeImmutableBuffer(.goAway(last: 41, debug: #"{"reason":"Shutdown"}"#))
        return bytes
    }

    @Test("a trace that is split at any byte means the same")
    func split() throws {
        let whole = trace
        var expected: [APNsOutcome?]?
        for cut in 0..<whole.readableBytes {
            let rig = try PoolRig()
            let link = try rig.warmLink()
            let submission = rig.submit(20)
            var bytes = whole
            if let head = bytes.readSlice(length: cut), cut > 0 { try link.say(head) }
            try link.say(bytes)
            #expect(submission.isComplete)
            if let expected { #expect(submission.outcomeList == expected) } else { expected = submission.outcomeList }
        }
        #expect(expected?.filter { $0?.isAccepted == true }.count == 8)
    }

    @Test("a trace in single bytes means the same")
    func singleBytes() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(20)
        for byte in trace.readableBytesView { try link.say(ByteBuffer(bytes: [byte])) }
        #expect(submission.isComplete)
        #expect(rig.metrics.accepted == 9)
    }

    @Test("a trace that is cut off at any byte leaves no push without an outcome")
    func truncated() throws {
        for length in 0..<trace.readableBytes {
            let rig = try PoolRig()
            let link = try rig.warmLink()
            let submission = rig.submit(20)
            var bytes = trace
            if let head = bytes.readSlice(length: length), length > 0 { try link.say(head) }
            link.channel.pipeline.fireChannelInactive()
            rig.isReachable = false
            rig.advance(.seconds(31))
            #expect(submission.isComplete)
        }
    }

    @Test("flipped bits, lost bytes and doubled pieces never hang, grow or crash, and end every push once")
    func mutated() throws {
        var random = SeededGenerator()
        print("seed \(random.seed)")
        let honest = Array(trace.readableBytesView)
        for _ in 0..<1500 {
            var bytes = honest
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 1: bytes[place] = .random(in: 0 ... .max, using: &random)
                case 2: bytes.remove(at: place)
                default:
                    let end = min(bytes.count, place + Int.random(in: 1...60, using: &random))
                    bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0...bytes.count, using: &random))
                }
            }
            let hostile = try HostileRig()
            let link = try hostile.loaded()
            hostile.say(ByteBuffer(bytes: bytes), on: link)
            try hostile.expectBalance()
        }
    }

    @Test("random frames in random order end every push once")
    func randomFrames() throws {
        var random = SeededGenerator()
        print("seed \(random.seed)")
        for _ in 0..<1500 {
            let hostile = try HostileRig()
            let link = try hostile.loaded(
                Int.random(in: 1...40, using: &random), streamLimit: .random(in: 1...50, using: &random))
            for _ in 0..<Int.random(in: 1...60, using: &random) {
                hostile.say(frame(&random), on: link)
                if Int.random(in: 0..<20, using: &random) == 0 { hostile.submit(Int.random(in: 1...5, using: &random)) }
                if Int.random(in: 0..<20, using: &random) == 0 { hostile.rig.advance(.seconds(1)) }
            }
            try hostile.expectBalance()
        }
    }

    private func frame(_ random: inout SeededGenerator) -> ByteBuffer {
        let stream = UInt32.random(in: 0...24, using: &random) * 2 + (Int.random(in: 0..<20, using: &random) == 0 ? 0 : 1)
        switch Int.random(in: 0..<14, using: &random) {
        case 0, 1, 2: return .success(stream)
        case 3: return .refusal(stream, [400, 403, 410, 413, 429, 500, 503].randomElement(using: &random) ?? 400, "BadTopic")
        case 4: return .reset(stream, HTTP2ErrorCode(rawValue: .random(in: 0...14, using: &random)))
        case 5: return .streamLimit([0, 1, 2, 1000].randomElement(using: &random) ?? 1)
        case 6: return .settings((.random(in: 0...8, using: &random), .random(in: 0...70_000, using: &random)))
        case 7:
            return .credit(.random(in: 0...100_000, using: &random), stream: stream * UInt32.random(in: 0...1, using: &random))
        case 8 where Int.random(in: 0..<4, using: &random) == 0: return .goAway(last: stream, code: .init(rawValue: 0))
        case 9: return .frame(0x0, flags: .random(in: 0...1, using: &random), stream: stream, [1, 2, 3])
        case 10: return .frame(0x1, flags: .random(in: 0 ... .max, using: &random), stream: stream, [0x88])
        case 11: return .frame(0x9, flags: 0x4, stream: stream, [0x88])
        default:
            let payload = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
            return .frame(
                .random(in: 0...10, using: &random), flags: .random(in: 0 ... .max, using: &random),
                stream: Int.random(in: 0..<2, using: &random) == 0 ? 0 : stream, payload)
        }
    }

    @Test("header blocks of random bytes are decoded or refused, and a table never grows")
    func headerBlocks() {
        struct Counter: HPACKFieldSink {
            var bytes = 0
            mutating func field(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) { bytes += name.count + value.count }
        }
        var random = SeededGenerator()
        print("seed \(random.seed)")
        var decoder = HPACKDecoder()
        for _ in 0..<50_000 {
            let block = (0..<Int.random(in: 0...60, using: &random)).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
            var sink = Counter()
            let isFaulty = block.withUnsafeBytes { bytes in
                do throws(HPACKFault) {
                    try decoder.decode(bytes, into: &sink)
                    return false
                } catch {
                    return true
                }
            }
            #expect(sink.bytes < 100_000)
            if isFaulty { decoder = HPACKDecoder() }
        }
    }
}
