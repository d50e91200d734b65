import ClarionTesting
import Foundation
import PushHub
import RichPushModel
import Testing

/// Two `serve` processes on one PostgreSQL and one bucket: clients cannot see which of them answers.
struct TwoNodesTests {
    /// Two servers on what they share, and the user `ops` who may send.
    private func run(
        size: Int = 0, _ settings: [String: String] = [:], _ body: (_ nodes: [ServerProcess], _ fleet: Fleet) async throws -> Void
    ) async throws {
        try await TemporaryFolder.use { folder in
            let server = try await ThrowAwayPostgreSQL.ofProcess()
            let shared = try await SharedPlaces.database(at: server).merging(SharedPlaces.bucket()) { $1 }
            let fleet = try await Fleet(folder: folder, size: size, shared: shared)
            let nodes = try await fleet.start(2, settings)
            try await body(nodes, fleet)
            for node in nodes where node.isRunning { #expect(await node.terminate() == 0) }
            await fleet.apns.shutdown()
        }
    }

    @Test("servers that start together on an empty database share its schema, its hub and its keys")
    func empty() async throws {
        try await TemporaryFolder.use { folder in
            let server = try await ThrowAwayPostgreSQL.ofProcess()
            let shared = try await SharedPlaces.database(at: server).merging(SharedPlaces.bucket()) { $1 }
            let environment = shared.merging(["CLARION_LOG_LEVEL": "warning"]) { $1 }
            async let first = ServerProcess(dataDirectory: folder + "/1", environment: environment)
            async let second = ServerProcess(dataDirectory: folder + "/2", environment: environment)
            async let third = ServerProcess(dataDirectory: folder + "/3", environment: environment)
            for node in try await [first, second, third] {
                // It answers a little before it has checked everything that it needs.
                var ready = try await APIClient.anonymous(node.address + "/readyz")
                for _ in 0..<300 where ready.status != 200 {
                    try await Task.sleep(for: .milliseconds(200))
                    ready = try await APIClient.anonymous(node.address + "/readyz")
                }
                #expect(ready.status == 200, "\(node.printed)")
                #expect(await node.terminate() == 0)
                #expect(node.errors.isEmpty, "\(node.printed)")
            }
        }
    }

    @Test("a phone signs in at one node and fetches at the other; reading, receipts, recall and sign-out hold on both")
    func story() async throws {
        try await run { nodes, fleet in
            let (a, b) = (nodes[0].address, nodes[1].address)
            let ops = fleet.caller(at: a)
            let phone = try await PhoneCaller("phone-1", of: ops, apns: fleet.apns)
            let picture = Picture.random(side: 32)
            let id = try await ops.send(picture, message: "Look")
            #expect(try await phone.nextRichID() == id)
            let path = APIRoute.notification(id)
            let fetched = try await phone.at(b).call("GET", path, body: nil, headers: [:])
            #expect(fetched.status == 200)
            #expect(fetched.body == picture)
            #expect(try await fleet.caller(at: b).call("GET", path, body: nil, headers: [:]).body == picture)
            let receipt = ReceiptBatch(receipts: [Receipt(richID: id, kind: .opened, at: Timestamp(seconds: 1))])
            #expect(try await phone.at(b).call("POST", APIRoute.receipts, json: receipt).status < 300)
            let status = try await ops.call("GET", APIRoute.status(id)).decoded(SendStatus.self)
            #expect(status.receipts?["opened"] == 1)
            let ticket = try await phone.at(b).call("POST", APIRoute.ticket(id), body: nil, headers: [:])
            let link = try ticket.decoded(Ticket.self).path
            #expect(try await APIClient.anonymous(a + link).body == picture, "a ticket of one node opens at the other")
            #expect(try await fleet.caller(at: b).call("DELETE", path, body: nil, headers: [:]).status == 204)
            #expect(try await phone.at(a).call("GET", path, body: nil, headers: [:]).status == 404)
            let installation = APIRoute.installation(try #require(InstallationID(phone.id)))
            #expect(try await phone.at(a).call("DELETE", installation, body: nil, headers: [:]).status == 204)
            _ = try await eventually("the sign-out holds at the other node", within: .seconds(30)) {
                try await phone.at(b).call("GET", APIRoute.me, body: nil, headers: [:]).status == 401 ? true : nil
            }
        }
    }

    private struct Ticket: Decodable { var path: String }

    @Test("what either node accepts goes out once, whichever sends it, and a retried request at the other node is the same send")
    func once() async throws {
        let size = 40
        try await run(size: size) { nodes, fleet in
            let answers = try await withThrowingTaskGroup(of: SendAnswer.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        let (first, second) = (nodes[number % 2].address, nodes[(number + 1) % 2].address)
                        let answer = try await fleet.send(through: first, key: "send-\(number)")
                        #expect(try await fleet.send(through: second, key: "send-\(number)") == answer)
                        return answer
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(answers.map(\.id)).count == 20)
            for answer in answers {
                let status = try await eventually("a send completes") {
                    let status = try await fleet.status(of: answer, at: nodes[0].address)
                    return status.state == "completed" ? status : nil
                }
                #expect(status.outcomes == ["accepted": size])
                #expect(try fleet.acceptances(of: answer) == Array(repeating: 1, count: size))
            }
        }
    }

    @Test("a node that is killed in the middle leaves its work to the other")
    func killed() async throws {
        let size = 5_000
        // The other waits for the end of the leases, which hold for two such deadlines and 20 seconds.
        try await run(size: size, ["CLARION_PUSH_DEADLINE": "5s"]) { nodes, fleet in
            // Answers so slow that the kill finds most of the pushes still to be sent.
            fleet.apns.inject(.delay(.seconds(2)), count: size, afterRequests: 100)
            let answer = try await fleet.send(through: nodes[0].address, key: "a")
            _ = try await eventually("pushes leave") { fleet.acceptedPushes > 0 ? true : nil }
            nodes[0].kill()
            await nodes[0].waitUntilGone()
            #expect(fleet.acceptedPushes < size, "killed in the middle")
            fleet.apns.clearFaults()
            let status = try await eventually("the other completes it", within: .seconds(150)) {
                let status = try await fleet.status(of: answer, at: nodes[1].address)
                return status.state == "completed" ? status : nil
            }
            #expect(status.outcomes == ["accepted": size])
            let pushes = try fleet.acceptances(of: answer)
            #expect(!pushes.contains(0))
            #expect(pushes.reduce(0, +) - size <= 4 * DispatchSettings().window)
        }
    }
}
