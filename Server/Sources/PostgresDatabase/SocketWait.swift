#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Waits for a socket on the thread that owns it.
enum SocketWait {
    struct Readiness {
        var canRead: Bool
    }

    /// Waits until so many bytes can be read, or for a millisecond: for who knows that more is on its way and would be woken for every
    /// piece of it. A socket that cannot say how much there is, as those of one machine without a network, is only waited for.
    static func gather(_ bytes: Int32, from socket: Int32) {
        guard setMark(bytes, of: socket) else { return }
        defer { _ = setMark(1, of: socket) }
        _ = wait(for: socket, toWrite: false, atMost: .zero)
    }

    /// Whether the socket has bytes that nobody has read.
    static func hasBytes(_ socket: Int32) -> Bool {
        var count: Int32 = 0
        return ioctl(socket, UInt(FIONREAD), &count) == 0 && count > 0
    }

    /// From how many bytes on the socket can be read.
    private static func setMark(_ bytes: Int32, of socket: Int32) -> Bool {
        var bytes = bytes
        return setsockopt(socket, SOL_SOCKET, SO_RCVLOWAT, &bytes, socklen_t(MemoryLayout<Int32>.size)) == 0
    }

    /// Returns once the socket can be read, or written if that is asked for, or has failed; `nil` when the time is up.
    static func wait(for socket: Int32, toWrite: Bool, atMost limit: Duration?) -> Readiness? {
        var entry = pollfd(fd: socket, events: Int16(POLLIN | (toWrite ? POLLOUT : 0)), revents: 0)
        let milliseconds = limit.map {
            Int32(clamping: $0.components.seconds * 1000 + $0.components.attoseconds / 1_000_000_000_000_000 + 1)
        }
        switch poll(&entry, 1, milliseconds ?? -1) {
        case 0: return nil
        // Interrupted, or failed: the caller looks again and finds out.
        case -1: return Readiness(canRead: false)
        default: return Readiness(canRead: entry.revents & Int16(POLLIN | POLLERR | POLLHUP) != 0)
        }
    }
}
