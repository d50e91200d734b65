import ClarionTesting
import Foundation
import RichPushModel
import Testing

/// From one machine with a file to PostgreSQL and S3, as the operator does it.
struct MoveTests {
    /// Runs the program with a server's settings; its exit status and what it printed.
    private func run(_ arguments: [String], _ options: ServerProcess.Options, _ folder: String) async throws -> (Int32, String) {
        var command = ChildProcess.Command(
            ServerProcess.program, arguments, output: folder + "/output-\(UUID().uuidString)")
        command.environment = options.environment.merging(["CLARION_DATA_DIRECTORY": options.dataDirectory]) { $1 }
        let status = try await ChildProcess(command).exitStatus()
        return (status, try String(contentsOfFile: command.output, encoding: .utf8))
    }

    @Test("everything goes along: a send that was under way completes, phones stay signed in and fetch what they fetched before")
    func whole() async throws {
        let size = 3_000
        try await TemporaryFolder.use { folder in
            let fleet = try await Fleet(folder: folder, size: size)
            let first = try await ServerProcess(fleet.options)
            let phone = try await PhoneCaller("phone", of: fleet.caller(at: first.address), apns: fleet.apns)
            let picture = Picture.random(side: 32)
            let id = try await fleet.caller(at: first.address).send(picture, message: "Look")
            #expect(try await phone.nextRichID() == id)
            var moved = fleet.options
            moved.shared = try await SharedPlaces.database(at: try await ThrowAwayPostgreSQL.ofProcess())
                .merging(SharedPlaces.bucket()) { $1 }
            // The key in the data directory goes on to be used.
            moved.shared["CLARION_MASTER_KEY"] = nil
            let busy = try await run(["database", "move"], moved, folder)
            #expect(busy.0 != 0 && busy.1.contains("another server uses"), "\(busy.1)")
            let answer = try await fleet.send(through: first.address, key: "a")
            first.kill()
            await first.waitUntilGone()
            let (status, text) = try await run(["database", "move"], moved, folder)
            #expect(status == 0, "\(text)")
            let contents = try await run(["content", "move"], moved, folder)
            #expect(contents.0 == 0 && contents.1.contains("2 contents, 2 of them copied now"), "\(contents.1)")
            #expect(!FileManager.default.fileExists(atPath: moved.dataDirectory + "/clarion.sqlite"))
            let second = try await ServerProcess(moved)
            let sent = try await eventually("the send completes", within: .seconds(120)) {
                let status = try await fleet.status(of: answer, at: second.address)
                return status.state == "completed" ? status : nil
            }
            #expect(sent.outcomes == ["accepted": size])
            #expect(try !fleet.acceptances(of: answer).contains(0))
            let fetched = try await phone.at(second.address).call("GET", APIRoute.notification(id), body: nil, headers: [:])
            #expect(fetched.status == 200)
            #expect(fetched.body == picture)
            let again = try await run(["database", "move"], moved, folder)
            #expect(again.0 != 0 && again.1.contains("there is no"), "\(again.1)")
            // As a power cut leaves it that comes between the renaming of the file and the last word.
            let database = try #require(moved.shared["CLARION_DATABASE_URL"]?.split(separator: "/").last?.prefix { $0 != "?" })
            let server = try await ThrowAwayPostgreSQL.ofProcess()
            _ = try await server.run(
                script: "\\connect \(database)\nINSERT INTO schema_steps VALUES (1000000, 'a move that is whole', 1);\n")
            let finished = try await run(["database", "move"], moved, folder)
            #expect(finished.0 == 0 && finished.1.contains("its last step, which is done now"), "\(finished.1)")
            let twice = try await run(["content", "move"], moved, folder)
            #expect(twice.0 == 0 && twice.1.contains("2 contents, 0 of them copied now"), "\(twice.1)")
            #expect(await second.terminate() == 0)
            await fleet.apns.shutdown()
        }
    }
}
