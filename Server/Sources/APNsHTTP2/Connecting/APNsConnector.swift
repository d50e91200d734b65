import NIOCore

/// Makes the channel of a connection. A protocol, so that tests can hand out embedded channels.
protocol APNsConnector {
    /// Connects, with fresh name resolution, and puts `handler` on top of the channel.
    func connect(_ handler: APNsConnectionHandler) -> EventLoopFuture<any Channel>
}
