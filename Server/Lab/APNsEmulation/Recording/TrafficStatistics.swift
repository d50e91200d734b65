/// The frames of one connection, counted.
public struct TrafficStatistics: Sendable, Hashable, Codable {
    /// Frames of the client by name, for instance `PRIORITY`.
    public var received: [String: Int] = [:]
    /// Frames of the emulator by name.
    public var sent: [String: Int] = [:]
    /// Bodies of the client in bytes.
    public var receivedData = 0
    /// Streams that were refused with REFUSED_STREAM.
    public var refusedStreams = 0
    /// Header compression of the client.
    public var headers = HPACKStatistics()

    /// Creates statistics of nothing.
    public init() {}

    /// Adds what happened on another connection.
    public mutating func add(_ other: TrafficStatistics) {
        received.merge(other.received, uniquingKeysWith: +)
        sent.merge(other.sent, uniquingKeysWith: +)
        receivedData += other.receivedData
        refusedStreams += other.refusedStreams
        headers.add(other.headers)
    }
}
