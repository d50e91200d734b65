import RichPushModel
import Synchronization

/// The clock of a node that shares its database: that of the machine, put right by what the database says, so that moments which nodes
/// compare (leases, schedules, expiries) are those of one clock however wrong a machine's is.
///
/// It is never ahead of the database by what an answer cannot say: when within a question the database looked at its clock. So nothing
/// leaves before its time, and a little after it at most by what the way back takes.
///
/// Between two answers time goes on by the machine's uptime, so that a machine whose clock is put right, or wrong, meanwhile
/// neither sends what is not due nor gives up what is.
package final class NodeClock: ServiceClock {
    /// An answer that took longer says too little.
    private static let longestQuestion: Duration = .seconds(2)
    /// Less than this is noise of the way there.
    private static let noise: Duration = .milliseconds(5)

    private let machine: any ServiceClock
    private let anchor = Mutex<Anchor?>(nil)

    /// What the time was at a moment of the machine's uptime.
    private struct Anchor {
        var time: Timestamp
        var uptime: Duration

        func time(at uptime: Duration) -> Timestamp { time + (uptime - self.uptime) }
    }

    /// Begins with the clock of the machine.
    package init(_ machine: any ServiceClock) { self.machine = machine }

    package var now: Timestamp { anchor.withLock { $0?.time(at: machine.uptime) } ?? machine.now }
    package var uptime: Duration { machine.uptime }
    package func sleep(for duration: Duration) async throws { try await machine.sleep(for: duration) }

    /// How far the database is ahead of the machine.
    package var ahead: Duration { now - machine.now }

    /// Asks once and takes over what the length of the question does not explain.
    package func measure(_ time: () async throws -> Timestamp) async throws {
        let asked = machine.uptime
        let shared = try await time()
        let answered = machine.uptime
        let length = answered - asked
        // It is at least what the answer says, and more by what the answer took to come: nobody knows how much of the length that is.
        let found = Anchor(time: shared, uptime: answered)
        anchor.withLock { anchor in
            guard let known = anchor else {
                anchor = found
                return
            }
            let expected = known.time(at: answered)
            let (isBehind, isAhead) = (expected + Self.noise < shared, expected > shared + length)
            guard length <= Self.longestQuestion, isBehind || isAhead else { return }
            anchor = found
        }
    }
}
