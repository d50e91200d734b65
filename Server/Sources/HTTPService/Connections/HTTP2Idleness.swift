import NIOCore

/// Since when a connection of HTTP/2 has had no stream, as a value without I/O.
struct HTTP2Idleness {
    private let limit: TimeAmount
    private var openStreams = 0
    private var idleSince: NIODeadline

    /// A connection that was made at `now`.
    init(limit: TimeAmount, at now: NIODeadline) {
        self.limit = limit
        idleSince = now
    }

    /// When the connection must end if nothing happens; `nil` while a stream is open.
    var deadline: NIODeadline? { openStreams == 0 ? idleSince + limit : nil }

    /// Whether it must end now.
    func isOver(at now: NIODeadline) -> Bool { deadline.map { $0 <= now } ?? false }

    mutating func streamOpened() { openStreams += 1 }

    mutating func streamClosed(at now: NIODeadline) {
        openStreams = max(0, openStreams - 1)
        if openStreams == 0 { idleSince = now }
    }
}
