import RichPushDevice
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// From the start of a child to its collection. Signals and collection exclude each other: the number of a collected child may
/// belong to a stranger.
final class ProcessLife: Sendable {
    let processID: pid_t
    /// The exit status, as shells count.
    let status = FirstResult<CInt>()
    private let isCollected = Mutex(false)

    init(_ processID: pid_t) { self.processID = processID }

    /// Sends a signal, unless the child was collected.
    func signal(_ number: CInt) {
        isCollected.withLock { isCollected in
            if !isCollected { _ = kill(processID, number) }
        }
    }

    /// Waits for the end and collects the child. Blocks its thread.
    func collect() {
        var info = siginfo_t()
        while waitid(P_PID, id_t(processID), &info, WEXITED | WNOWAIT) == -1, errno == EINTR {}
        let result = isCollected.withLock { isCollected -> CInt in
            var status: CInt = 0
            while waitpid(processID, &status, 0) == -1, errno == EINTR {}
            isCollected = true
            let signal = status & 0x7f
            return signal == 0 ? (status >> 8) & 0xff : 128 + signal
        }
        let status = status
        Task { await status.resolve(result) }
    }
}
