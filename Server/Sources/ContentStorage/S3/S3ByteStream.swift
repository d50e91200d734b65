import AsyncHTTPClient
import NIOCore

/// The bytes of an answer, taken in pieces of any size. Nothing is read ahead beyond a buffer or two: a slow reader slows the store
/// down. One reader at a time; dropping it closes the connection.
actor S3ByteStream {
    private var iterator: HTTPClientResponse.Body.AsyncIterator
    private var rest = ByteBuffer()

    init(_ body: HTTPClientResponse.Body) { iterator = body.makeAsyncIterator() }

    /// The next `count` bytes; fewer at the end of the answer.
    func read(_ count: Int) async throws -> [UInt8] {
        while rest.readableBytes < count {
            var iterator = iterator
            let next = try await iterator.next(isolation: self)
            self.iterator = iterator
            guard let next else { break }
            if rest.readableBytes == 0 { rest = next } else { rest.writeImmutableBuffer(next) }
        }
        return rest.readBytes(length: min(count, rest.readableBytes)) ?? []
    }
}
