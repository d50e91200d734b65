import HTTPService
import Logging
import NIOCore
import RichPushModel
import ServerSettings
import ServiceErrors
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Notifies systemd that the node is ready, alive or about to stop: datagrams on a unix socket, as the manual page sd_notify(3)
/// describes them.
struct ServiceManager: Sendable {
    /// The datagrams that are sent.
    enum Message: String, Sendable {
        case ready = "READY=1"
        case stopping = "STOPPING=1"
        case alive = "WATCHDOG=1"
    }

    /// The address of the socket; a name that begins with `@` is in the abstract namespace of Linux.
    private let path: String
    /// After so long without `alive` systemd ends the process and starts it again; absent without a watchdog.
    let watchdog: Duration?

    /// Reads `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`; `nil` where no service manager waits.
    init?(environment: [String: String], processID: Int32 = getpid()) {
        guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@") else { return nil }
        self.path = path
        let isMeant = environment["WATCHDOG_PID"].map { $0 == String(processID) } ?? true
        let period = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        watchdog = isMeant && period > 0 ? .microseconds(period) : nil
    }

    /// Sends one message without blocking. Throws `notReady` with the reason of the system.
    func send(_ message: Message) throws {
        #if canImport(Glibc)
            let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #elseif canImport(Musl)
            let descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)
        #else
            let descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #endif
        guard descriptor >= 0 else { throw Self.failure() }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        if name[0] == UInt8(ascii: "@") { name[0] = 0 }
        let space = MemoryLayout.size(ofValue: address.sun_path)
        guard name.count < space else { throw ServiceError(.notReady, "NOTIFY_SOCKET has more than \(space - 1) bytes") }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        // A name in the abstract namespace ends with the length, not with a zero.
        let length = socklen_t(MemoryLayout<sockaddr_un>.offset(of: \.sun_path).map { $0 + name.count } ?? 0)
        let text = Array(message.rawValue.utf8)
        let sent = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, text, text.count, Int32(MSG_DONTWAIT), $0, length)
            }
        }
        guard sent == text.count else { throw Self.failure() }
    }

    private static func failure() -> ServiceError {
        ServiceError(.notReady, "systemd could not be notified: \(String(cString: strerror(errno)))")
    }
}

extension ServiceManager {
    /// Sends `alive` three times in each period of the watchdog, as long as every event loop of the group answers. A loop that is
    /// blocked keeps the message back, and systemd starts the node again. Works until the task is cancelled.
    ///
    /// An unreachable database or APNs does not count: a restart would not help.
    func watch(_ group: any EventLoopGroup, clock: any ServiceClock, logger: Logger) async {
        guard let watchdog else { return }
        while !Task.isCancelled {
            for loop in group.makeIterator() { try? await loop.submit {}.get() }
            notify(.alive, logger)
            do { try await clock.sleep(for: watchdog / 3) } catch { return }
        }
    }

    /// Sends a message and logs a failure.
    func notify(_ message: Message, _ logger: Logger) {
        do { try send(message) } catch {
            logger.warning("The service manager was not notified", metadata: ["error": "\(error)"])
        }
    }
}

extension Settings.Listening {
    /// How many listeners there are, without that of the metrics.
    var listenerCount: Int { 1 + (tls == nil ? 0 : 1) + (self.priorKnowledgePort == nil ? 0 : 1) }
}

/// Counts the listeners until all of them answer.
final class ListenerCount: Sendable {
    private let left: Mutex<Int>

    init(_ count: Int) { left = Mutex(count) }

    /// Whether this was the last one.
    func isLast() -> Bool {
        left.withLock { left in
            left -= 1
            return left == 0
        }
    }
}

/// How many files and sockets the process may have open.
enum FileDescriptors {
    /// What storage, APNs connections and the log need besides the clients.
    static let reserve = 256

    /// The number of the wanted connections that can be served; logs when it is lower.
    static func connectionLimit(_ wanted: Int, logger: Logger) -> Int {
        let possible = connections(withFiles: raisedLimit(for: wanted))
        guard possible < wanted else { return wanted }
        logger.warning(
            "The system allows the process too few open files for connection-limit; fewer connections are served",
            metadata: [LogKey.limit.rawValue: "\(possible)"])
        return possible
    }

    /// A client may have a connection and a file that it reads.
    static func connections(withFiles limit: Int) -> Int { max(16, (limit - reserve) / 2) }

    /// How many files and sockets the process may have open now.
    static var limit: Int {
        var limits = rlimit()
        return getrlimit(resource, &limits) == 0 ? Int(clamping: limits.rlim_cur) : 1_024
    }

    #if canImport(Glibc)
        private static var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }
    #else
        private static var resource: Int32 { RLIMIT_NOFILE }
    #endif

    /// Raises the soft limit, which many systems keep low for the sake of old programs, as far as `wanted` connections need it
    /// and the hard limit allows; gives what holds then.
    private static func raisedLimit(for wanted: Int) -> Int {
        var limits = rlimit()
        guard getrlimit(resource, &limits) == 0 else { return 1_024 }
        let needed = rlim_t(wanted * 2 + reserve)
        if limits.rlim_cur < needed, limits.rlim_cur < limits.rlim_max {
            var raised = limits
            raised.rlim_cur = min(needed, limits.rlim_max)
            if setrlimit(resource, &raised) == 0 { limits = raised }
        }
        return Int(clamping: limits.rlim_cur)
    }
}
