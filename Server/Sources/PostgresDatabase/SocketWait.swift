import Foundation
import Synchronization

/// Waits for a socket on the thread that owns it.
enum SocketWait {
    struct Readiness {
        var canRead: Bool
    }

    /// Waits until so many bytes can be read, or for a millisecond, so that a caller expecting more data is not woken for every piece
    /// of it. Returns whether there is anything to read.
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

    /// Whether the socket supports waiting for a number of bytes; Unix domain sockets do not.
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

/// Asks the server to stop a statement, on a thread of its own each: the request is a connection of its own, and when the
/// network is cut it may take minutes to fail.
final class Canceller: Sendable {
    private static let limit = 4
    private let running = Mutex(0)

    /// Takes over the library's ticket. With too many under way nothing is asked: the server has its own deadline.
    func cancel(_ ticket: OpaquePointer, _ library: LibPQ) {
        let isAllowed = running.withLock { running in
            guard running < Self.limit else { return false }
            running += 1
            return true
        }
        guard isAllowed else { return library.freeCancellation(ticket) }
        let request = Request(ticket: ticket)
        let thread = Thread { [self] in
            var reason = [CChar](repeating: 0, count: 256)
            _ = library.cancel(request.ticket, &reason, Int32(reason.count))
            library.freeCancellation(request.ticket)
            running.withLock { $0 -= 1 }
        }
        thread.name = "clarion-pg-cancel"
        thread.start()
    }

    /// `@unchecked` is safe: the ticket is a copy of what the request needs, made for this thread and touched by no other.
    private struct Request: @unchecked Sendable {
        let ticket: OpaquePointer
    }
}
