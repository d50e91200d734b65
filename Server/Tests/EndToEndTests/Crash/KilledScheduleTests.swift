import ClarionTesting
import Foundation
import RichPushModel
import Testing

/// Sends that are due while nodes are killed and started again.
@Suite(.serialized)
struct KilledScheduleTests {
    private static let isLong = ProcessInfo.processInfo.environment["LONG_TESTS"] == "1"
    private static let schedules = isLong ? 600 : 60
    private static let devices = 5
    /// In what time all become due.
    private static let span = isLong ? 120 : 12

    @Test(
        "every schedule that is due while nodes are killed becomes one send, and every device gets it",
        .timeLimit(.minutes(15)), arguments: [1, 3])
    func killed(nodes count: Int) async throws {
        var random = SeededGenerator()
        print("seed \(random.seed)")
        try await TemporaryFolder.use { folder in
            var shared: [String: String] = [:]
            if count > 1 {
                let server = try await ThrowAwayPostgreSQL.ofProcess()
                shared = try await SharedPlaces.database(at: server).merging(SharedPlaces.bucket()) { $1 }
            }
            let fleet = try await Fleet(folder: folder, size: Self.devices, shared: shared)
            // A node on SQLite has the data that the fleet was written into.
            func start(_ number: Int) async throws -> ServerProcess {
                try await count == 1 ? ServerProcess(fleet.options) : fleet.start(number: number)
            }
            var nodes: [ServerProcess] = []
            for number in 1...count { nodes.append(try await start(number)) }
            // The first request hashes a password, which takes long on a busy machine.
            _ = try await Self.all(fleet.caller(at: nodes[0].address))
            var last = SystemClock().now
            for number in 0..<Self.schedules {
                last = SystemClock().now + .milliseconds(5000 + number * Self.span * 1000 / Self.schedules)
                try await Self.schedule("schedule-\(number)", last, fleet.caller(at: nodes[0].address))
            }
            var kills = 0
            while SystemClock().now < last {
                let victim = Int.random(in: 0..<count, using: &random)
                try await Task.sleep(for: .milliseconds(.random(in: 0...1500, using: &random)))
                nodes[victim].kill()
                await nodes[victim].waitUntilGone()
                nodes[victim] = try await start(victim + 1)
                kills += 1
            }
            print("killed \(kills) times")
            try await Self.check(fleet, at: nodes[0].address)
            for node in nodes { #expect(await node.terminate() == 0) }
            await fleet.apns.shutdown()
        }
    }

    private static func schedule(_ key: String, _ due: Timestamp, _ caller: APIClient) async throws {
        var notification = SendRequest(message: key)
        notification.audience = "fleet"
        notification.link = "https://example.org/"
        let answer = try await caller.call(
            "POST", APIRoute.prefix + "/schedules", json: ScheduleRequest(notification, at: due),
            headers: ["Idempotency-Key": key])
        #expect(answer.status == 201, "\(String(decoding: answer.body, as: UTF8.self))")
    }

    private static func check(_ fleet: Fleet, at address: String) async throws {
        let caller = fleet.caller(at: address)
        let all = try await eventually("every schedule is over", within: .seconds(120)) {
            let all = try await Self.all(caller)
            return all.allSatisfy { $0.state == "ended" } ? all : nil
        }
        #expect(all.count == schedules)
        #expect(all.allSatisfy { $0.sent == 1 && $0.missed == 0 }, "\(all.filter { $0.sent != 1 })")
        let sends = Set(all.compactMap(\.lastSend))
        #expect(sends.count == schedules)
        for id in sends {
            let status = try await eventually("send \(id) completes", within: .seconds(120)) {
                let status = try await caller.call("GET", APIRoute.status(id)).decoded(SendStatus.self)
                return status.state == "completed" ? status : nil
            }
            #expect(status.outcomes == ["accepted": devices])
        }
        // Each push of each send has an id of its own: a second send of a schedule would have others.
        #expect(fleet.acceptedPushes == schedules * devices)
    }

    private static func all(_ caller: APIClient) async throws -> [ScheduleStatus] {
        var (found, next) = ([ScheduleStatus](), "")
        while true {
            let page = try await caller.call("GET", APIRoute.prefix + "/schedules?limit=100" + next).decoded(ScheduleList.self)
            found += page.schedules
            guard let cursor = page.next else { return found }
            next = "&before=\(cursor)"
        }
    }
}
