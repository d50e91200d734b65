import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import ServiceErrors

/// How far the body of one request has been read.
final class BodyProgress: Sendable {
    private let ended = NIOLockedValueBox(false)

    /// Whether the last byte has been read.
    var hasEnded: Bool { ended.withLockedValue { $0 } }

    func end() { ended.withLockedValue { $0 = true } }
}

/// A request body that keeps to its limit and cannot be cut short unnoticed.
///
/// The server's own stream ends quietly when the connection breaks or the task is cancelled; half an upload would look
/// whole.
struct BoundedBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let base: RequestBody
    let limit: Int
    /// What the `Content-Length` header promised.
    let promised: Int?
    let progress: BodyProgress

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: base.makeAsyncIterator(), limit: limit, promised: promised, progress: progress)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        var base: RequestBody.AsyncIterator
        let limit: Int
        let promised: Int?
        let progress: BodyProgress
        var count = 0

        mutating func next() async throws -> ByteBuffer? {
            guard let buffer = try await base.next() else {
                try Task.checkCancellation()
                guard promised.map({ $0 == count }) ?? true else {
                    throw ServiceError(.requestTimeout, "the connection ended before the body did")
                }
                progress.end()
                return nil
            }
            count += buffer.readableBytes
            guard count <= limit else { throw ServiceError(.payloadTooLarge, "the body has more than \(limit) bytes") }
            return buffer
        }
    }
}
