import NIOCore

extension HTTP2Connection {
    /// Opens a stream for a request that is no device push. Call only after `canOpen` said yes; returns the stream's id.
    mutating func open(_ ticket: Ticket, _ request: APNsChannelRequest, authorization: APNsAuthorization?) -> UInt32? {
        guard let id = streams.reserveID() else { return nil }
        headerBlocks.append(request, authorization: authorization, stream: id, to: &output)
        var stream = HTTP2Stream(id: id, ticket: ticket, window: peer.initialWindowSize)
        stream.response = request.response
        if !request.body.isEmpty { stream.unsent = request.body[...] }
        streams.insert(stream)
        guard !request.body.isEmpty else { return id }
        blocked.append(id)
        writeBlockedBodies()
        return id
    }

    /// Gives back the credit of a stream whose answer may be larger than the window that was announced for it.
    mutating func creditStream(_ id: UInt32, _ size: Int) {
        guard size > 0 else { return }
        _ = streams.update(id) { $0.received -= size }
        output.writeHTTP2WindowUpdate(stream: id, increment: UInt32(size))
    }
}

extension APNsHeaderBlocks {
    /// Appends the HEADERS frame of a request; with END_STREAM when it has no body.
    mutating func append(
        _ request: APNsChannelRequest, authorization: APNsAuthorization?, stream: UInt32, to output: inout ByteBuffer
    ) {
        let block = block(request, authorization: authorization)
        let flags = HTTP2FrameHeader.Flag.endHeaders | (request.body.isEmpty ? HTTP2FrameHeader.Flag.endStream : 0)
        output.writeHTTP2FrameHeader(
            length: block.count, kind: HTTP2FrameHeader.Kind.headers, flags: flags, stream: stream)
        output.writeBytes(block)
    }
}
