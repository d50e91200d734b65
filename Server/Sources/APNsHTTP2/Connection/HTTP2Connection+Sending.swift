import APNsProtocol
import NIOCore

/// Writing requests and bodies, within the windows.
extension HTTP2Connection {
    /// Opens a stream and writes the request. Call only after `canOpen` said yes; returns the stream's id.
    ///
    /// Takes the place of the push, because a copy of it would count references five times.
    mutating func open(_ ticket: Ticket, _ push: UnsafePointer<APNsPush>, authorization: APNsAuthorization?) -> UInt32? {
        guard let id = streams.reserveID() else { return nil }
        let size = push.pointee.payload.count
        let fits = size <= min(sendWindow, peer.initialWindowSize, peer.maximumFrameSize)
        headerBlocks.append(push, authorization: authorization, stream: id, withBody: fits, to: &output)
        var stream = HTTP2Stream(id: id, ticket: ticket, window: peer.initialWindowSize)
        if fits {
            sendWindow -= size
            stream.window -= size
        } else {
            stream.unsent = push.pointee.payload[...]
            writeBody(of: &stream)
            if stream.unsent != nil { blocked.append(id) }
        }
        streams.insert(stream)
        return id
    }

    /// The same for a push that is no element of a batch.
    mutating func open(_ ticket: Ticket, _ push: APNsPush, authorization: APNsAuthorization?) -> UInt32? {
        withUnsafePointer(to: push) { open(ticket, $0, authorization: authorization) }
    }

    /// Goes on with bodies that waited for credit.
    mutating func writeBlockedBodies() {
        guard !blocked.isEmpty else { return }
        let waiting = blocked
        blocked.removeAll(keepingCapacity: true)
        for id in waiting {
            guard var stream = streams.remove(id) else { continue }
            writeBody(of: &stream)
            if stream.unsent != nil { blocked.append(id) }
            streams.insert(stream)
        }
    }

    /// Gives up a stream whose push has no more time. Returns whether its request was incomplete, so that it cannot have been processed.
    mutating func cancel(_ id: UInt32) -> Bool {
        guard let stream = streams.remove(id) else { return true }
        floodGuard.earn(requests: 1)
        output.writeHTTP2ResetStream(id, code: .cancel)
        if stream.unsent != nil { blocked.removeAll { $0 == id } }
        return stream.unsent != nil
    }

    /// Gives up the streams that satisfy the condition.
    mutating func cancelAll(where condition: (Ticket) -> Bool) -> [(ticket: Ticket, isIncomplete: Bool)] {
        let cancelled = streams.removeAll { condition($0.ticket) }
        // They may still be answered, with SETTINGS before and after.
        floodGuard.earn(requests: cancelled.count)
        return cancelled.map { stream in
            output.writeHTTP2ResetStream(stream.id, code: .cancel)
            if stream.unsent != nil { blocked.removeAll { $0 == stream.id } }
            return (stream.ticket, stream.unsent != nil)
        }
    }

    private mutating func writeBody(of stream: inout HTTP2Stream<Ticket>) {
        while let unsent = stream.unsent {
            let size = min(unsent.count, sendWindow, stream.window, peer.maximumFrameSize)
            let isLast = size == unsent.count
            // An empty frame is written only to end an empty body.
            guard size > 0 || (isLast && size == 0) else { return }
            output.writeHTTP2FrameHeader(
                length: size, kind: HTTP2FrameHeader.Kind.data, flags: isLast ? HTTP2FrameHeader.Flag.endStream : 0,
                stream: stream.id)
            output.writeBytes(unsent.prefix(size))
            sendWindow -= size
            stream.window -= size
            stream.unsent = isLast ? nil : unsent.dropFirst(size)
        }
    }
}
