import ClarionTesting
import Foundation
import Logging
import PushHub
import RichPushModel
import Testing

@testable import ServerComposition
@testable import ServerSettings

/// Nodes in one process whose machines' clocks are hours apart.
struct ClockTests {
    /// Two nodes on one database, one an hour ahead and one an hour behind, with their addresses.
    private func run(
        size: Int, pollInterval: Duration? = nil, roles: [NodeRole] = [.all, .all],
        _ body: @escaping @Sendable (_ nodes: [ServerNode], _ addresses: [String], _ fleet: Fleet) async throws -> Void
    ) async throws {
        try await TemporaryFolder.use { folder in
            let server = try await ThrowAwayPostgreSQL.ofProcess()
            let shared = try await SharedPlaces.database(at: server).merging(SharedPlaces.bucket()) { $1 }
            let fleet = try await Fleet(folder: folder, size: size, shared: shared)
            var nodes: [ServerNode] = []
            for (number, hours) in [(1, 1), (2, -1)] {
                var settings = try fleet.options.settings()
                settings.dataDirectory += "-\(number)"
                settings.listening.address.port = 0
                settings.role = roles[number - 1]
                var options = NodeOptions(clock: WrongClock(ahead: .seconds(hours * 3_600)))
                options.pollInterval = pollInterval
                nodes.append(
                    try await ServerNode.make(
                        settings, options: options, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
            }
            try await serve(nodes) { [nodes] in try await body(nodes, $0, fleet) }
            await fleet.apns.shutdown()
        }
    }

    private func serve(_ nodes: [ServerNode], _ body: @escaping @Sendable ([String]) async throws -> Void) async throws {
        let (listening, isListening) = AsyncStream.makeStream(of: (Int, Int).self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, node) in nodes.enumerated() {
                group.addTask { try await node.run { isListening.yield((index, $0)) } }
            }
            group.addTask {
                var ports: [Int: Int] = [:]
                for await (index, port) in listening {
                    ports[index] = port
                    if ports.count == nodes.count { break }
                }
                try await body(nodes.indices.map { "http://127.0.0.1:\(ports[$0] ?? 0)" })
            }
            defer { group.cancelAll() }
            try await group.next()
            group.cancelAll()
            while (try? await group.next()) != nil {}
        }
    }

    @Test("what one node schedules the other does not send early, though their machines disagree by two hours; and once")
    func scheduled() async throws {
        try await run(size: 3) { nodes, _, fleet in
            for node in nodes {
                let due = SystemClock().now + .seconds(3)
                let receipt = try await node.hub.send(
                    SendCommand(
                        message: PushMessage(body: Array(#"{"aps":{"alert":"Hi"}}"#.utf8), pushType: "alert"), audience: nil,
                        dueAt: due))
                let before = fleet.apns.acceptanceCounts.count
                while true {
                    let count = fleet.apns.acceptanceCounts.count
                    guard SystemClock().now < due else { break }
                    #expect(count == before, "early")
                    try await Task.sleep(for: .milliseconds(20))
                }
                let telemetry = try await eventually("it leaves") {
                    let found = try await node.hub.telemetry(of: receipt.id)
                    return found?.state == .completed ? found : nil
                }
                #expect(telemetry.outcomes == [.accepted: 3])
                #expect(fleet.apns.acceptanceCounts.count == before + 3)
            }
            #expect(fleet.apns.acceptanceCounts.values.allSatisfy { $0 == 1 })
        }
    }

    @Test("credentials, tickets, idempotency keys and inboxes of one node hold at the other, and leases are respected")
    func everythingElse() async throws {
        try await run(size: 200) { _, addresses, fleet in
            let (ahead, behind) = (fleet.caller(at: addresses[0]), fleet.caller(at: addresses[1]))
            let phone = try await PhoneCaller("phone", of: ahead, apns: fleet.apns)
            let id = try await ahead.send(Picture.random(side: 8), message: "Look")
            #expect(try await phone.nextRichID() == id)
            for address in addresses {
                let fetched = try await phone.at(address).call("GET", APIRoute.notification(id), body: nil, headers: [:])
                #expect(fetched.status == 200)
                let inbox = try await phone.at(address).call("GET", APIRoute.notifications, body: nil, headers: [:])
                #expect(try inbox.decoded(InboxPage.self).notifications.map(\.id) == [id])
            }
            for (one, other) in [(ahead, addresses[1]), (behind, addresses[0])] {
                struct Ticket: Decodable { var path: String }
                let ticket = try await one.call("POST", APIRoute.ticket(id), body: nil, headers: [:]).decoded(Ticket.self)
                #expect(try await APIClient.anonymous(other + ticket.path).status == 200)
            }
            for number in 0..<10 {
                let answer = try await fleet.send(through: addresses[number % 2], key: "\(number)")
                #expect(try await fleet.send(through: addresses[(number + 1) % 2], key: "\(number)") == answer)
                let status = try await eventually("it completes") {
                    let status = try await fleet.status(of: answer, at: addresses[0])
                    return status.state == "completed" ? status : nil
                }
                #expect(status.outcomes == ["accepted": 200])
                #expect(try fleet.acceptances(of: answer) == Array(repeating: 1, count: 200))
            }
        }
    }

    @Test("a worker that polls every ten minutes is notified at once that another node accepted work")
    func called() async throws {
        try await run(size: 30, pollInterval: .seconds(600), roles: [.api, .worker]) { nodes, addresses, fleet in
            let workload = try await nodes[0].backend.workload()
            #expect(workload.nodes?.map(\.role).sorted() == ["api", "worker"] && workload.due == 0)
            for number in 0..<6 {
                let answer = try await fleet.send(through: addresses[0], key: "\(number)")
                _ = try await eventually("it completes", within: .seconds(60)) {
                    try await fleet.status(of: answer, at: addresses[0]).state == "completed" ? true : nil
                }
            }
        }
    }
}
