import APNsProtocol
import NIOCore

/// Header blocks and bodies of answers.
extension HTTP2Connection {
    mutating func receiveContinuation(_ fragment: ByteBuffer, endHeaders: Bool) throws(HTTP2Fault) -> HTTP2Event<Ticket> {
        guard var assembly else { return .none }
        try assembly.append(fragment)
        guard endHeaders else {
            self.assembly = assembly
            return .none
        }
        self.assembly = nil
        return try receiveHeaders(assembly.stream, block: assembly.block, endStream: assembly.endStream)
    }

    mutating func receiveHeaders(_ id: UInt32, block: ByteBuffer, endStream: Bool) throws(HTTP2Fault) -> HTTP2Event<Ticket> {
        // Decoded even when nobody waits for it any more: the table must see every block.
        var head = APNsAnswerHead()
        try decode(block, into: &head)
        guard let hadHead = streams.update(id, { $0.head != nil }) else { return .none }
        if hadHead { return receiveTrailers(id, endStream: endStream) }
        head.finish()
        guard !head.isMalformed, !(head.isInterim && endStream) else { return end(id, with: .protocolError) }
        if head.isInterim { return .none }
        if endStream {
            guard let stream = remove(id) else { return .none }
            return finish(stream, head: head)
        }
        _ = streams.update(id) { $0.head = head }
        return .none
    }

    mutating func receiveData(
        _ id: UInt32, body: ByteBuffer, flowControlled: Int, endStream: Bool
    ) throws(HTTP2Fault) -> HTTP2Event<Ticket> {
        try checkNotIdle(id)
        try creditConnection(flowControlled)
        let state = streams.update(id) { stream -> (isValid: Bool, overruns: Bool, isCredited: Bool) in
            stream.received += flowControlled
            let room = stream.maximumBody - stream.body.count
            if room > 0 { stream.body.append(contentsOf: body.readableBytesView.prefix(room)) }
            return (stream.head != nil, stream.received > Self.streamReceiveWindow, stream.response != nil)
        }
        guard let state else { return .none }
        guard state.isValid else { return end(id, with: .protocolError) }
        guard !state.overruns else { return end(id, with: .flowControlError) }
        if !endStream, state.isCredited { creditStream(id, flowControlled) }
        guard endStream, let stream = remove(id), let head = stream.head else { return .none }
        return finish(stream, head: head)
    }

    private mutating func decode(_ block: ByteBuffer, into head: inout APNsAnswerHead) throws(HTTP2Fault) {
        // A closure of the buffer cannot throw a typed error, so the result is carried out.
        let fault: HPACKFault? = block.withUnsafeReadableBytes { bytes in
            do throws(HPACKFault) {
                try decoder.decode(bytes, into: &head)
                return nil
            } catch {
                return error
            }
        }
        if fault != nil { throw HTTP2Fault(.compressionError, "a header block that cannot be decoded") }
    }

    private mutating func receiveTrailers(_ id: UInt32, endStream: Bool) -> HTTP2Event<Ticket> {
        guard endStream else { return end(id, with: .protocolError) }
        guard let stream = remove(id), let head = stream.head else { return .none }
        return finish(stream, head: head)
    }

    /// A complete answer. It may come before the whole body was sent (Reference/APNs.md#1-4); then the rest is taken back.
    private mutating func finish(_ stream: HTTP2Stream<Ticket>, head: APNsAnswerHead) -> HTTP2Event<Ticket> {
        noteAnswer()
        if stream.unsent != nil { output.writeHTTP2ResetStream(stream.id, code: .cancel) }
        if let response = stream.response {
            response.channelID = head.channelID
            response.body = stream.body
        }
        let outcome = APNsAnswerJSON.outcome(head: head, body: stream.body)
        return .finished(stream.ticket, stream: stream.id, .answered(outcome))
    }

    /// Counts what arrived against the window given at the start, and gives it back when half is used.
    private mutating func creditConnection(_ size: Int) throws(HTTP2Fault) {
        receivedUncredited += size
        guard receivedUncredited <= Self.receiveWindow else {
            throw HTTP2Fault(.flowControlError, "more data than the connection window")
        }
        if receivedUncredited >= Self.receiveWindow / 2 {
            output.writeHTTP2WindowUpdate(stream: 0, increment: UInt32(receivedUncredited))
            receivedUncredited = 0
        }
    }
}
