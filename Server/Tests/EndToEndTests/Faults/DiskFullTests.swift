import Foundation
import RichPushModel
import Testing

/// `serve` on a disk that is really full.
@Suite("A full disk")
struct DiskFullTests {
    private func readiness(_ server: ServerProcess) async throws -> APIClient.Answer {
        try await APIClient(address: server.address, user: "", password: "").call("GET", "/readyz", body: nil, headers: [:])
    }

    private func text(_ answer: APIClient.Answer) -> String { String(decoding: answer.body, as: UTF8.self) }

    @Test(
        "refuses what would have to be kept with 503, still answers what is only read, loses nothing, and with room goes on by itself",
        .enabled("this machine lets no test mount a file system") { await SmallDisk.isPossible() })
    func full() async throws {
        try await TemporaryFolder.use { folder in
            let fleet = try await Fleet(folder: folder, size: 50)
            var options = fleet.options
            options.diskSize = 64
            let server = try await ServerProcess(options)
            let ops = fleet.caller(at: server.address)
            let picture = Picture.random(side: 32)
            let id = try await ops.send(picture, message: "Look")
            var accepted = [try await fleet.send(through: server.address, key: "before")]
            let filler = server.view + options.dataDirectory + "/filler"
            try SmallDisk.fill(filler)
            // There may be a little room left in the files of the database.
            let refused = try await eventually("a send is refused") {
                let answer = try await ops.call(
                    "POST", APIRoute.notifications, json: Self.send, headers: ["Idempotency-Key": "full-\(accepted.count)"])
                if answer.status == 201 { accepted.append(try answer.decoded(SendAnswer.self)) }
                return answer.status == 201 ? nil : answer
            }
            #expect(refused.status == 503 && refused.headers["retry-after"] != nil)
            #expect(text(refused).contains("storage-unavailable"), "\(text(refused))")
            let upload = try await ops.call(
                "POST", APIRoute.content, body: Picture.random(side: 64), headers: ["Content-Type": "image/gif"])
            #expect(upload.status == 503 && upload.headers["retry-after"] != nil, "\(text(upload))")
            let incoming = server.view + options.dataDirectory + "/content/incoming"
            #expect(try FileManager.default.contentsOfDirectory(atPath: incoming).isEmpty)
            let fetched = try await ops.call("GET", APIRoute.notification(id), body: nil, headers: [:])
            #expect(fetched.status == 200)
            #expect(fetched.body == picture)
            #expect(try await ops.call("GET", APIRoute.notifications, body: nil, headers: [:]).status == 200)
            let state = try await readiness(server)
            #expect(state.status == 503)
            #expect(text(state).contains("failed storage"))
            #expect(try await APIClient.anonymous(server.address + "/livez").status == 200)
            #expect(server.printed.contains("The database cannot keep writes"))

            try FileManager.default.removeItem(atPath: filler)
            _ = try await eventually("it is ready by itself") { try await readiness(server).status == 200 ? true : nil }
            accepted.append(try await fleet.send(through: server.address, key: "full-\(accepted.count)"))
            accepted.append(try await fleet.send(through: server.address, key: "after"))
            #expect(try await ops.send(Picture.random(side: 64), message: "Again") != id)
            for answer in accepted {
                let status = try await eventually("an accepted send completes") {
                    let status = try await fleet.status(of: answer, at: server.address)
                    return status.state == "completed" ? status : nil
                }
                #expect(status.outcomes == ["accepted": 50])
                #expect(try fleet.acceptances(of: answer).allSatisfy { $0 >= 1 })
            }
            #expect(await server.terminate() == 0)
            await fleet.apns.shutdown()
        }
    }

    private static var send: SendRequest {
        var request = SendRequest(message: "Hello, fleet")
        request.audience = "fleet"
        return request
    }
}
