import Foundation
import Synchronization

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
