import Synchronization

/// Whether a node may go on with the schema of its database; it may not from one moment on, for ever.
final class SchemaStanding: Sendable {
    private let outdated = Mutex(false)
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    var isOutdated: Bool { outdated.withLock { $0 } }

    /// It may not go on.
    func end() {
        outdated.withLock { $0 = true }
        continuation.finish()
    }

    /// Returns when it may not go on, or the task is cancelled. For one caller.
    func awaitEnd() async { for await _ in stream {} }
}
