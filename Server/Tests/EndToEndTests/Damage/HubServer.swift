import ClarionTesting
import Foundation
import RichPushModel
import SharedAccess
import Testing

@testable import ServerSettings
@testable import ServerStorage

/// `clarion serve` with hubs, as a process of its own, and the keys to it.
struct HubServer: Sendable {
    let process: ServerProcess
    let folder: String
    let port: Int
    let tlsPort: Int
    /// Connection strings by hub; the empty name stands for the rule of all hubs.
    private let keys: [String: String]

    /// `shared` is what nodes have in common: database, bucket, master key.
    static func start(
        in folder: String, hubs: [String], environment: [String: String] = [:], shared: [String: String] = [:]
    ) async throws -> HubServer {
        let settings = try SettingsLoader(
            arguments: [], environment: shared.merging(["CLARION_DATA_DIRECTORY": folder]) { $1 }, path: nil, system: .server
        ).load()
        try await NodeStorage.during(command: settings, mayBegin: true) { _ in }
        for hub in hubs { _ = try await run(["hub", "create", hub], folder, shared) }
        var keys: [String: String] = [:]
        for hub in hubs { keys[hub] = try await key(["hub", "connection-string", hub], folder, shared) }
        keys[""] = try await key(["hub", "connection-string", "--all-hubs"], folder, shared)
        return try await started(in: folder, keys, environment.merging(shared) { $1 })
    }

    /// The same server as a new process, after the old one has ended.
    func restarted(shared: [String: String] = [:]) async throws -> HubServer {
        try await Self.started(in: folder, keys, shared)
    }

    private static func started(
        in folder: String, _ keys: [String: String], _ environment: [String: String]
    ) async throws -> HubServer {
        let own = ["CLARION_TLS_LISTEN_PORT": "0", "CLARION_LOG_LEVEL": "error"]
        let process = try await ServerProcess(
            dataDirectory: folder, environment: own.merging(environment) { _, given in given }, listeners: 2)
        let port = try #require(process.addresses.first { $0.hasPrefix("http:") }.flatMap(Self.port))
        let tlsPort = try #require(process.addresses.first { $0.hasPrefix("https:") }.flatMap(Self.port))
        return HubServer(process: process, folder: folder, port: port, tlsPort: tlsPort, keys: keys)
    }

    /// A token for everything below an address, as half of the clients make them.
    func token(_ hub: String, path: String = "", lifetime: Duration = .seconds(3600)) -> String {
        let name = hub.isEmpty ? "RootManageSharedAccessKey" : AccessRule.fullName
        guard let key = keys[hub].flatMap({ SharedAccessKey($0) }) else { return "" }
        return SharedAccessSigner(ruleName: name, key: key).token(
            audience: "https://127.0.0.1/\(path)", expiresAt: SystemClock().now + lifetime)
    }

    /// The URL of a path on the plain HTTP listener.
    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    private static func port(_ address: String) -> Int? { address.split(separator: ":").last.flatMap { Int($0) } }

    private static func key(_ arguments: [String], _ folder: String, _ shared: [String: String]) async throws -> String {
        let text = try await run(arguments + ["--host", "127.0.0.1"], folder, shared)
        let range = try #require(text.firstRange(of: "SharedAccessKey="))
        return text[range.upperBound...].trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// A link to a new container of a hub.
    func container(_ hub: String) async throws -> String {
        try await command(["hub", "container", hub, "--host", "127.0.0.1:\(port)", "--plain-http"])
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Runs a command of the operator on the data directory, and returns what it prints.
    @discardableResult
    func command(_ arguments: [String], environment: [String: String] = [:]) async throws -> String {
        try await Self.run(arguments, folder, environment)
    }

    private static func run(
        _ arguments: [String], _ folder: String, _ shared: [String: String] = [:]
    ) async throws -> String {
        let output = folder + "/command-\(UUID().uuidString)"
        var command = ChildProcess.Command(
            ServerProcess.program, arguments + ["--data-directory", folder], output: output)
        command.environment = shared
        let process = try ChildProcess(command)
        let status = await process.exitStatus()
        let text = try String(contentsOfFile: output, encoding: .utf8)
        #expect(status == 0, "\(arguments): \(text)")
        return text
    }
}
