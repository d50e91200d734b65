import Foundation

/// The built program on a hub of many devices, on core 0 unless it says otherwise, sending to the sink.
struct RunningNode {
    let program: String
    let server: ServerProcess
    let port: UInt16
    /// What clients of the hub need.
    let connection: String

    /// Ready when this returns.
    init(program: String, data: URL, settings: [String: String], sink: Sink, key: URL, isPinned: Bool = true) throws {
        self.program = program
        port = try LoopbackSocket.freePort()
        let arguments = [
            program, "serve", "--listen-port", "\(port)", "--log-level", "warning", "--data-directory", data.path,
            "--apns-host", "127.0.0.1", "--apns-port", "\(sink.port)", "--apns-trust-roots-path", sink.certificate,
            "--apns-environment", "sandbox", "--apns-key-path", key.path, "--apns-key-id", "BENCHKEY00",
            "--apns-team-id", "BENCHTEAM0", "--apns-topic", "com.example.app",
        ]
        server = try ServerProcess(
            program: "/usr/bin/env", arguments: isPinned ? CommandRun.pinned(to: 0, arguments) : arguments,
            environment: settings)
        for _ in 0..<5_000 where !LoopbackSocket.answers(port: port, path: "/readyz") { usleep(2_000) }
        do {
            guard LoopbackSocket.answers(port: port, path: "/readyz") else { throw CommandRun.Fault("the server is not ready") }
            connection = try CommandRun.client(
                [
                    program, "hub", "connection-string", "bench", "--host", "127.0.0.1:\(port)", "--plain-http",
                    "--data-directory", data.path,
                ],
                environment: settings
            ).output.trimmingCharacters(in: .whitespacesAndNewlines)
        } catch {
            server.stop()
            throw error
        }
    }

    /// The command that sends a message to everyone and waits for the last count; the connection string is in its environment.
    func sendToEveryone(_ message: String) -> (command: [String], environment: [String: String]) {
        send(message, to: ["--everyone"])
    }

    /// The same to whatever the words of an audience say.
    func send(_ message: String, to audience: [String]) -> (command: [String], environment: [String: String]) {
        (
            [program, "send", "--hub", "-", "--hub-name", "bench"] + audience + ["--wait", "--message", message],
            ["CLARION_HUB": connection]
        )
    }
}
