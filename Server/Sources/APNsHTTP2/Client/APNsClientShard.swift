import APNsProtocol
import NIOConcurrencyHelpers
import NIOCore
import Synchronization

/// The share of a client that lives on one event loop: its connections and their queue, and the way there from any thread.
final class APNsClientShard: PushSink {
    let eventLoop: any EventLoop
    private let pool: NIOLoopBoundBox<APNsConnectionPool>
    private let numbers: NIOLockedValueBox<APNsClientMetrics>
    /// What was handed over from other threads and not yet taken by the event loop, so that many calls wake it once.
    private let inbox = NIOLockedValueBox(Inbox())

    /// The most calls in the inbox, and how many there are.
    private let inboxLimit: Int
    private let inboxCount = Atomic(0)
    /// Pushes of calls that found it full.
    private let turnedAway = Atomic(0)

    private struct Inbox {
        var submissions: [PushSubmission] = []
        /// When the first of them was handed over.
        var since = NIODeadline.uptimeNanoseconds(0)
    }

    init(eventLoop: any EventLoop, pool: sending APNsPoolConfiguration, connector: sending any APNsConnector) {
        self.eventLoop = eventLoop
        let numbers = NIOLockedValueBox(APNsClientMetrics())
        self.numbers = numbers
        inboxLimit = pool.queuedPushes
        self.pool = NIOLoopBoundBox.makeBoxSendingValue(
            APNsConnectionPool(eventLoop: eventLoop, configuration: pool, connector: connector, metrics: numbers),
            eventLoop: eventLoop)
    }

    /// What the shard has and has done, as of the last turn of its event loop.
    var metrics: APNsClientMetrics {
        var metrics = numbers.withLockedValue { $0 }
        metrics.notSent += turnedAway.load(ordering: .relaxed)
        return metrics
    }

    /// Whether one more call may be handed over. An event loop that is far behind would only collect them.
    var hasRoom: Bool { inboxCount.load(ordering: .relaxed) < inboxLimit }

    /// Ends the pushes of a call for which there is no room.
    func turnAway(_ submission: PushSubmission) { turnedAway.add(submission.turnAway(), ordering: .relaxed) }

    /// Hands over the pushes of one call, from any thread.
    func submit(_ submission: PushSubmission) {
        if eventLoop.inEventLoop { return pool.value.submit(submission) }
        let isFirst = inbox.withLockedValue { inbox in
            let isFirst = inbox.submissions.isEmpty
            if isFirst { inbox.since = eventLoop.now }
            inbox.submissions.append(submission)
            inboxCount.store(inbox.submissions.count, ordering: .relaxed)
            return isFirst
        }
        if isFirst { eventLoop.execute { self.takeInbox() } }
    }

    private func takeInbox() {
        let taken = inbox.withLockedValue { inbox in
            defer {
                inbox.submissions = []
                inboxCount.store(0, ordering: .relaxed)
            }
            return inbox
        }
        let pool = pool.value
        for submission in taken.submissions { pool.submit(submission, since: taken.since) }
    }

    /// Ends what is not answered yet of a call whose task was cancelled.
    func cancel(_ submission: PushSubmission) { onLoop { self.pool.value.cancel(submission) } }

    /// Ends in order. Returns when every push has its outcome and every connection is closed.
    func stop(within limit: TimeAmount) async {
        await withCheckedContinuation { continuation in
            onLoop { self.pool.value.stop(within: limit, waiter: continuation) }
        }
    }

    private func onLoop(_ body: @escaping @Sendable () -> Void) {
        if eventLoop.inEventLoop { body() } else { eventLoop.execute(body) }
    }
}
