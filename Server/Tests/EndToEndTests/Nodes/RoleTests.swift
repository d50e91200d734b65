import ClarionTesting
import Foundation
import RichPushModel
import Testing

@testable import ServerOperations
@testable import ServerSettings

/// What nodes do for each other.
struct RoleTests {
    private func run(size: Int, _ body: (Fleet) async throws -> Void) async throws {
        try await TemporaryFolder.use { folder in
            let server = try await ThrowAwayPostgreSQL.ofProcess()
            let shared = try await SharedPlaces.database(at: server).merging(SharedPlaces.bucket()) { $1 }
            let fleet = try await Fleet(folder: folder, size: size, shared: shared)
            try await body(fleet)
            await fleet.apns.shutdown()
        }
    }

    @Test("a node with the role api accepts and leaves sending to a worker, which answers only whether it is well")
    func roles() async throws {
        try await run(size: 50) { fleet in
            let api = try await fleet.start(number: 1, ["CLARION_ROLE": "api"])
            let answer = try await fleet.send(through: api.address, key: "a")
            #expect(try await fleet.status(of: answer, at: api.address).state == "accepted")
            #expect(fleet.acceptedPushes == 0)
            let worker = try await fleet.start(number: 2, ["CLARION_ROLE": "worker"])
            let status = try await eventually("the worker sends it") {
                let status = try await fleet.status(of: answer, at: api.address)
                return status.state == "completed" ? status : nil
            }
            #expect(status.outcomes == ["accepted": 50])
            #expect(try await APIClient.anonymous(worker.address + "/readyz").status == 200)
            #expect(try await fleet.caller(at: worker.address).call("GET", APIRoute.me, body: nil, headers: [:]).status == 503)
            #expect(try await APIClient.anonymous(worker.address + "/hub/registrations").status == 503)
            #expect(try await fleet.caller(at: api.address).call("GET", APIRoute.me, body: nil, headers: [:]).status == 200)
            #expect(await worker.terminate() == 0)
            let before = fleet.acceptedPushes
            let nodes = try await DatabaseAdministration(settings: fleet.options.settings()).nodes()
            #expect(nodes.map(\.role) == ["api"])
            #expect(nodes.allSatisfy { $0.isPresent && !$0.sends })
            let late = try await fleet.send(through: api.address, key: "b")
            #expect(try await fleet.status(of: late, at: api.address).state == "accepted")
            #expect(await api.terminate() == 0)
            #expect(fleet.acceptedPushes == before, "an api node sends nothing")
        }
    }

    private struct Listed: Decodable {
        var name: String
        var role: String
        var version: String
        var startedAt: Int64
        var seenAt: Int64
        var isPresent: Bool
        var sends: Bool
    }

    /// What `clarion database nodes --json` prints.
    private func listed(_ options: ServerProcess.Options) async throws -> [Listed] {
        try await TemporaryFolder.use { folder in
            var command = ChildProcess.Command(
                ServerProcess.program, ["database", "nodes", "--json"], output: folder + "/output")
            command.environment = options.environment.merging(["CLARION_DATA_DIRECTORY": options.dataDirectory]) { $1 }
            command.capturesErrors = false
            #expect(try await ChildProcess(command).exitStatus() == 0)
            return try JSONDecoder().decode([Listed].self, from: Data(contentsOf: URL(filePath: command.output)))
        }
    }

    @Test("the operator sees the nodes, one that stops takes its leave, and one that was killed is back under its name")
    func members() async throws {
        try await run(size: 0) { fleet in
            let nodes = try await fleet.start(2)
            let administration = DatabaseAdministration(settings: try fleet.options.settings())
            let seen = try await eventually("both are there") {
                let seen = try await administration.nodes()
                return seen.count == 2 ? seen : nil
            }
            #expect(seen.allSatisfy { $0.isPresent && $0.role == "all" && $0.version == ClarionVersion.current })
            let listed = try await listed(fleet.options)
            #expect(Set(listed.map(\.name)) == Set(seen.map(\.name)))
            #expect(listed.allSatisfy { $0.isPresent && $0.sends && $0.role == "all" && $0.startedAt <= $0.seenAt })
            #expect(await nodes[0].terminate() == 0)
            let left = try await administration.nodes()
            #expect(left.count == 1)
            #expect(seen.map(\.name).contains(left.first?.name ?? ""))
            nodes[1].kill()
            await nodes[1].waitUntilGone()
            let again = try await fleet.start(number: 2)
            let before = try #require(left.first)
            _ = try await eventually("it is back under its name, and not as a third") {
                let now = try await administration.nodes()
                return now.count == 1 && now[0].name == before.name && now[0].startedAt > before.startedAt ? true : nil
            }
            #expect(await again.terminate() == 0)
            #expect(try await administration.nodes().isEmpty)
        }
    }

    @Test("a node that is killed and started again takes its work up at once, and no other node's")
    func takeover() async throws {
        let size = 20_000
        try await run(size: size) { fleet in
            // Leases of ten minutes: a node that waited for their end would not be done in time.
            let nodes = try await [fleet.start(number: 1, ["CLARION_PUSH_DEADLINE": "290s"])]
            // Answers so slow that the kill finds most of the pushes still to be sent.
            fleet.apns.inject(.delay(.seconds(2)), count: size, afterRequests: 100)
            let answer = try await fleet.send(through: nodes[0].address, key: "a")
            _ = try await eventually("pushes leave") { fleet.acceptedPushes > 0 ? true : nil }
            nodes[0].kill()
            await nodes[0].waitUntilGone()
            #expect(fleet.acceptedPushes < size, "killed in the middle")
            fleet.apns.clearFaults()
            let again = try await fleet.start(number: 1, ["CLARION_PUSH_DEADLINE": "290s"])
            let status = try await eventually("it completes", within: .seconds(120)) {
                let status = try await fleet.status(of: answer, at: again.address)
                return status.state == "completed" ? status : nil
            }
            #expect(status.outcomes == ["accepted": size])
            #expect(await again.terminate() == 0)
        }
    }

    @Test("a node that is stopped in the middle hands its work back at once, and nothing is sent twice")
    func handedBack() async throws {
        let size = 20_000
        try await run(size: size) { fleet in
            let first = try await fleet.start(number: 1, ["CLARION_PUSH_DEADLINE": "290s"])
            let answer = try await fleet.send(through: first.address, key: "a")
            _ = try await eventually("pushes leave") { fleet.acceptedPushes > 0 ? true : nil }
            #expect(await first.terminate() == 0)
            let taken = fleet.acceptedPushes
            let second = try await fleet.start(number: 2, ["CLARION_PUSH_DEADLINE": "290s"])
            let status = try await eventually("the other completes it", within: .seconds(120)) {
                let status = try await fleet.status(of: answer, at: second.address)
                return status.state == "completed" ? status : nil
            }
            #expect(status.outcomes == ["accepted": size])
            #expect(try fleet.acceptances(of: answer) == Array(repeating: 1, count: size), "stopped after \(taken)")
            #expect(await second.terminate() == 0)
        }
    }
}
