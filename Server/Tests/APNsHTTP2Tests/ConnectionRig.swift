import APNsProtocol
import NIOCore

@testable import APNsHTTP2

/// A connection value with a scripted server at its other end. Tickets are numbers.
struct ConnectionRig {
    var connection: HTTP2Connection<Int>
    var server = ScriptedServer()
    var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    var events: [HTTP2Event<Int>] = []
    static let authorization = APNsAuthorization(value: "bearer aaa.bbb.ccc", generation: 1)

    /// With `open`, the server has sent its SETTINGS and, when the connection warms up, answered one request.
    init(warmsUp: Bool = false, streamLimit: UInt32? = 1000, isOpen: Bool = true) throws {
        connection = HTTP2Connection(
            authority: "api.push.apple.com", limits: HTTP2ConnectionLimits(warmsUp: warmsUp), now: now)
        connection.start(at: now)
        guard isOpen else { return }
        try receive(streamLimit.map { .streamLimit($0) } ?? .settings())
        try exchange()
        _ = server.takeFrames()
        events = []
    }

    /// Hands what the client wrote to the server.
    mutating func exchange() throws { try server.read(connection.takeOutput()) }

    /// Hands bytes of the server to the client.
    mutating func receive(_ bytes: ByteBuffer...) throws {
        connection.noteRead(at: now)
        for bytes in bytes {
            var bytes = bytes
            while let frame = try HTTP2FrameReader.next(&bytes) { events.append(try connection.receive(frame, at: now)) }
        }
    }

    /// Opens as many pushes as are allowed, up to `count`; returns how many.
    mutating func open(_ count: Int = 1, size: Int = 20, firstTicket: Int = 0) throws -> Int {
        for number in 0..<count {
            guard connection.canOpen(bodySize: size) else { return number }
            _ = connection.open(firstTicket + number, Pushes.push(size: size), authorization: Self.authorization)
        }
        return count
    }

    /// The ends that were reported, by ticket; and forgets them.
    mutating func takeEnds() -> [Int: HTTP2StreamEnd] {
        defer { events = [] }
        return events.reduce(into: [:]) { ends, event in
            if case .finished(let ticket, _, let end) = event { ends[ticket] = end }
        }
    }

    mutating func takeGoAways() -> [(goAway: HTTP2GoAway, notProcessed: [Int])] {
        defer { events = [] }
        return events.compactMap { if case .goAway(let goAway, let tickets) = $0 { (goAway, tickets) } else { nil } }
    }
}
