import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import ServiceErrors

/// How far the body of one request has been read.
final class BodyProgress: Sendable {
    private enum State { case untouched, begun, ended }

    private let state = NIOLockedValueBox(State.untouched)

    /// Whether anybody has asked for a byte of it.
    var hasBegun: Bool { state.withLockedValue { $0 != .untouched } }

    /// Whether the last byte has been read.
    var hasEnded: Bool { state.withLockedValue { $0 == .ended } }

    /// Somebody asks for bytes; true the first time.
    func begin() -> Bool {
        state.withLockedValue { state in
            defer { if state == .untouched { state = .begun } }
            return state == .untouched
        }
    }

    func end() { state.withLockedValue { $0 = .ended } }
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
    /// Where the client is told to go on, when it waits for that.
    let waiting: (any Channel)?

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: base.makeAsyncIterator(), limit: limit, promised: promised, progress: progress, waiting: waiting)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        var base: RequestBody.AsyncIterator
        let limit: Int
        let promised: Int?
        let progress: BodyProgress
        let waiting: (any Channel)?
        var count = 0

        mutating func next() async throws -> ByteBuffer? {
            if progress.begin() { waiting?.triggerUserOutboundEvent(WantsBody(), promise: nil) }
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
