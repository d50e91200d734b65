import Foundation
import Testing

/// `clarion serve` as a process of its own, so that it can be killed.
final class ServerProcess {
    /// How a test names the server's settings.
    struct Options {
        var dataDirectory: String
        var apnsPort: Int
        var signingKeyPath: String
        var trustRootsPath: String
    }

    private let process = Process()
    private let output = Pipe()
    /// Where it answers, for example `http://127.0.0.1:40001`.
    private(set) var address = ""

    /// Starts the server and returns once it answers `/readyz`; throws with what it printed when it does not.
    init(_ options: Options) async throws {
        process.executableURL = Self.program
        process.arguments = ["serve"]
        process.environment = [
            "CLARION_DATA_DIRECTORY": options.dataDirectory, "CLARION_LISTEN_PORT": "0", "CLARION_APNS_ENVIRONMENT": "sandbox",
            "CLARION_APNS_HOST": "127.0.0.1", "CLARION_APNS_PORT": String(options.apnsPort),
            "CLARION_APNS_TRUST_ROOTS_PATH": options.trustRootsPath, "CLARION_APNS_KEY_PATH": options.signingKeyPath,
            "CLARION_APNS_KEY_ID": "LOCALKEY00", "CLARION_APNS_TEAM_ID": "LOCALTEAM0", "CLARION_APNS_TOPIC": "org.example.app",
            "CLARION_LOG_LEVEL": "warning",
        ]
        process.standardOutput = output
        process.standardError = FileHandle.standardError
        try process.run()
        address = try await readAddress()
    }

    /// The number by which it can be killed.
    var processID: Int32 { process.processIdentifier }

    /// Returns when the process is gone.
    func waitUntilGone() { process.waitUntilExit() }

    /// SIGTERM, and returns the exit status.
    func terminate() -> Int32 {
        process.terminate()
        process.waitUntilExit()
        return process.terminationStatus
    }

    deinit { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }

    /// The line that `serve` prints once requests are answered.
    private func readAddress() async throws -> String {
        let handle = output.fileHandleForReading
        var text = ""
        while true {
            let data = await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: handle.availableData) }
            }
            text += String(decoding: data, as: UTF8.self)
            if let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Listening on ") }), text.contains("\n") {
                return String(line.dropFirst("Listening on ".count))
            }
            try #require(!data.isEmpty, "the server ended before it listened")
        }
    }

    /// The program that was built with these tests.
    static let program = Bundle.main.bundleURL.deletingLastPathComponent().appending(path: "clarion").resolved()
}

extension URL {
    /// The test runner lies beside the program, or in a bundle beside it.
    fileprivate func resolved() -> URL {
        if FileManager.default.isExecutableFile(atPath: path) { return self }
        let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        return folder.appending(path: "clarion")
    }
}
