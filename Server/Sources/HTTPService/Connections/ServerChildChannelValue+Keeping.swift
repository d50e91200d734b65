import HummingbirdCore

extension ServerChildChannelValue {
    /// Keeps what belongs to a connection for as long as the connection is open. A server that stops drops the connections that it
    /// accepted and has not begun with, and NIO ends the whole process when the writer of an open connection is dropped.
    func keptWhileOpen() -> Self {
        channel.closeFuture.whenComplete { _ in withExtendedLifetime(self) {} }
        return self
    }
}
