import NIOCore
import NIOHTTP2

/// The SETTINGS of Apple's servers (Reference/APNs.md#1-4), and how they pass an HTTP/2 library that enforces limits harder.
///
/// When a client opens too many streams or sends too many headers, the library ends the whole connection, but Apple refuses only
/// the stream. So every SETTINGS frame with such a limit gets extra entries at its end, with values that no client reaches.
/// `ServerSettingsFilter` removes them before the frame is sent. The connection enforces the real limits itself.
enum ServerSettings {
    static let windowSize = 65_535
    /// MAX_HEADER_LIST_SIZE: names, values and 32 bytes a field.
    static let headerListSize = 8_000
    static let unreachableStreams = 0x7fff_ffff
    static let unreachableHeaderListSize = 1 << 20
    /// The entries that only the library sees, as identifier and value.
    static let hidden: [(identifier: UInt16, value: UInt32)] = [
        (3, UInt32(unreachableStreams)), (6, UInt32(unreachableHeaderListSize)),
    ]

    /// The first frame.
    static func initial(_ rules: EmulationRules) -> HTTP2Settings {
        [
            HTTP2Setting(parameter: .headerTableSize, value: rules.headerTableSize),
            HTTP2Setting(parameter: .maxConcurrentStreams, value: rules.firstConcurrentStreams),
            HTTP2Setting(parameter: .initialWindowSize, value: rules.initialWindowSize),
            HTTP2Setting(parameter: .maxFrameSize, value: 16_384),
            HTTP2Setting(parameter: .maxHeaderListSize, value: headerListSize),
            HTTP2Setting(parameter: .maxHeaderListSize, value: unreachableHeaderListSize),
            HTTP2Setting(parameter: .maxConcurrentStreams, value: unreachableStreams),
        ]
    }

    /// A later frame.
    static func update(_ change: SettingsChange) -> HTTP2Settings {
        var settings: HTTP2Settings = []
        if let size = change.initialWindowSize { settings.append(HTTP2Setting(parameter: .initialWindowSize, value: size)) }
        if let size = change.maximumFrameSize { settings.append(HTTP2Setting(parameter: .maxFrameSize, value: size)) }
        if let streams = change.streams {
            settings.append(HTTP2Setting(parameter: .maxConcurrentStreams, value: streams))
            settings.append(HTTP2Setting(parameter: .maxConcurrentStreams, value: unreachableStreams))
        }
        return settings
    }
}

/// Below the HTTP/2 handler: removes the entries of SETTINGS frames that are for the library only, and notes the library's GOAWAY.
/// It also sends GOAWAY frames that bypass the library.
final class ServerSettingsFilter: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// Whether a GOAWAY of the library left.
    private(set) var hasSentGoAway = false
    /// Bytes of the present frame that come with later writes.
    private var rest = 0
    /// Set while the filter is in a pipeline.
    private var context: ChannelHandlerContext?

    private static let headerSize = 9
    private static let entrySize = 6

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Sends GOAWAY past the library. After its own GOAWAY with no open stream, the library takes the connection for ended. It would
    /// answer valid frames of the client (an acknowledgement, or a request after the first of two GOAWAY frames) with PROTOCOL_ERROR.
    /// The connection decides which streams are still served.
    func sendGoAway(lastStream: Int, code: UInt32, debugData: String) {
        guard let context else { return }
        let data = debugData.utf8.prefix(16_000)
        let length = 8 + data.count
        var frame = context.channel.allocator.buffer(capacity: Self.headerSize + length)
        frame.writeInteger(UInt32(length) << 8 | 7)
        frame.writeInteger(UInt8(0))
        frame.writeInteger(UInt32(0))
        frame.writeInteger(UInt32(lastStream))
        frame.writeInteger(code)
        frame.writeBytes(data)
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(frame)), promise: nil)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .byteBuffer(var buffer) = unwrapOutboundIn(data) else {
            context.write(data, promise: promise)
            return
        }
        inspect(&buffer)
        context.write(wrapOutboundOut(.byteBuffer(buffer)), promise: promise)
    }

    /// Walks over the frames in a buffer. A frame begins in a buffer with its whole header; its payload may come later.
    private func inspect(_ buffer: inout ByteBuffer) {
        var position = buffer.readerIndex
        while position < buffer.writerIndex {
            if rest > 0 {
                let taken = min(rest, buffer.writerIndex - position)
                rest -= taken
                position += taken
                continue
            }
            guard let high = buffer.getInteger(at: position, as: UInt16.self),
                let low = buffer.getInteger(at: position + 2, as: UInt8.self),
                let type = buffer.getInteger(at: position + 3, as: UInt8.self)
            else { return }
            let length = Int(high) << 8 | Int(low)
            if type == 7 { hasSentGoAway = true }
            if type == 4, length > 0, dropHiddenEntries(&buffer, frameAt: position, length: length) { return }
            position += Self.headerSize
            rest = length
        }
    }

    /// Shortens a SETTINGS frame that fills the end of the buffer by the entries at its end that are to be hidden.
    private func dropHiddenEntries(_ buffer: inout ByteBuffer, frameAt position: Int, length: Int) -> Bool {
        let start = position + Self.headerSize
        guard start + length == buffer.writerIndex else { return false }
        var shortened = length
        while shortened >= Self.entrySize, isHidden(buffer, entryAt: start + shortened - Self.entrySize) {
            shortened -= Self.entrySize
        }
        guard shortened < length else { return false }
        buffer.setInteger(UInt16(shortened >> 8), at: position)
        buffer.setInteger(UInt8(truncatingIfNeeded: shortened), at: position + 2)
        buffer.moveWriterIndex(to: start + shortened)
        return true
    }

    private func isHidden(_ buffer: ByteBuffer, entryAt position: Int) -> Bool {
        let identifier = buffer.getInteger(at: position, as: UInt16.self)
        let value = buffer.getInteger(at: position + 2, as: UInt32.self)
        return ServerSettings.hidden.contains { $0.identifier == identifier && $0.value == value }
    }
}

/// MAX_CONCURRENT_STREAMS of one connection over time (Reference/APNs.md#1-4): what was announced, what the client has
/// acknowledged, and how many streams it may therefore have open.
struct StreamLimit: Sendable {
    var rules: EmulationRules {
        didSet { if rules.concurrentStreams != oldValue.concurrentStreams { commanded = nil } }
    }
    /// The value of the newest SETTINGS frame.
    private(set) var announced: Int
    /// Announced and not yet acknowledged, oldest first. The first SETTINGS frame is one of them.
    private var unacknowledged: [Int]
    /// How many of the newest of those have not left.
    private var unsent = 0
    /// How many streams ended by something that has not left: to the client they are open.
    private var unsentEnds = 0
    /// From the start the first limit holds: opening more before SETTINGS arrived is what Apple punishes.
    private var acknowledged: Int
    /// The limit that a fault or a command has set: it stays until another one does, or the rules change.
    private var commanded: Int?

    init(rules: EmulationRules) {
        self.rules = rules
        announced = rules.firstConcurrentStreams
        unacknowledged = [announced]
        acknowledged = announced
    }

    /// Whether one more stream may be opened beside `open` others. What the client could not know when it wrote does not help it: a
    /// higher limit, or the end of a stream, that is answered to what came in the same bytes.
    func allows(open: Int) -> Bool {
        let known = unacknowledged.dropLast(unsent)
        let open = open + unsentEnds
        guard rules.limitEnforcement == .whenAcknowledged else { return open < min(announced, known.last ?? acknowledged) }
        return open < known.reduce(acknowledged, max)
    }

    /// A stream ended; the next flush informs the client.
    mutating func ended() { unsentEnds += 1 }

    /// What was written has left.
    mutating func flushed() { (unsent, unsentEnds) = (0, 0) }

    /// An answer was given. Returns the limit to announce, if it changes.
    mutating func answered(status: Int) -> Int? {
        var wanted = announced
        if (200..<300).contains(status) {
            wanted = commanded ?? rules.concurrentStreams
        } else if (400..<500).contains(status), status != 410, rules.lowersLimitAfterRejection {
            wanted = rules.firstConcurrentStreams
        }
        return wanted == announced ? nil : wanted
    }

    /// The limit was set by a command; `announce` follows.
    mutating func command(_ limit: Int) { commanded = limit }

    /// A SETTINGS frame with this limit was sent.
    mutating func announce(_ limit: Int) {
        announced = limit
        unacknowledged.append(limit)
        unsent += 1
    }

    /// The client acknowledged the oldest SETTINGS frame.
    mutating func acknowledge() {
        guard !unacknowledged.isEmpty else { return }
        acknowledged = unacknowledged.removeFirst()
        unsent = min(unsent, unacknowledged.count)
    }
}
