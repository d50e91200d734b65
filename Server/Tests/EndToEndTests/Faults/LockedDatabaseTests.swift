import Foundation
import RichPushModel
import SQLStorage
import SQLiteDatabase
import Testing

/// `serve` while another program holds its database.
@Suite("A locked database")
struct LockedDatabaseTests {
    @Test("refuses writes with 503 as soon as it has waited long enough, still answers what is read, and goes on when it is free")
    func locked() async throws {
        try await TemporaryFolder.use { folder in
            let fleet = try await Fleet(folder: folder, size: 20)
            let server = try await ServerProcess(fleet.options)
            let ops = fleet.caller(at: server.address)
            let picture = Picture.random(side: 32)
            let id = try await ops.send(picture, message: "Look")
            let other = try SQLiteDatabase(path: fleet.options.dataDirectory + "/clarion.sqlite", access: .command)
            let end = DispatchSemaphore(value: 0)
            let (holding, holds) = AsyncStream.makeStream(of: Void.self)
            async let held: Void = other.write { connection in
                try connection.script("CREATE TABLE held (id INTEGER)")
                holds.yield()
                end.wait()
            }
            var iterator = holding.makeAsyncIterator()
            await iterator.next()
            var request = SendRequest(message: "Hello, fleet")
            request.audience = "fleet"
            let refused = try await ops.call("POST", APIRoute.notifications, json: request, headers: ["Idempotency-Key": "held"])
            #expect(refused.status == 503 && refused.headers["retry-after"] != nil)
            #expect(String(decoding: refused.body, as: UTF8.self).contains("storage-unavailable"))
            let fetched = try await ops.call("GET", APIRoute.notification(id), body: nil, headers: [:])
            #expect(fetched.status == 200)
            #expect(fetched.body == picture)
            #expect(try await ops.call("GET", APIRoute.notifications, body: nil, headers: [:]).status == 200)
            #expect(try await APIClient.anonymous(server.address + "/livez").status == 200)
            end.signal()
            try await held
            try other.close()
            let answer = try await eventually("the same send is taken") {
                let answer = try await ops.call(
                    "POST", APIRoute.notifications, json: request, headers: ["Idempotency-Key": "held"])
                return answer.status == 201 ? try answer.decoded(SendAnswer.self) : nil
            }
            let status = try await eventually("it completes") {
                let status = try await fleet.status(of: answer, at: server.address)
                return status.state == "completed" ? status : nil
            }
            #expect(status.outcomes == ["accepted": 20])
            #expect(try fleet.acceptances(of: answer).allSatisfy { $0 == 1 })
            #expect(await server.terminate() == 0)
            await fleet.apns.shutdown()
        }
    }
}
