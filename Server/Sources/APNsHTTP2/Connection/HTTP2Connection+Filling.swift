import APNsProtocol
import NIOCore

/// Taking pushes from the queue.
extension HTTP2Connection where Ticket == PushTicket {
    /// NIOSSL makes one TLS record of each write, so writes are as large as a record and no larger.
    static var recordSize: Int { 16_384 }

    /// Writes pushes to `output` until it holds a TLS record or nothing more may be opened. Returns how many, and the bytes of
    /// their bodies. `opened` is told of each and must not come back to this connection.
    mutating func fillRecord(
        from queue: PushQueue, authorization: APNsAuthorization?, opened: (PushTicket, UInt32) -> Void
    ) -> (count: Int, bytes: Int) {
        var count = 0
        var bytes = 0
        while !streams.isExhausted {
            // A request in steady state has about 110 bytes besides its body (Reference/APNs.md#9-2).
            let room = count > 0 ? Self.recordSize - output.readableBytes - 128 : .max
            guard let ticket = queue.popFirst(where: { $0 <= room && canOpen(bodySize: $0) }) else { break }
            guard let stream = open(ticket, authorization: authorization) else {
                queue.prepend([ticket])
                break
            }
            count += 1
            bytes += ticket.bodySize
            opened(ticket, stream)
        }
        return (count, bytes)
    }

    private mutating func open(_ ticket: PushTicket, authorization: APNsAuthorization?) -> UInt32? {
        if let request = ticket.submission.request { return open(ticket, request, authorization: authorization) }
        return ticket.submission.pushes.withUnsafeBufferPointer { pushes in
            pushes.baseAddress.flatMap { open(ticket, $0 + Int(ticket.index), authorization: authorization) }
        }
    }
}
