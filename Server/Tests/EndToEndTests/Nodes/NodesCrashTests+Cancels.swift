import ClarionTesting
import Foundation
import PushHub
import RichPushModel
import Testing

extension NodesCrashTests {
    /// What breaks when a send is cancelled.
    private enum Blow: CaseIterable {
        case none, kill, cut, isolation, databaseRestart
    }

    private static let devices = TroubledNodes.isLong ? 40_000 : 16_000
    private static let rounds = TroubledNodes.isLong ? 25 : 5

    /// A send that was to leave later and was cancelled before.
    private struct Schedule {
        var id: NotificationID
        var due: Timestamp
        /// When the 200 came; absent when the send had ended by then.
        var stopped: Timestamp?
    }

    @Test("after the 200 of a cancel at most a window of each leased slice still leaves, whatever breaks meanwhile")
    func cancels() async throws {
        try await TroubledNodes.run(devices: Self.devices) { nodes in
            // So that a broadcast lasts for long enough to be cancelled.
            nodes.fleet.apns.changeRules { $0.answerDelay = .milliseconds(60) }
            var schedules: [Schedule] = []
            var struck = 0
            for round in 1...Self.rounds {
                let blow = Blow.allCases[(round - 1) % Blow.allCases.count]
                if try await self.cancel(round, blow, &schedules, nodes) { struck += 1 }
            }
            #expect(struck > Self.rounds / 2, "too many sends had ended before they were cancelled")
            try await check(schedules, nodes)
        }
    }

    /// Whether the cancel came in time to stop anything.
    private func cancel(_ round: Int, _ blow: Blow, _ schedules: inout [Schedule], _ nodes: TroubledNodes) async throws -> Bool {
        nodes.forgive()
        let before = nodes.ledger.count
        let pace = [nil, 4_000, 8_000].randomElement(using: &nodes.random) ?? nil
        let due = SystemClock().now + .seconds(12)
        var schedule = Schedule(id: try await nodes.schedule(at: due, request: "schedule-\(round)"), due: due)
        let id = try await nodes.send(key: "round-\(round)") { $0.pushesPerSecond = pace }
        let early = Int.random(in: 1...(pace == nil ? 10 : Self.devices / 4), using: &nodes.random)
        _ = try await eventually("pushes leave") { nodes.ledger.count - before >= early ? true : nil }
        let node = nodes.anyNode()
        try await inject(blow, node, nodes)
        let moment = try await nodes.cancel(id)
        schedule.stopped = try await nodes.cancel(schedule.id)
        schedules.append(schedule)
        try await recover(blow, node)
        try await nodes.awaitNoWork()
        let pushes = try await nodes.pushes(of: [id])
        guard let moment else {
            #expect(try await nodes.ended(id).state == .completed && pushes.reached(by: id) == Self.devices)
            return false
        }
        let late = pushes.late(id, after: moment, in: SlicePlan(audience: Self.devices, pushesPerSecond: pace))
        print("\(blow), \(pace ?? 0) a second: \(pushes.reached(by: id)) reached, after the 200 \(late), \(nodes.log)")
        let settings = TroubledNodes.settings
        #expect(late.count <= nodes.nodes.count * settings.largeSlots, "only of leased slices; \(nodes.log)")
        #expect(late.values.allSatisfy { $0 <= settings.window }, "\(late), \(nodes.log)")
        try await checkTallies(of: id, pushes, nodes)
        return true
    }

    /// What is cancelled before its time never leaves.
    private func check(_ schedules: [Schedule], _ nodes: TroubledNodes) async throws {
        let end = schedules.map(\.due).max().map { $0 + .seconds(1) } ?? SystemClock().now
        _ = try await eventually("the time of all has come") { SystemClock().now > end ? true : nil }
        let pushes = try await nodes.pushes(of: schedules.map(\.id))
        let early = schedules.filter { ($0.stopped ?? $0.due) < $0.due }
        #expect(early.count > schedules.count / 2, "too many were due before they were cancelled")
        for schedule in early {
            let telemetry = try await nodes.ended(schedule.id)
            #expect(telemetry.state == .cancelled)
            #expect(telemetry.outcomes.isEmpty)
            #expect(telemetry.startedAt == nil)
            #expect(pushes.reached(by: schedule.id) == 0)
        }
    }

    /// What has no outcome was not sent, but for what a loss kept from being counted.
    private func checkTallies(of id: NotificationID, _ pushes: FleetPushes, _ nodes: TroubledNodes) async throws {
        let telemetry = try await nodes.ended(id)
        #expect(telemetry.state == .cancelled)
        #expect(telemetry.outcomes.keys.allSatisfy { $0 == .accepted })
        let (counted, reached) = (telemetry.outcomes[.accepted] ?? 0, pushes.reached(by: id))
        #expect((max(reached - nodes.bound, 0)...reached).contains(counted), "\(counted) of \(reached), \(nodes.log)")
        #expect(pushes.repeats(of: id) <= nodes.bound, "\(nodes.log)")
    }

    private func inject(_ blow: Blow, _ node: TroubledNode, _ nodes: TroubledNodes) async throws {
        switch blow {
        case .none: break
        case .kill: await nodes.kill(node)
        case .cut: nodes.cut(node)
        case .isolation: try await nodes.isolate(node)
        case .databaseRestart: try await nodes.restartDatabase()
        }
    }

    private func recover(_ blow: Blow, _ node: TroubledNode) async throws {
        switch blow {
        case .none, .cut, .databaseRestart: break
        case .kill: try await node.start()
        case .isolation: try await node.rejoin()
        }
    }
}
