import NIOCore

/// How much of what was sent the peer has acknowledged, as the kernel knows it.
///
/// Bytes leave the process in large steps when the kernel's buffer has room again; on a slow phone that can take longer than
/// any sensible deadline. What the phone acknowledges moves with every packet.
enum PeerAcknowledgement {
    /// The count in bytes; 0 where the system does not tell.
    static func bytes(on channel: any Channel) -> EventLoopFuture<UInt64> {
        #if os(Linux)
            if let socket = channel as? any SocketOptionProvider {
                let info: EventLoopFuture<TCPInfo> = socket.unsafeGetSocketOption(level: .tcp, name: .init(rawValue: 11))
                return info.map(\.acknowledged).recover { _ in 0 }
            }
        #endif
        return channel.eventLoop.makeSucceededFuture(0)
    }

    /// The beginning of `struct tcp_info` of linux/tcp.h, up to `tcpi_bytes_acked` at offset 120 (Linux 4.1). The C library's
    /// own declaration ends before it. An older kernel fills less and leaves the rest 0.
    private struct TCPInfo: Sendable {
        // One number of eight bytes for each of the fifteen before it.
        let before:
            (
                UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64,
                UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64
            )
        let acknowledged: UInt64
    }
}
