import RichPushModel
import Synchronization

/// The clock of a node that shares its database: that of the machine, put right by what the database says, so that moments which nodes
/// compare (leases, schedules, expiries) are those of one clock however wrong a machine's is.
final class NodeClock: ServiceClock {
    /// An answer that took longer says too little.
    private static let longestQuestion: Duration = .seconds(2)
    /// Less than this is noise of the way there.
    private static let noise: Duration = .milliseconds(5)

    private let machine: any ServiceClock
    private let offset = Mutex<Duration?>(nil)

    /// Begins with the clock of the machine.
    init(_ machine: any ServiceClock) { self.machine = machine }

    var now: Timestamp { machine.now + (offset.withLock { $0 } ?? .zero) }
    var uptime: Duration { machine.uptime }
    func sleep(for duration: Duration) async throws { try await machine.sleep(for: duration) }

    /// How far the database is ahead of the machine.
    var ahead: Duration { offset.withLock { $0 } ?? .zero }

    /// Asks once and takes over what differs by more than the way there explains.
    func measure(_ time: () async throws -> Timestamp) async throws {
        let asked = machine.uptime
        let shared = try await time()
        let length = machine.uptime - asked
        let found = shared - (machine.now - length / 2)
        offset.withLock { offset in
            guard let known = offset else {
                offset = found
                return
            }
            let difference = found > known ? found - known : known - found
            guard length <= Self.longestQuestion, difference > length / 2 + Self.noise else { return }
            offset = found
        }
    }
}
