import APNsProtocol
import Foundation
import Logging
import NIOCore
import NIOEmbedded

@testable import APNsHTTP2

/// What the APNs client reads.
extension FuzzedReader {
    static let apns = [
        FuzzedReader("apns-frames", readFrames), FuzzedReader("apns-hpack", readHeaderBlocks),
        FuzzedReader("apns-proxy", readProxyAnswer),
    ]

    /// A connection with open pushes: every push ends at most once, none is lost, and what the client says back is bounded.
    @Sendable private static func readFrames(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let pushes = input.choice(below: 8)
        let now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        let authorization = APNsAuthorization(value: "bearer a.b.c", generation: 1)
        var connection = HTTP2Connection<Int>(
            authority: "api.push.apple.com", limits: HTTP2ConnectionLimits(warmsUp: false), now: now)
        connection.start(at: now)
        connection.noteRead(at: now)
        var buffer = ByteBuffer(bytes: input.bytes)
        var open: Set<Int> = []
        var next = 0
        do {
            while true {
                while open.count < pushes, connection.canOpen(bodySize: 20) {
                    guard connection.open(next, push, authorization: authorization) != nil else { break }
                    open.insert(next)
                    next += 1
                }
                takeSuccesses(&buffer, &connection, &open)
                guard let frame = try HTTP2FrameReader.next(&buffer) else { break }
                end(try connection.receive(frame, at: now), &open)
            }
        } catch {
            // The server broke the protocol; the connection ends.
        }
        precondition(connection.takeOutput().readableBytes <= 4_096 + 512 * next + 32 * bytes.count, "the output grows")
        let left = connection.takeAll().map(\.ticket)
        precondition(Set(left) == open && left.count == open.count, "a push was lost or ended twice")
    }

    private static let push = APNsPush(
        deviceToken: String(repeating: "00112233", count: 8),
        headers: APNsPush.Headers(topic: "com.example.app", pushType: .alert, priority: 10, expiration: 0),
        payload: [UInt8](repeating: 0x20, count: 20), apnsID: nil)

    private static func takeSuccesses(
        _ buffer: inout ByteBuffer, _ connection: inout HTTP2Connection<Int>, _ open: inout Set<Int>
    ) {
        var successes: [HTTP2Success<Int>] = []
        let taken = buffer.withUnsafeReadableBytes { connection.receiveSuccesses($0, into: &successes) }
        buffer.moveReaderIndex(forwardBy: taken)
        for success in successes { precondition(open.remove(success.ticket) != nil, "a push ended twice") }
    }

    private static func end(_ event: HTTP2Event<Int>, _ open: inout Set<Int>) {
        switch event {
        case .finished(let ticket, _, _): precondition(open.remove(ticket) != nil, "a push ended twice")
        case .goAway(_, let refused): for ticket in refused { precondition(open.remove(ticket) != nil, "a push ended twice") }
        case .none, .ready: break
        }
    }

    private struct FieldCounter: HPACKFieldSink {
        var head = APNsAnswerHead()
        var bytes = 0

        mutating func field(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
            head.field(name: name, value: value)
            bytes += name.count + value.count
        }
    }

    /// Blocks of one connection, each with its length in a byte: lists keep to the limit, the table too, and the fast way for
    /// successes agrees with the general one.
    @Sendable private static func readHeaderBlocks(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        var (general, fast) = (HPACKDecoder(), HPACKDecoder())
        while !input.bytes.isEmpty {
            let length = Int(input.byte())
            let block = Array(input.bytes.prefix(length))
            for _ in block { _ = input.byte() }
            var counter = FieldCounter()
            let isRead = block.withUnsafeBytes { bytes in (try? general.decode(bytes, into: &counter)) != nil }
            precondition(counter.bytes <= 3 * 32_768, "a list is longer than its limit")
            precondition(general.table.size <= 4_096, "the table is larger than its limit")
            var again = FieldCounter()
            let success = block.withUnsafeBytes { fast.success($0) }
            if let success {
                precondition(isRead && counter.head.status == 200, "the fast way takes what is refused")
                precondition(counter.head.apnsID == success.apnsID && counter.head.uniqueID == success.uniqueID, "the ids differ")
            } else {
                _ = block.withUnsafeBytes { bytes in try? fast.decode(bytes, into: &again) }
            }
            precondition(entries(general) == entries(fast), "the tables differ")
            guard isRead else { return }
        }
    }

    private static func entries(_ decoder: HPACKDecoder) -> [[UInt8]] {
        (0..<decoder.table.count).compactMap { index in decoder.table.withEntry(index) { Array($0) + [0] + Array($1) } }
    }

    /// The answer of a proxy to CONNECT, in pieces: one end, whatever it says.
    @Sendable private static func readProxyAnswer(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let size = 1 + input.choice(below: 64)
        let proxy = APNsProxy(host: "proxy.example", port: 3128)
        let ends = Ends()
        let handler = APNsProxyHandler(
            target: .init(host: "api.push.apple.com", port: 443), proxy: proxy, limit: .seconds(10), logger: quiet,
            opened: { _ in ends.count += 1 }, failed: { _ in ends.count += 1 })
        let channel = EmbeddedChannel(handler: handler)
        channel.pipeline.fireChannelActive()
        for piece in input.rest.pieces(of: size) { _ = try? channel.writeInbound(ByteBuffer(bytes: piece)) }
        channel.pipeline.fireChannelInactive()
        precondition(ends.count <= 1, "a tunnel that ended twice")
        _ = try? channel.finish(acceptAlreadyClosed: true)
    }

    private final class Ends { var count = 0 }

    static let quiet = Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() }
}
