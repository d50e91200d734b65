import ClarionTesting
import Foundation
import PushHub
import RichPushModel
import Testing

extension NodesCrashTests {
    /// Above 10,000, so that a send has many slices, and several nodes work on one at a time.
    private static let devices = TroubledNodes.isLong ? 30_000 : 10_500
    private static let sends = TroubledNodes.isLong ? 30 : 6

    @Test("what is scheduled fires once and not early, whatever breaks when it is due")
    func schedules() async throws {
        try await TroubledNodes.run(devices: Self.devices) { nodes in
            var dues = try await idle(nodes)
            for number in 1...Self.sends {
                // It may be due before a node has taken it: then it leaves at once.
                let due = SystemClock().now + nodes.pause(300...2_500)
                let id = try await nodes.schedule(at: due, request: "send-\(number)")
                dues[id] = due
                try await nodes.happen(wait: 500, length: 1_200)
                if number == Self.sends / 2 { try await nodes.restartDatabase() }
                #expect(try await nodes.schedule(at: due, request: "send-\(number)") == id, "a retried request is the same send")
            }
            try await check(dues, nodes)
        }
    }

    /// Without any fault: no device gets it twice.
    private func idle(_ nodes: TroubledNodes) async throws -> [NotificationID: Timestamp] {
        let due = SystemClock().now + .seconds(2)
        let id = try await nodes.schedule(at: due, request: "idle")
        try await check([id: due], nodes)
        return [id: due]
    }

    private func check(_ dues: [NotificationID: Timestamp], _ nodes: TroubledNodes) async throws {
        var telemetry: [NotificationTelemetry] = []
        for id in dues.keys { telemetry.append(try await nodes.ended(id)) }
        let pushes = try await nodes.pushes(of: Array(dues.keys))
        for found in telemetry.sorted(by: { $0.dueAt < $1.dueAt }) {
            let due = try #require(dues[found.id])
            let (first, last) = (try #require(pushes.first(of: found.id)), try #require(pushes.last(of: found.id)))
            print("due after \(due - found.enqueuedAt): first push \(first - due), last push \(last - due) after that")
            #expect(first >= due && found.dueAt >= due, "not early; \(nodes.log)")
            #expect(found.state == .completed && found.outcomes == [.accepted: Self.devices], "\(nodes.log)")
            try checkRepeats(of: found.id, pushes, nodes)
        }
        let repeats = dues.keys.reduce(0) { $0 + pushes.repeats(of: $1) }
        print("\(repeats) repeats, \(nodes.log)")
        #expect(repeats <= nodes.bound, "over all of them; \(nodes.log)")
        #expect(pushes.unexpected == 0, "nothing else was sent, and a repeat has the id of the first")
        let stored = try await nodes.server.run(script: "\\connect \(nodes.database)\nSELECT COUNT(*) FROM notifications;")
        #expect(stored.split(separator: "\n").last == "\(dues.count)", "none was taken twice")
    }
}
