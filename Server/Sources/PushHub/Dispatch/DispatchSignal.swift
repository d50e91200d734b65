/// Wakes the dispatcher of this process when there may be work. Losing a call costs a poll interval, nothing else.
public final class DispatchSignal: Sendable {
    /// One element per call, calls in a row merged. For one reader.
    let wakes: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    /// Creates a signal, to be shared by hub and dispatcher.
    public init() { (wakes, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    /// Says that there may be work.
    public func wake() { continuation.yield() }
}
