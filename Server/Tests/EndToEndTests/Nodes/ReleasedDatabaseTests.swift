import ClarionTesting
import EngineTesting
import Foundation
import RichPushModel
import SQLStorage
import SQLiteDatabase
import Testing

/// Databases as released versions left them, under a server of this version.
struct ReleasedDatabaseTests {
    @Test(
        "SQLite: a server opens the database of every released schema, serves what is in it and goes on",
        .timeLimit(.minutes(10)), arguments: ReleasedSchema.all)
    func file(schema: Int) async throws {
        try await TemporaryFolder.use { folder in
            let data = try dataDirectory(in: folder)
            let script = try ReleasedSchema.script(schema, .sqlite, dayBefore: SystemClock().now)
            let database = try SQLiteDatabase(path: data + "/clarion.sqlite", access: .server)
            try await database.write { try $0.script(script) }
            try database.close()
            try await serves(data, in: folder, SharedPlaces.masterKey)
        }
    }

    @Test(
        "PostgreSQL: a server opens the database of every released schema, serves what is in it and goes on",
        .timeLimit(.minutes(10)), arguments: ReleasedSchema.all)
    func server(schema: Int) async throws {
        try await TemporaryFolder.use { folder in
            let postgres = try await ThrowAwayPostgreSQL.ofProcess()
            let shared = try await SharedPlaces.database(at: postgres)
            let name = try #require(shared["CLARION_DATABASE_URL"]?.split(separator: "/").last?.prefix { $0 != "?" })
            let script = try ReleasedSchema.script(schema, .postgresql, dayBefore: SystemClock().now)
            _ = try await postgres.run(script: "\\connect \(name)\n" + script)
            try await serves(dataDirectory(in: folder), in: folder, shared)
        }
    }

    /// The bytes of the content that the rows name, and where the content store keeps them.
    private static let content = Data("The bytes of content c1.".utf8)
    private static let digest = "0c3abdffe9c110bc31b3240e4264806fca0c9a0d2d6371e71eb2182909d23162"

    private func dataDirectory(in folder: String) throws -> String {
        let path = folder + "/released"
        let shelf = "\(path)/content/objects/\(Self.digest.prefix(2))"
        try FileManager.default.createDirectory(atPath: shelf, withIntermediateDirectories: true)
        try Self.content.write(to: URL(filePath: "\(shelf)/\(Self.digest)"))
        return path
    }

    private func serves(_ data: String, in folder: String, _ shared: [String: String]) async throws {
        // Without devices: it is here for its local APNs.
        let fleet = try await Fleet(folder: folder, size: 0)
        var options = fleet.options
        options.dataDirectory = data
        options.shared = shared
        let server = try await ServerProcess(options)
        let (ann, bob) = (caller("ann", server), caller("bob", server))
        var inbox = try await ann.call("GET", APIRoute.notifications).decoded(InboxPage.self)
        #expect(inbox.notifications.map(\.message) == ["Message 4", "Message 1"])
        #expect(inbox.notifications.map(\.read) == [false, true])
        var phone = ann
        phone.installationCredential = "phone-of-ann.AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
        let first = try #require(RichID(number: 1))
        let fetched = try await phone.call("GET", APIRoute.notification(first), body: nil, headers: [:])
        #expect(fetched.status == 200)
        #expect(fetched.body == Self.content)
        let old = try await bob.call("GET", APIRoute.status(first)).decoded(SendStatus.self)
        #expect(old.state == "completed" && old.outcomes == ["accepted": 1] && old.receipts?["opened"] == 1)
        let newPhone = try await PhoneCaller("new-phone", of: ann, apns: fleet.apns)
        var request = SendRequest(message: "Message 5")
        request.audience = "username:ann"
        let answer = try await bob.call("POST", APIRoute.notifications, json: request).decoded(SendAnswer.self)
        #expect(answer.id == RichID(number: 5))
        #expect(try await newPhone.nextRichID() == answer.id)
        inbox = try await ann.call("GET", APIRoute.notifications).decoded(InboxPage.self)
        #expect(inbox.notifications.map(\.message) == ["Message 5", "Message 4", "Message 1"])
        #expect(server.errors == [])
        #expect(await server.terminate() == 0)
        await fleet.apns.shutdown()
    }

    private func caller(_ name: String, _ server: ServerProcess) -> APIClient {
        APIClient(address: server.address, user: name, password: "password of \(name)")
    }
}
