import Foundation
import Synchronization

/// An S3 store in memory for tests, processes of its own that check every signature; all tests of a run share it. Each test uses a
/// bucket of its own. Which store it is says `TEST_STORE`, see `Kind`.
///
/// A machine without it makes the test fail, it does not skip it: `scripts/install-dependencies test` installs it. It ends with the
/// process of the tests.
public struct ThrowAwayS3: Decodable, Sendable {
    /// Why there is no store.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// A key, and the token of one that was lent.
    public struct Key: Decodable, Sendable {
        public let id: String
        public let secret: String
        public let token: String?
    }

    /// The keys by what they may do.
    public struct Keys: Decodable, Sendable {
        /// Everything.
        public let all: Key
        /// Nothing but lists.
        public let listing: Key
        /// Everything, with a session token.
        public let lent: Key
    }

    /// The port at 127.0.0.1 without TLS.
    public let plain: Int
    /// The port with TLS.
    public let secure: Int
    /// The file of the certificate that vouches for the port with TLS.
    public let authority: String
    public let keys: Keys

    private static let shared = Mutex<Task<ThrowAwayS3, any Error>?>(nil)

    /// The store, started by the first caller.
    public static func running() async throws -> ThrowAwayS3 {
        let task = shared.withLock { shared in
            let task = shared ?? Task { try await start() }
            shared = task
            return task
        }
        return try await task.value
    }

    private static func start() async throws -> ThrowAwayS3 {
        let kind = try Kind.chosen()
        let server = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
        let python = server + "/.build/content-store/bin/python"
        guard FileManager.default.isExecutableFile(atPath: python) else {
            throw Failure(description: "the S3 store of the tests is missing; run scripts/install-dependencies test")
        }
        let folder = NSTemporaryDirectory() + "clarion-s3-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // If the store asked for its parent itself, it could do so after the tests have ended, and would never stop.
        let tests = "\(ProcessInfo.processInfo.processIdentifier)"
        var command = ChildProcess.Command(
            python, [server + "/Tests/ContentStore/\(kind.program)", folder, tests], output: folder + "/output")
        command.capturesErrors = false
        let process = try ChildProcess(command)
        for _ in 1...2400 {
            let isRunning = process.isRunning
            if let text = try? Data(contentsOf: URL(fileURLWithPath: folder + "/output")), text.last == UInt8(ascii: "\n") {
                return try read(text)
            }
            guard isRunning else { break }
            try await Task.sleep(for: .milliseconds(50))
        }
        process.signal(SIGTERM)
        throw Failure(description: "the S3 store of the tests (\(kind)) did not start")
    }

    private static func read(_ text: Data) throws -> ThrowAwayS3 {
        struct Refusal: Decodable { let failure: String }
        if let refusal = try? JSONDecoder().decode(Refusal.self, from: text) {
            throw Failure(description: "the S3 store of the tests did not start: \(refusal.failure)")
        }
        return try JSONDecoder().decode(ThrowAwayS3.self, from: text)
    }
}
