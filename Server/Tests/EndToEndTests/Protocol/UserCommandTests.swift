import ClarionTesting
import DeviceSimulation
import Foundation
import RichPushModel
import Testing

@testable import LabServices
@testable import ServerSettings

/// `clarion user …`, as an operator types it beside a server that runs.
struct UserCommandTests {
    private static func clarion(
        _ arguments: [String], _ environment: [String: String] = [:]
    ) async throws -> (status: Int32, text: String) {
        try await TemporaryFolder.use { folder in
            let output = folder + "/output"
            var command = ChildProcess.Command(ServerProcess.program, arguments, output: output)
            command.environment = ProcessInfo.processInfo.environment.merging(environment) { _, given in given }
            let process = try ChildProcess(command)
            let status = await process.exitStatus()
            return (status, try String(contentsOfFile: output, encoding: .utf8))
        }
    }

    @Test(
        "the devices of a user are those that are signed in, with what each reported about itself and only the start of its token"
    )
    func devices() async throws {
        try await Stage.open(phones: 3) { stage in
            for (number, name) in [(1, "alice"), (2, "alice"), (3, "bob")] { try await stage.signIn(name, on: number) }
            let node = ["--data-directory", stage.serverDirectory]
            let tokens = (1...2).map { stage.demo.apns.issueToken(device: String($0), topic: Settings.demoTopic).uppercased() }
            // The app reports the permission after it has signed in.
            let list = try await eventually("both phones have reported their permission") {
                let answer = try await Self.clarion(["user", "devices", "alice", "--json"] + node)
                try #require(answer.status == 0, "\(answer.text)")
                let list = try JSONDecoder().decode(DeviceList.self, from: Data(answer.text.utf8))
                return list.devices.allSatisfy { $0.permission == "granted" } ? list.devices : nil
            }
            #expect(list.count == 2)
            #expect(Set(list.compactMap(\.handle)) == Set(tokens.map { String($0.prefix(6)) }))
            #expect(list.allSatisfy { $0.user == "alice" && $0.locale == "en" && $0.topic == Settings.demoTopic })
            let table = try await Self.clarion(["user", "devices", "alice"] + node)
            let lines = table.text.split(separator: "\n")
            #expect(table.status == 0 && lines.count == 3, "\(table.text)")
            #expect(lines.first?.contains("PERMISSION") == true)
            for device in list {
                let line = try #require(lines.first { $0.contains(device.id) }, "\(table.text)")
                #expect(line.contains(device.handle ?? "none"))
                #expect(line.contains("granted"))
                #expect(line.contains("1.0"))
            }
            for token in tokens { #expect(!table.text.contains(token)) }
            try await stage.phone(2).perform(.signOut)
            _ = try await eventually("the phone that signed out is gone") {
                let answer = try await Self.clarion(["user", "devices", "alice"] + node)
                return answer.text.split(separator: "\n").count == 2 ? true : nil
            }
        }
    }

    @Test("an unknown user is an error that says so")
    func unknown() async throws {
        try await Stage.open { stage in
            let answer = try await Self.clarion(["user", "devices", "nobody", "--data-directory", stage.serverDirectory])
            #expect(answer.status == 1 && answer.text.contains("there is no user of this name"), "\(answer.text)")
        }
    }

    @Test(
        "an overlap of keys beyond a week is a usage error that says so, however large",
        arguments: ["169", "9223372036854775807"])
    func overlap(_ hours: String) async throws {
        let answer = try await Self.clarion(["key", "roll", "1", "--overlap-hours", hours])
        #expect(answer.status == 64)
        #expect(answer.text.contains("--overlap-hours: from 0 to 168"), "\(answer.text)")
    }

    private struct Minted: Decodable {
        var token: String
        var expiresAt: Timestamp
    }

    @Test(
        "a token that is minted with a key signs an installation of its user in, and a key without the scope is refused with 77")
    func token() async throws {
        try await Stage.open { stage in
            let node = ["--data-directory", stage.serverDirectory]
            func environment(_ name: String, _ scope: String) async throws -> [String: String] {
                let answer = try await Self.clarion(["key", "create", name, "--scope", scope, "--json"] + node)
                try #require(answer.status == 0, "\(answer.text)")
                let key = try #require(answer.text.firstMatch(of: #/"key" : "([^"]+)"/#)).1
                return ["CLARION_KEY": String(key), "CLARION_SERVER_URL": stage.address]
            }
            let arguments = ["token", "zoe", "--tag", "gold", "--json"]
            let answer = try await Self.clarion(arguments, environment("app", "sign-in"))
            try #require(answer.status == 0, "\(answer.text)")
            let minted = try JSONDecoder().decode(Minted.self, from: Data(answer.text.utf8))
            var phone = stage.caller("zoe")
            phone.installationCredential = minted.token
            let update = InstallationUpdate(handle: String(repeating: "AB", count: 32))
            let installation = try await phone.call("PUT", "/api/v1/installations/new-phone", json: update)
            #expect(installation.status == 200, "\(installation.body)")
            let refused = try await Self.clarion(arguments, environment("sender", "send"))
            #expect(refused.status == 77, "\(refused.text)")
            #expect(!refused.text.contains("clk_"))
        }
    }
}
