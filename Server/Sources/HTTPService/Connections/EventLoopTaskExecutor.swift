import NIOCore

/// Runs tasks on an event loop.
///
/// What a connection's requests do between two waits is short, and next comes the connection again: handled on its own loop, a
/// request changes threads only where it waits for another, and its answer leaves without waking anybody.
final class EventLoopTaskExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The task that this job belongs to holds the executor until the job has run.
        let executor = asUnownedTaskExecutor()
        loop.execute { job.runSynchronously(on: executor) }
    }
}
