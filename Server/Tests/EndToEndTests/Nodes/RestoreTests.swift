import ClarionTesting
import Foundation
import RichPushModel
import Testing

/// Backups made as Operations.md describes, restored on another machine.
struct RestoreTests {
    /// What was restored sends to the devices that it knows.
    private func goesOn(_ restored: ServerProcess, _ fleet: Fleet) async throws {
        let answer = try await fleet.send(through: restored.address, key: "after")
        let status = try await eventually("a send after the restoration completes") {
            let status = try await fleet.status(of: answer, at: restored.address)
            return status.state == "completed" ? status : nil
        }
        #expect(status.outcomes == ["accepted": 20])
        #expect(await restored.terminate() == 0)
    }

    @Test("SQLite: a backup that was made while the server ran brings back users, phones and contents")
    func file() async throws {
        try await TemporaryFolder.use { folder in
            let fleet = try await Fleet(folder: folder, size: 20)
            let server = try await ServerProcess(fleet.options)
            let ops = fleet.caller(at: server.address)
            let phone = try await PhoneCaller("phone", of: ops, apns: fleet.apns)
            let picture = Picture.random(side: 32)
            let id = try await ops.send(picture, message: "Look")
            let (data, copy) = (fleet.options.dataDirectory, folder + "/restored")
            try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: data + "/master-key", toPath: copy + "/master-key")
            var command = ChildProcess.Command(
                ServerProcess.program, ["database", "backup", copy + "/clarion.sqlite"], output: folder + "/output")
            command.environment = ["CLARION_DATA_DIRECTORY": data]
            #expect(try await ChildProcess(command).exitStatus() == 0)
            try FileManager.default.copyItem(atPath: data + "/content", toPath: copy + "/content")
            _ = try await ops.send(Picture.random(side: 8), message: "Later")
            server.kill()
            await server.waitUntilGone()
            var options = fleet.options
            options.dataDirectory = copy
            let restored = try await ServerProcess(options)
            let fetched = try await phone.at(restored.address).call("GET", APIRoute.notification(id), body: nil, headers: [:])
            #expect(fetched.status == 200)
            #expect(fetched.body == picture)
            try await goesOn(restored, fleet)
            await fleet.apns.shutdown()
        }
    }

    @Test("PostgreSQL: a dump that was made while nodes ran brings back the same, with the master key of the settings")
    func dump() async throws {
        try await TemporaryFolder.use { folder in
            let postgres = try await ThrowAwayPostgreSQL.ofProcess()
            let shared = try await SharedPlaces.database(at: postgres).merging(SharedPlaces.bucket()) { $1 }
            let name = try #require(shared["CLARION_DATABASE_URL"]?.split(separator: "/").last?.prefix { $0 != "?" })
            let fleet = try await Fleet(folder: folder, size: 20, shared: shared)
            let nodes = try await fleet.start(2)
            let ops = fleet.caller(at: nodes[0].address)
            let phone = try await PhoneCaller("phone", of: ops, apns: fleet.apns)
            let picture = Picture.random(side: 32)
            let id = try await ops.send(picture, message: "Look")
            let copy = "\(name)_restored"
            try await postgres.copy(database: String(name), to: copy)
            for node in nodes { node.kill() }
            for node in nodes { await node.waitUntilGone() }
            var command = ChildProcess.Command(ServerProcess.program, ["content", "adopt"], output: folder + "/output")
            command.environment = fleet.options.environment.merging(
                ["CLARION_DATABASE_URL": postgres.url(database: copy), "CLARION_DATA_DIRECTORY": folder + "/adopting"]
            ) { $1 }
            #expect(try await ChildProcess(command).exitStatus() == 0)
            let restored = try await fleet.start(number: 3, ["CLARION_DATABASE_URL": postgres.url(database: copy)])
            let fetched = try await phone.at(restored.address).call("GET", APIRoute.notification(id), body: nil, headers: [:])
            #expect(fetched.status == 200)
            #expect(fetched.body == picture)
            try await goesOn(restored, fleet)
            await fleet.apns.shutdown()
        }
    }
}
