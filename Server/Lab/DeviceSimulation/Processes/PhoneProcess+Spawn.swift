#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension PhoneProcess {
    /// Starts a command whose input and output are one end of a socket, and which inherits nothing else; returns our end.
    static func spawn(_ command: [String]) throws(Failure) -> (socket: CInt, processID: pid_t) {
        var ends: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, Self.stream, 0, &ends) == 0 else { throw Failure() }
        defer { _ = close(ends[1]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = Self.fileActions()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        // Closing one that is closed meanwhile does no harm.
        for descriptor in openDescriptors() where descriptor > 2 { posix_spawn_file_actions_addclose(&actions, descriptor) }
        var processID: pid_t = 0
        let status = withCStrings(command) { arguments in
            withCStrings(ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }) { variables in
                posix_spawnp(&processID, command[0], &actions, nil, arguments, variables)
            }
        }
        guard status == 0 else {
            _ = close(ends[0])
            throw Failure()
        }
        return (ends[0], processID)
    }

    #if canImport(Darwin)
        private static let stream = SOCK_STREAM
        private static func fileActions() -> posix_spawn_file_actions_t? { nil }
    #elseif canImport(Musl)
        private static let stream = CInt(SOCK_STREAM) | CInt(SOCK_CLOEXEC)
        private static func fileActions() -> posix_spawn_file_actions_t { posix_spawn_file_actions_t() }
    #else
        private static let stream = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        private static func fileActions() -> posix_spawn_file_actions_t { posix_spawn_file_actions_t() }
    #endif

    private static func openDescriptors() -> [CInt] {
        let folder = FileManager.default.fileExists(atPath: "/proc/self/fd") ? "/proc/self/fd" : "/dev/fd"
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap { CInt($0) }
    }

    /// The strings as a list that ends with a null pointer, for the time of the body.
    private static func withCStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) } + [nil]
        defer { for copy in copies { free(copy) } }
        return body(copies)
    }
}
