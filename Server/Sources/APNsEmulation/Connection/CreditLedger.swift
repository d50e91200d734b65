/// What a client may have on the way, by the credit that can have reached it (check 5 of APNs reference 7.2).
///
/// The HTTP/2 library counts credit from when it is decided on, while it still works off what has arrived: to it, a client that sends
/// more than its window in one go looks like one that waited. Here credit counts for what is read after the credit has left.
struct CreditLedger: Sendable {
    enum Overrun: Sendable, Equatable {
        case connection
        case stream
    }

    private var connection = ServerSettings.windowSize
    private var streams: [Int: Int] = [:]
    private var unsent: [(stream: Int, size: Int)] = []
    /// The window of new streams that the client has acknowledged; the default until then.
    private var initialWindow = ServerSettings.windowSize

    /// A stream begins.
    mutating func opened(_ stream: Int) { streams[stream] = initialWindow }

    mutating func closed(_ stream: Int) { streams[stream] = nil }

    /// DATA arrived; the size counts padding too. Returns which window it overruns.
    mutating func received(_ size: Int, on stream: Int) -> Overrun? {
        connection -= size
        guard connection >= 0 else { return .connection }
        guard let window = streams[stream] else { return nil }
        streams[stream] = window - size
        return size > 0 && window < size ? .stream : nil
    }

    /// Credit was written, for a stream or for the connection, which is stream 0.
    mutating func granted(_ size: Int, to stream: Int) { unsent.append((stream, size)) }

    /// What was written has left.
    mutating func flushed() {
        for (stream, size) in unsent {
            // The library may drop DATA of streams that have ended unseen, so more than was counted can come back.
            if stream == 0 { connection = min(connection + size, ServerSettings.windowSize) } else { streams[stream]? += size }
        }
        unsent.removeAll(keepingCapacity: true)
    }

    /// The client acknowledged another INITIAL_WINDOW_SIZE: open streams change by the difference (RFC 9113, 6.9.2).
    mutating func changeInitialWindow(to size: Int) {
        for stream in streams.keys { streams[stream]? += size - initialWindow }
        initialWindow = size
    }
}
