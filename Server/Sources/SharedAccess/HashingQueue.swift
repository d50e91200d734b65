import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// The bounded queue behind `PasswordHasher` and the threads that empty it.
final class HashingQueue: @unchecked Sendable {
    // Sendable by hand: `jobs` and `isStopped` are touched only while `condition` is locked.
    typealias Job = @Sendable (_ isRunning: Bool) -> Void

    private let condition = NSCondition()
    private let capacity: Int
    private var jobs: [Job] = []
    private var isStopped = false

    init(capacity: Int) { self.capacity = max(1, capacity) }

    /// Adds a job; `false` when the queue is full or stopped. An accepted job is called exactly once.
    func submit(_ job: @escaping Job) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard !isStopped, jobs.count < capacity else { return false }
        jobs.append(job)
        condition.signal()
        return true
    }

    /// Ends the threads; jobs still waiting are told that nothing runs any more.
    func stop() {
        condition.lock()
        isStopped = true
        let waiting = jobs
        jobs = []
        condition.broadcast()
        condition.unlock()
        for job in waiting { job(false) }
    }

    func startThread(named name: String) {
        let thread = Thread { [self] in
            Self.yieldToOthers()
            while let job = next() { job(true) }
        }
        thread.name = name
        thread.start()
    }

    /// Lets the threads that answer requests go first where processors are short (Linux with glibc): hashing would take all that there are.
    private static func yieldToOthers() {
        #if canImport(Glibc)
            // For Linux zero is the calling thread, not the process. Refused or not, hashing goes on.
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 5)
        #endif
    }

    private func next() -> Job? {
        condition.lock()
        defer { condition.unlock() }
        while jobs.isEmpty, !isStopped { condition.wait() }
        return jobs.isEmpty ? nil : jobs.removeFirst()
    }
}
