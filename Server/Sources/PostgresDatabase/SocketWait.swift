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
