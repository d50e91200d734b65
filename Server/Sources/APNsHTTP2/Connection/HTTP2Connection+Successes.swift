import NIOCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A push that APNs took, as one frame said.
struct HTTP2Success<Ticket> {
    let ticket: Ticket
    let apnsID: UUID?
    /// In the sandbox.
    let uniqueID: UUID?
}

/// The fast way for what nearly all frames of APNs are: a success in a single HEADERS frame.
extension HTTP2Connection {
    /// Takes the successes at the beginning of `bytes` and returns how many bytes they have. Stops at the first frame that is
    /// anything else, which `receive` then judges; so there is nothing here that could be refused.
    mutating func receiveSuccesses(_ bytes: UnsafeRawBufferPointer, into successes: inout [HTTP2Success<Ticket>]) -> Int {
        guard phase != .awaitingSettings, assembly == nil else { return 0 }
        let before = successes.count
        var offset = 0
        while bytes.count - offset >= HTTP2FrameHeader.size {
            let first = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            // HEADERS with END_HEADERS and END_STREAM, without padding or priority.
            guard first >> 24 & 0xFFFF == 0x01_05 else { break }
            let length = Int(first >> 40)
            let id = UInt32(truncatingIfNeeded: first & 0x7F_FFFF) << 8 | UInt32(bytes[offset + 8])
            let start = offset + HTTP2FrameHeader.size
            guard length <= HTTP2FrameReader.maximumFrameSize, bytes.count - start >= length, id & 1 == 1, streams.isPlain(id)
            else { break }
            let block = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + length)])
            // The stream is open, so it is removed whenever the decoder has taken the block.
            guard let ids = decoder.success(block), let stream = streams.remove(id) else { break }
            successes.append(HTTP2Success(ticket: stream.ticket, apnsID: ids.apnsID, uniqueID: ids.uniqueID))
            offset = start + length
        }
        if offset > 0 {
            noteAnswer()
            floodGuard.earn(requests: successes.count - before)
        }
        return offset
    }
}
