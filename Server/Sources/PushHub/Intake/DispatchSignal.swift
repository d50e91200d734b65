/// Wakes the dispatcher of this process when there may be work. Losing a call costs a poll interval, nothing else.
public final class DispatchSignal: Sendable {
    /// One element per call, calls in a row merged. For one reader.
    let wakes: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    /// One element per call of `announce`, calls in a row merged. For one reader, who may tell other nodes.
    public let announcements: AsyncStream<Void>
    private let announcing: AsyncStream<Void>.Continuation

    /// Creates a signal, to be shared by hub and dispatcher.
    public init() {
        (wakes, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (announcements, announcing) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Says that this process accepted work, which any node may do.
    public func announce() {
        wake()
        announcing.yield()
    }

    /// Says that there may be work.
    public func wake() { continuation.yield() }
}
