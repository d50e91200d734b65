import HTTPService
import Logging

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// How many files and sockets the process may have open.
enum FileDescriptors {
    /// What storage, APNs connections and the log need besides the clients.
    static let reserve = 256

    /// The number of connections that can be served of those that are wanted; the operator is told when it is lower.
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
