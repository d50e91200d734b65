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
    /// piece of it. Whether there is anything to read then.
    static func gather(_ bytes: Int32, from socket: Int32) -> Bool {
        guard setMark(bytes, of: socket) else { return false }
        defer { _ = setMark(1, of: socket) }
        return wait(for: socket, toWrite: false, atMost: .zero)?.canRead ?? false
    }

    /// Whether the socket can be read now, without waiting.
    static func canRead(_ socket: Int32) -> Bool {
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) > 0
    }

    /// Whether a socket waits for a number of bytes when it is told to, which those between the processes of one machine do not.
    static func canGather(_ socket: Int32) -> Bool {
        var address = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isKnown = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) == 0 }
        }
        return isKnown && address.ss_family != sa_family_t(AF_UNIX)
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
