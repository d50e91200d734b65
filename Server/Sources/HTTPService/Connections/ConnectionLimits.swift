import NIOCore

/// What one client may take of a listener: how slowly it may speak and listen, and how many may be there at once.
///
/// A deadline counts only while the server itself waits: time in which the server was not ready to read is not the client's.
public struct ConnectionLimits: Sendable {
    /// How long a request head may take from its first byte to its last.
    public var headTime: TimeAmount
    /// Within how long each `minimumBodyBytes` of a body must arrive: slower than this is no phone, however bad its network.
    public var bodyTime: TimeAmount
    /// The least that a body must bring within `bodyTime`, unless it ends.
    public var minimumBodyBytes: Int
    /// How long a client may take nothing of an answer. Found out after at most twice this time.
    public var writeTime: TimeAmount
    /// How long a connection stays open between requests.
    public var idleTime: TimeAmount
    /// How long a connection that is about to be closed stays open, so that its answer can be read first.
    public var lingerTime: TimeAmount

    /// Creates limits; the defaults let a phone with 50 bytes a second through.
    public init(
        headTime: TimeAmount = .seconds(10), bodyTime: TimeAmount = .seconds(20), minimumBodyBytes: Int = 1_024,
        writeTime: TimeAmount = .seconds(30), idleTime: TimeAmount = .seconds(60), lingerTime: TimeAmount = .seconds(2)
    ) {
        self.headTime = headTime
        self.bodyTime = bodyTime
        self.minimumBodyBytes = minimumBodyBytes
        self.writeTime = writeTime
        self.idleTime = idleTime
        self.lingerTime = lingerTime
    }
}
