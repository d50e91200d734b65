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

    /// Begins anew when the recorder has.
    private func keepUp() {
        let present = recorder.generation
        guard present != generation else { return }
        generation = present
        statistics = TrafficStatistics()
        headers.clearStatistics()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        keepUp()
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
            keepUp()
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
