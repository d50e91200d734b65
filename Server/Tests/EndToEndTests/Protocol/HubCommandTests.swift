import ClarionTesting
import Foundation
import Testing
import WebPushProtocol

/// `clarion hub …`, as an operator types it.
struct HubCommandTests {
    @Test(
        "what clients reach a hub at is a host with or without a port, never more",
        arguments: [["connection-string"], ["container"]],
        ["127.0.0.1/x", "https://push.example.com", "push.example.com:", "push.example.com:70000", "a b", ""])
    func host(command: [String], host: String) async throws {
        try await TemporaryFolder.use { folder in
            let output = folder + "/output"
            let arguments = ["hub"] + command + ["demo", "--host", host, "--data-directory", folder + "/data"]
            let process = try ChildProcess(ChildProcess.Command(ServerProcess.program, arguments, output: output))
            #expect(await process.exitStatus() == 64)
            let text = try String(contentsOfFile: output, encoding: .utf8)
            #expect(text.contains("--host is a name or address with or without a port, and nothing more"))
            #expect(!FileManager.default.fileExists(atPath: folder + "/data"))
        }
    }

    @Test("a service account is set from the file of Firebase's console, and the hub shows which key it has, and not the key")
    func serviceAccount() async throws {
        try await TemporaryFolder.use { folder in
            let place = try await AndroidPlace(in: folder)
            let path = folder + "/firebase.json"
            try place.keyFile.write(toFile: path, atomically: true, encoding: .utf8)
            let file = try #require(try JSONSerialization.jsonObject(with: Data(place.keyFile.utf8)) as? [String: String])
            let server = try await HubServer.start(in: folder, hubs: ["demo"])
            try await server.command(["hub", "set-fcm", "demo", "--key-path", path], environment: place.environment)
            let shown = try await server.command(["hub", "show", "demo"])
            #expect(shown.contains("key \(try #require(file["private_key_id"])) of service account"), "\(shown)")
            #expect(shown.contains(#/browser +none/#), "\(shown)")
            #expect(!shown.contains("PRIVATE KEY"))
            #expect(await server.process.terminate() == 0)
            await place.fcm.shutdown()
        }
    }

    @Test(
        "a file that cannot be read ends a command with 66, and one that holds nothing of use with 65",
        arguments: [
            ["hub", "set-fcm", "demo", "--key-path"], ["hub", "set-apns", "demo", "--certificate-path"],
            [
                "hub", "set-apns", "demo", "--key-id", "KEYKEYKEY0", "--team-id", "TEAMTEAM00", "--topic", "com.example.app",
                "--key-path",
            ],
            ["hub", "set-web-push", "demo", "--subject", "mailto:a@example.com", "--key-path"], ["web-push-key", "--show"],
            ["audit", "verify", "--checkpoint"],
        ],
        [("missing", nil, 66), ("empty", "", 65), ("blank", " \n", 65), ("words", "no key", 65)] as [(String, String?, Int32)])
    func files(command: [String], file: (name: String, content: String?, status: Int32)) async throws {
        try await TemporaryFolder.use { folder in
            let (path, output) = ("\(folder)/\(file.name)", folder + "/output")
            try file.content?.write(toFile: path, atomically: true, encoding: .utf8)
            let node = command[0] == "web-push-key" ? [] : ["--data-directory", folder + "/data"]
            let arguments = command + [path] + node
            let process = try ChildProcess(ChildProcess.Command(ServerProcess.program, arguments, output: output))
            let status = await process.exitStatus()
            let text = try String(contentsOfFile: output, encoding: .utf8)
            #expect(status == file.status, "\(text)")
            #expect(text.hasPrefix("clarion: ") && text.contains(path), "\(text)")
            #expect(text.contains("there is no such file") == (file.content == nil), "\(text)")
            #expect(!text.contains("Usage"), "\(text)")
        }
    }

    @Test(
        "words that fit no credential for APNs are mistakes of the command line, before a file is read",
        arguments: [
            ["--key-id", "KEY", "--team-id", "TEAMTEAM00", "--topic", "com.example.app"],
            ["--key-id", "KEYKEYKEY0", "--team-id", "TEAM-TEAM0", "--topic", "com.example.app"],
            ["--key-id", "KEYKEYKEY0", "--team-id", "TEAMTEAM00", "--topic", "app"],
        ])
    func words(options: [String]) async throws {
        try await TemporaryFolder.use { folder in
            let output = folder + "/output"
            let arguments = ["hub", "set-apns", "demo", "--key-path", folder + "/missing"] + options
            let process = try ChildProcess(ChildProcess.Command(ServerProcess.program, arguments, output: output))
            #expect(await process.exitStatus() == 64)
            #expect(try String(contentsOfFile: output, encoding: .utf8).contains("Usage"))
        }
    }

    @Test("a list of VAPID keys with a word that is none prints no key")
    func secondWord() async throws {
        try await TemporaryFolder.use { folder in
            let (path, output) = (folder + "/keys", folder + "/output")
            let key = VAPIDKey()
            for (word, status) in [("none", Int32(65)), (VAPIDKey().privateText, 0)] {
                try "\(key.privateText)\n\(word)\n".write(toFile: path, atomically: true, encoding: .utf8)
                let arguments = ["web-push-key", "--show", path]
                let process = try ChildProcess(ChildProcess.Command(ServerProcess.program, arguments, output: output))
                #expect(await process.exitStatus() == status)
                let text = try String(contentsOfFile: output, encoding: .utf8)
                #expect(text.contains(key.publicText) == (status == 0), "\(text)")
                #expect(status == 0 || text == "clarion: \(path): word 2 is no key of 43 letters of Base64\n")
            }
        }
    }
}
