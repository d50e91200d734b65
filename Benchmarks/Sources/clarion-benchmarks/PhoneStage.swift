import Foundation

/// A local APNs, a server and a phone in a terminal, each a process.
final class PhoneStage {
    /// What the phone reported of a push.
    struct Push {
        var milliseconds: Double
        /// In MiB.
        var own: Double
        var resident: Double
    }

    private let program: String
    private let story: URL
    private let environment: [String: String]
    private var running: [Process] = []
    private let input = Pipe()
    private var count = 0

    init(program: String, folder: URL, topic: String, password: String) throws {
        self.program = program
        story = folder.appending(path: "story.jsonl")
        let (apns, admin, port) = (
            try LoopbackSocket.freePort(), try LoopbackSocket.freePort(), try LoopbackSocket.freePort()
        )
        let authority = folder.appending(path: "apns").path()
        environment = [
            "CLARION_DATA_DIRECTORY": folder.appending(path: "data").path(), "CLARION_APNS_ENVIRONMENT": "sandbox",
            "CLARION_APNS_HOST": "127.0.0.1", "CLARION_APNS_PORT": "\(apns)", "CLARION_APNS_TOPIC": topic,
            "CLARION_APNS_TRUST_ROOTS_PATH": authority + "/authority.pem", "CLARION_LOG_LEVEL": "warning",
            "CLARION_APNS_KEY_PATH": authority + "/AuthKey_LOCALKEY00.p8", "CLARION_APNS_KEY_ID": "LOCALKEY00",
            "CLARION_APNS_TEAM_ID": "LOCALTEAM0", "CLARION_USER": "alice", "CLARION_PASSWORD": password,
            "CLARION_SERVER_URL": "http://127.0.0.1:\(port)",
        ]
        do {
            try start([
                "emulator", "--port", "\(apns)", "--management-port", "0", "--admin-port", "\(admin)", "--directory", authority,
            ])
            try wait("the local APNs") { LoopbackSocket.answers(port: admin, path: "/deliveries") }
            guard LoopbackSocket.put(port: admin, path: "/apps/" + topic, json: #"{"teamId":"LOCALTEAM0"}"#) else {
                throw ServeBenchmark.Fault(description: "the local APNs takes no app")
            }
            try CommandRun.begin(program, data: folder.appending(path: "data").path())
            let text = Pipe()
            text.fileHandleForWriting.write(Data((password + "\n").utf8))
            try start(["user", "add", "alice"], input: text).waitUntilExit()
            try start(["serve", "--listen-port", "\(port)"])
            try wait("the server") { LoopbackSocket.answers(port: port, path: "/readyz") }
            try start(
                [
                    "phone", "--apns", "http://127.0.0.1:\(admin)", "--topic", topic, "--directory",
                    folder.appending(path: "phone").path(), "--log", story.path(),
                ], input: input)
            input.fileHandleForWriting.write(Data("home\n".utf8))
            // Signed in, and at home.
            Thread.sleep(forTimeInterval: 2)
        } catch {
            stop()
            throw error
        }
    }

    @discardableResult
    private func start(_ arguments: [String], input: Pipe? = nil) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardInput = input ?? FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.environment = environment.merging(["PATH": "/usr/bin:/bin"]) { own, _ in own }
        try process.run()
        running.append(process)
        return process
    }

    /// Sends a picture and returns what the phone reported of its push.
    func push(_ picture: String) throws -> Push {
        count += 1
        let sending = try start(["send", "--message", "push \(count)", "--picture", picture])
        sending.waitUntilExit()
        guard sending.terminationStatus == 0 else { throw ServeBenchmark.Fault(description: "the push was not sent") }
        var found: Push?
        try wait("the push on the phone") {
            found = newestPush()
            return found != nil
        }
        guard let found else { throw ServeBenchmark.Fault(description: "the phone reports no push") }
        return found
    }

    private struct Step: Decodable {
        var at: Double
        var title: String
        var push: String?
        var detail: [String: String]
    }

    /// The newest push, when as many as were sent have been shown.
    private func newestPush() -> Push? {
        let lines = ((try? String(contentsOf: story, encoding: .utf8)) ?? "").split(separator: "\n")
        let steps = lines.compactMap { try? JSONDecoder().decode(Step.self, from: Data($0.utf8)) }
        let shown = steps.filter { $0.title == "The phone shows the notification" }
        guard shown.count == count, let last = shown.last else { return nil }
        let own = steps.filter { $0.push == last.push }
        guard let arrived = own.first(where: { $0.title == "The push reached the phone" }),
            let end = own.first(where: { $0.detail["extension"] == "answered" })
        else { return nil }
        let mebibytes = { (name: String) in (end.detail[name].flatMap(Double.init) ?? .infinity) / 1_048_576 }
        return Push(
            milliseconds: last.at - arrived.at, own: mebibytes("grown-bytes"), resident: mebibytes("grown-resident-bytes"))
    }

    private func wait(_ what: String, until isSo: () -> Bool) throws {
        let begin = ContinuousClock.now
        while !isSo() {
            guard ContinuousClock.now - begin < .seconds(30) else {
                throw ServeBenchmark.Fault(description: "\(what) does not come")
            }
            usleep(20_000)
        }
    }

    func stop() {
        try? input.fileHandleForWriting.close()
        for process in running.reversed() where process.isRunning {
            process.terminate()
            process.waitUntilExit()
        }
    }
}
