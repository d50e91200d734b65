#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One end of a socket between the phone and a process of it: lines of JSON in both directions.
///
/// A thread reads, because reading blocks and the threads of the pools must not. The channel ends when the other end is closed, when
/// a line is longer than the limit, or when more lines wait than anybody may leave unread.
final class LineChannel: Sendable {
    /// No line is longer: content goes through files.
    private static let lineLimit = 4 << 20
    private static let waitingLimit = 4_096

    /// The lines of the other side, once. Ends with the channel.
    let lines: AsyncStream<Data>
    private let socket: LineSocket

    /// Takes over a socket and begins to read. `onEnd` is called on the reading thread when no more lines come.
    init(_ descriptor: CInt, onEnd: @escaping @Sendable () -> Void = {}) {
        let socket = LineSocket(descriptor)
        self.socket = socket
        let (lines, continuation) = AsyncStream.makeStream(
            of: Data.self, bufferingPolicy: .bufferingOldest(Self.waitingLimit))
        self.lines = lines
        BlockingThread.start {
            socket.readLines(limit: Self.lineLimit) { line in
                if case .dropped = continuation.yield(line) { return false }
                return true
            }
            continuation.finish()
            onEnd()
        }
    }

    /// Writes a line; `false` when it could not be written whole in time, and then the channel is of no use any more.
    @discardableResult
    func send(_ value: some Encodable) -> Bool {
        guard let line = try? JSONEncoder().encode(value) else { return false }
        return socket.write(line + Data("\n".utf8))
    }

    /// Says to the other side that nothing more comes. What it still sends is read.
    func close() { socket.finishWriting() }

    deinit { close() }
}
