import AppBackend
import ClarionTesting
import DeviceSimulation
import Foundation
import RichPushModel
import Testing

@testable import ServerOperations
@testable import ServerSettings
@testable import ServerStorage

/// `clarion serve`, `clarion emulator` and `clarion phone`, each a program of its own.
struct TerminalPhoneTests {
    private static let topic = "org.example.app"

    private struct Machinery: Sendable {
        var folder: String
        var server: String
        var apns: String
    }

    /// Runs the body with a server that pushes to a local APNs, the users alice and bob, and the administrator root.
    private static func use(_ body: @Sendable (Machinery) async throws -> Void) async throws {
        try await TemporaryFolder.use { folder in
            let arguments = [
                "emulator", "--port", "0", "--management-port", "0", "--admin-port", "0", "--directory", folder + "/apns",
            ]
            let emulator = try ChildProcess(.init(ServerProcess.program, arguments, output: folder + "/emulator.log"))
            defer { emulator.signal(SIGKILL) }
            let apnsPort = try await port(behind: "on https://127.0.0.1:", in: folder + "/emulator.log")
            let admin = "http://127.0.0.1:\(try await port(behind: "http://127.0.0.1:", in: folder + "/emulator.log"))"
            let options = ServerProcess.Options(
                dataDirectory: folder + "/data", apnsPort: apnsPort, signingKeyPath: folder + "/apns/AuthKey_LOCALKEY00.p8",
                trustRootsPath: folder + "/apns/authority.pem")
            try FileManager.default.createDirectory(atPath: folder + "/data", withIntermediateDirectories: true)
            let users = UserAdministration(settings: try options.settings())
            try await NodeStorage.during(command: try options.settings(), mayBegin: true) { _ in }
            for (name, role) in [("alice", UserRole.user), ("bob", .user), ("root", .admin)] {
                try await users.add(try #require(UserName(name)), password: SecretText("correct horse battery"), role: role)
            }
            let server = try await ServerProcess(options)
            try await body(Machinery(folder: folder, server: server.address, apns: admin))
            server.kill()
            await server.waitUntilGone()
        }
    }

    private static func port(behind words: String, in path: String) async throws -> Int {
        try await eventually("a port behind '\(words)'") {
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            guard let range = text.range(of: words) else { return nil }
            let rest = text[range.upperBound...]
            guard let end = rest.firstIndex(where: { !$0.isNumber }) else { return nil }
            return Int(rest[..<end])
        }
    }

    /// Runs `clarion phone` with commands as its input: a pipe that stays open, as a keyboard does.
    private static func phone(
        _ machinery: Machinery, _ commands: [String], _ more: [String] = [], user: String? = "alice",
        password: String = "correct horse battery"
    ) throws -> (process: ChildProcess, output: String) {
        let name = "\(machinery.folder)/phone-\(UUID().uuidString)"
        try #require(mkfifo(name + ".txt", 0o600) == 0)
        // Open for both, so that neither side waits for the other; what is written fits into the pipe.
        let pipe = open(name + ".txt", O_RDWR)
        try #require(pipe >= 0)
        let input = Array((commands.joined(separator: "\n") + "\n").utf8)
        try #require(write(pipe, input, input.count) == input.count)
        let arguments = [
            "-c", "exec \"$@\" < '\(name).txt'", "sh", ServerProcess.program, "phone", "--server", machinery.server,
            "--apns", machinery.apns, "--topic", topic, "--directory", machinery.folder + "/phone",
        ]
        let who = user.map { ["--user", $0] } ?? []
        var command = ChildProcess.Command("/bin/sh", arguments + who + more, output: name + ".log")
        command.environment = ["CLARION_PASSWORD": password, "PATH": "/usr/bin:/bin"]
        return (try ChildProcess(command), name + ".log")
    }

    private static func register(_ machinery: Machinery) async throws {
        let caller = APIClient(address: machinery.apns, user: "", password: "")
        let answer = try await caller.call("PUT", "/apps/" + topic, json: ["teamId": "LOCALTEAM0"])
        try #require(answer.status == 204)
    }

    private static func read(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }

    @Test("it signs in with the token in a file, without a name or a password")
    func token() async throws {
        try await Self.use { machinery in
            try await Self.register(machinery)
            let root = APIClient(address: machinery.server, user: "root", password: "correct horse battery")
            let answer = try await root.call("POST", "/api/v1/sign-in-tokens", json: ["user": "carol"])
            let token = try answer.decoded(SignInTokenAnswer.self).token
            let file = machinery.folder + "/token"
            try (token + "\n").write(toFile: file, atomically: true, encoding: .utf8)
            let (first, output) = try Self.phone(machinery, ["show", "quit"], ["--token-path", file], user: nil)
            defer { first.signal(SIGKILL) }
            let status = try await eventually("the phone ends") { first.isRunning ? nil : await first.exitStatus() }
            #expect(status == 0, "\(Self.read(output))")
            #expect(Self.read(output).contains("user carol,"))
            #expect(!Self.read(output).contains(token))
            let elsewhere = ["--token-path", file, "--directory", machinery.folder + "/other"]
            let (second, refusal) = try Self.phone(machinery, ["quit"], elsewhere, user: nil)
            defer { second.signal(SIGKILL) }
            let end = try await eventually("the phone ends") { second.isRunning ? nil : await second.exitStatus() }
            #expect(end == 77, "\(Self.read(refusal))")
        }
    }

    @Test("it shows a push with its story, obeys what is typed, and says what it cannot do")
    func story() async throws {
        try await Self.use { machinery in
            try await Self.register(machinery)
            let commands = ["home", "wait", "open 99", "fly", "open", "show", "inbox", "lock", "open", "quit"]
            let (process, output) = try Self.phone(machinery, commands, ["--json"])
            defer { process.signal(SIGKILL) }
            _ = try await eventually("the phone is at home") {
                Self.read(output).contains(#""command":"home""#) ? true : nil
            }
            let alice = APIClient(address: machinery.server, user: "alice", password: "correct horse battery")
            let id = try await alice.send(Picture.random(side: 32), message: "Hello, terminal")
            let status = try await eventually("the phone ends") { process.isRunning ? nil : await process.exitStatus() }
            #expect(status == 0, "\(Self.read(output))")
            let lines = try Self.read(output).split(separator: "\n").map { line in
                try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
            }
            let steps = lines.compactMap { ($0["story"] as? [String: Any])?["step"] as? String }
            for step in ["delivered", "woken", "fetched", "shown", "opened"] { #expect(steps.contains(step), "\(step)") }
            let errors = lines.compactMap { line in
                (line["error"] as? String).map { (line["command"] as? String ?? "") + ": " + $0 }
            }
            #expect(errors.count == 3)
            #expect(errors.first == "open 99: there is no notification 99")
            let snapshots = lines.compactMap { $0["snapshot"] as? [String: Any] }
            let contents = snapshots.compactMap { $0["content"] as? [String: Any] }
            #expect(contents.contains { $0["state"] as? String == "ready" && $0["richId"] as? String == "\(id)" })
            #expect(!Self.read(output).contains("correct horse"))
        }
    }

    @Test("a phone whose app was removed says so at its next start, and obeys the order to install it")
    func removed() async throws {
        try await Self.use { machinery in
            try await Self.register(machinery)
            var text = ""
            for commands in [["remove", "quit"], ["install", "app", "sign-in", "show", "quit"]] {
                let (process, output) = try Self.phone(machinery, commands)
                defer { process.signal(SIGKILL) }
                let status = try await eventually("the phone ends") { process.isRunning ? nil : await process.exitStatus() }
                text = Self.read(output)
                #expect(status == 0, "\(text)")
            }
            #expect(text.contains("the app is not on this phone; type install"), "\(text)")
            #expect(text.contains("app active") && !text.contains("refused"), "\(text)")
        }
    }

    @Test("a phone that died by kill -9 still has what was delivered, and opens it")
    func killed() async throws {
        try await Self.use { machinery in
            try await Self.register(machinery)
            let (first, before) = try Self.phone(machinery, ["home", "show", "wait"])
            _ = try await eventually("the phone is at home") { Self.read(before).contains("app background") ? true : nil }
            let alice = APIClient(address: machinery.server, user: "alice", password: "correct horse battery")
            let id = try await alice.send(Picture.random(side: 32), message: "Hello, terminal")
            _ = try await eventually("it is shown") { Self.read(before).contains("NOTIFICATION \(id)") ? true : nil }
            first.signal(SIGKILL)
            _ = await first.exitStatus()
            let (second, after) = try Self.phone(machinery, ["show", "open \(id)", "quit"])
            let status = try await eventually("the phone ends") { second.isRunning ? nil : await second.exitStatus() }
            let text = Self.read(after)
            #expect(status == 0 && text.contains("STILL THERE \(id)") && !text.contains("NOTIFICATION \(id)"), "\(text)")
            #expect(text.contains("CONTENT \(id) ready"), "\(text)")
        }
    }

    @Test("a folder is one phone's: a second is refused while the first runs, and says how to go on")
    func occupied() async throws {
        try await Self.use { machinery in
            try await Self.register(machinery)
            let (first, output) = try Self.phone(machinery, ["show"])
            defer { first.signal(SIGKILL) }
            _ = try await eventually("the first phone runs") { Self.read(output).contains("user alice, app active") ? true : nil }
            let second = try Self.phone(machinery, ["quit"], user: "bob")
            defer { second.process.signal(SIGKILL) }
            let status = try await eventually("the second ends") {
                second.process.isRunning ? nil : await second.process.exitStatus()
            }
            let text = Self.read(second.output)
            #expect(status == 73 && text.contains("is in use by another `clarion phone`") && text.contains("--device"), "\(text)")
            let alice = APIClient(address: machinery.server, user: "alice", password: "correct horse battery")
            _ = try await alice.send(Picture.random(side: 32), message: "Still hers")
            _ = try await eventually("the first still hears") { Self.read(output).contains("Still hers") ? true : nil }
        }
    }

    @Test("a phone of another user says nothing of what is left of the one before")
    func another() async throws {
        try await Self.use { machinery in
            try await Self.register(machinery)
            let (first, before) = try Self.phone(machinery, ["home", "show", "wait", "quit"])
            defer { first.signal(SIGKILL) }
            _ = try await eventually("the phone is at home") { Self.read(before).contains("app background") ? true : nil }
            let alice = APIClient(address: machinery.server, user: "alice", password: "correct horse battery")
            _ = try await alice.send(Picture.random(side: 32), message: "For alice alone")
            let ended = try await eventually("the first phone ends") { first.isRunning ? nil : await first.exitStatus() }
            #expect(ended == 0 && Self.read(before).contains("For alice alone"), "\(Self.read(before))")
            for more in [["--json"], []] {
                let (second, after) = try Self.phone(machinery, ["show", "quit"], more, user: "bob")
                let status = try await eventually("the second ends") { second.isRunning ? nil : await second.exitStatus() }
                let text = Self.read(after)
                #expect(status == 0 && text.contains(more.isEmpty ? "user bob, app active" : #""user":"bob""#), "\(text)")
                #expect(!text.contains("For alice alone") && !text.contains("STILL THERE"), "\(text)")
            }
        }
    }

    @Test("a phone that is switched on again is still signed in, keeps its inbox, and prints for users too")
    func again() async throws {
        try await Self.use { machinery in
            try await Self.register(machinery)
            for round in 1...2 {
                let (process, output) = try Self.phone(machinery, ["show", "help", "quit"])
                let status = try await eventually("phone \(round) ends") { process.isRunning ? nil : await process.exitStatus() }
                #expect(status == 0)
                #expect(Self.read(output).contains("user alice, app active"), "\(Self.read(output))")
                #expect(Self.read(output).contains("low-power"))
            }
        }
    }

    @Test("what is wrong at the start is said in a sentence, with an exit status for scripts")
    func faults() async throws {
        try await Self.use { machinery in
            let unknown = try Self.phone(machinery, ["quit"])
            #expect(await unknown.process.exitStatus() == 1)
            #expect(Self.read(unknown.output).contains("no app of this bundle id is known"))
            try await Self.register(machinery)
            let wrong = try Self.phone(machinery, ["quit"], password: "wrong")
            #expect(await wrong.process.exitStatus() == 77)
            #expect(Self.read(wrong.output).contains("User name and password do not match."))
            var nowhere = machinery
            nowhere.apns = "http://127.0.0.1:9"
            let lost = try Self.phone(nowhere, ["quit"])
            #expect(await lost.process.exitStatus() == 69)
            #expect(Self.read(lost.output).contains("is `clarion emulator` running?"))
            nowhere = machinery
            nowhere.server = "http://127.0.0.1:9"
            let down = try Self.phone(nowhere, ["quit"])
            #expect(await down.process.exitStatus() == 69)
            #expect(Self.read(down.output).contains("The server cannot be reached."))
            let bad = try Self.phone(machinery, ["quit"], ["--device", "no name"])
            #expect(await bad.process.exitStatus() == 64)
        }
    }
}
