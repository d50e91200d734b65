import NIOCore
import RichPushModel

/// Sits right above TLS and notes every frame that passes, in both directions.
final class FrameTap: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private let recorder: TrafficRecorder
    private let clock: any ServiceClock
    private let connection: Int
    private var inbound = FrameScanner(skipsPreface: true)
    private var outbound = FrameScanner(skipsPreface: false)
    private var headers: HPACKObserver
    private var statistics = TrafficStatistics()
    /// The count of the recorder that `statistics` belongs to.
    private var generation = 0
    /// The header block that CONTINUATION frames go on with.
    private var block = ByteBuffer()

    init(recorder: TrafficRecorder, clock: any ServiceClock, connection: Int, tableSize: Int) {
        self.recorder = recorder
        self.clock = clock
        self.connection = connection
        headers = HPACKObserver(tableSize: tableSize)
        generation = recorder.generation
    }

    /// Sets the counts to zero when the recorder has done so.
    private func followRecorder() {
        let present = recorder.generation
        guard present != generation else { return }
        generation = present
        statistics = TrafficStatistics()
        headers.clearStatistics()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        followRecorder()
        var found: [FrameRecord] = []
        inbound.feed(unwrapInboundIn(data)) { frame in
            let record = record(frame, .received)
            statistics.received[record.name, default: 0] += 1
            if frame.type == 0 { statistics.receivedData += frame.payload.readableBytes }
            observeHeaders(frame)
            found.append(record)
        }
        statistics.headers = headers.statistics
        if !found.isEmpty { recorder.record(found, connection: connection, statistics: statistics) }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .byteBuffer(let bytes) = unwrapOutboundIn(data) {
            followRecorder()
            var found: [FrameRecord] = []
            outbound.feed(bytes) { frame in
                let record = record(frame, .sent)
                statistics.sent[record.name, default: 0] += 1
                if frame.type == 3, frame.payload.getInteger(at: frame.payload.readerIndex, as: UInt32.self) == 7 {
                    statistics.refusedStreams += 1
                }
                found.append(record)
            }
            if !found.isEmpty { recorder.record(found, connection: connection, statistics: statistics) }
        }
        context.write(data, promise: promise)
    }

    private func record(_ frame: FrameScanner.Frame, _ direction: FrameRecord.Direction) -> FrameRecord {
        let isPrivate = frame.type == 0 || frame.type == 1 || frame.type == 5 || frame.type == 9
        return FrameRecord(
            connection: connection, direction: direction, at: clock.uptime, type: frame.type, flags: frame.flags,
            stream: frame.stream, length: frame.payload.readableBytes,
            payload: isPrivate ? [] : Array(frame.payload.readableBytesView.prefix(256)))
    }

    /// Puts a header block together, without padding and priority.
    private func observeHeaders(_ frame: FrameScanner.Frame) {
        guard frame.type == 1 || frame.type == 9 else { return }
        var payload = frame.payload
        if frame.type == 1 {
            let padding = frame.flags & 0x08 == 0 ? 0 : Int(payload.readInteger(as: UInt8.self) ?? 0)
            if frame.flags & 0x20 != 0 { _ = payload.readSlice(length: 5) }
            guard let content = payload.readSlice(length: max(0, payload.readableBytes - padding)) else { return }
            block = content
        } else if block.readableBytes < 1 << 16 {
            block.writeBuffer(&payload)
        }
        guard frame.flags & 0x04 != 0 else { return }
        headers.observe(block)
        block = ByteBuffer()
    }
}

/// Finds the frames in one direction of a connection, wherever the bytes are cut.
struct FrameScanner {
    /// A frame with its whole payload.
    struct Frame {
        var type: UInt8
        var flags: UInt8
        var stream: Int
        var payload: ByteBuffer
    }

    /// More than any frame of a peer that keeps to MAX_FRAME_SIZE; what follows a longer one is ignored.
    private static let longestFrame = 1 << 17

    private var buffer = ByteBuffer()
    /// Bytes of the client's preface that are still to come.
    private var preface: Int
    private var isLost = false

    init(skipsPreface: Bool) { preface = skipsPreface ? 24 : 0 }

    /// Takes in bytes and hands over every frame that is complete.
    mutating func feed(_ bytes: ByteBuffer, _ found: (Frame) -> Void) {
        guard !isLost else { return }
        buffer.writeImmutableBuffer(bytes)
        let skipped = min(preface, buffer.readableBytes)
        buffer.moveReaderIndex(forwardBy: skipped)
        preface -= skipped
        while preface == 0, let frame = next() { found(frame) }
        buffer.discardReadBytes()
    }

    private mutating func next() -> Frame? {
        let start = buffer.readerIndex
        guard let high = buffer.getInteger(at: start, as: UInt16.self),
            let low = buffer.getInteger(at: start + 2, as: UInt8.self),
            let type = buffer.getInteger(at: start + 3, as: UInt8.self),
            let flags = buffer.getInteger(at: start + 4, as: UInt8.self),
            let stream = buffer.getInteger(at: start + 5, as: UInt32.self)
        else { return nil }
        let length = Int(high) << 8 | Int(low)
        guard length <= Self.longestFrame else {
            isLost = true
            return nil
        }
        guard buffer.readableBytes >= 9 + length else { return nil }
        buffer.moveReaderIndex(forwardBy: 9)
        return buffer.readSlice(length: length).map {
            Frame(type: type, flags: flags, stream: Int(stream & 0x7FFF_FFFF), payload: $0)
        }
    }
}

/// One HTTP/2 frame as it was on the wire, above TLS.
public struct FrameRecord: Sendable, Hashable {
    public enum Direction: String, Sendable, Hashable, Codable {
        /// From the client under test.
        case received
        case sent
    }

    /// Counts the connections from 1.
    public var connection: Int
    public var direction: Direction
    /// Uptime of the emulator's clock.
    public var at: Duration
    /// The type as a number; 0 is DATA.
    public var type: UInt8
    public var flags: UInt8
    public var stream: Int
    /// How long the payload is.
    public var length: Int
    /// The payload of SETTINGS, PING, GOAWAY, RST_STREAM, WINDOW_UPDATE and PRIORITY, cut at 256 bytes. Headers and bodies are
    /// not kept here: they hold credentials and content.
    public var payload: [UInt8]

    /// The name of the type in RFC 9113; a number for an unknown one.
    public var name: String {
        let names = [
            "DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE",
            "CONTINUATION",
        ]
        return Int(type) < names.count ? names[Int(type)] : "\(type)"
    }
}
