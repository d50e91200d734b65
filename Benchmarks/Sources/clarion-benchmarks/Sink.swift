import Foundation

/// The sink, running on the second core.
final class Sink {
    /// What the sink counted since it started.
    struct Totals: Decodable {
        var requests: Int
        /// On the socket, TLS included.
        var bytesIn: Int
        var bytesOut: Int
        var peak: Int
        var opened: Int
        /// Connections that sent more than the window allowed.
        var overruns: Int
        /// Requests with a body of the size that `--marked-body` says, and when the last of them came, in microseconds since 1970.
        var marked: Int
        var lastMarked: Int
        /// Requests for the device tokens of `--devices`, and how many of these tokens got one.
        var toDevices: Int
        var devices: Int
    }

    private let process = Process()
    private let commands = Pipe()
    private let answers = Pipe()
    let port: Int
    /// The certificate that clients must trust.
    let certificate: String

    init(program: String, folder: URL, _ arguments: [String] = []) throws {
        certificate = folder.appending(path: "sink.pem").path
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = CommandRun.pinned(to: 1, [program, "--certificate", certificate] + arguments)
        process.standardInput = commands
        process.standardOutput = answers
        try process.run()
        guard let port = Int(try Self.line(from: answers)) else { throw CommandRun.Fault("the sink did not say its port") }
        self.port = port
    }

    func totals() throws -> Totals { try totals(after: "stats") }

    /// Closes all connections and refuses new ones.
    func goAway() throws { _ = try totals(after: "away") }

    /// Listens again on the same port.
    func comeBack() throws { _ = try totals(after: "back") }

    private func totals(after command: String) throws -> Totals {
        try commands.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
        return try JSONDecoder().decode(Totals.self, from: Data(try Self.line(from: answers).utf8))
    }

    func stop() {
        try? commands.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    private static func line(from pipe: Pipe) throws -> String {
        var line: [UInt8] = []
        while let byte = try pipe.fileHandleForReading.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") { line.append(byte) }
        return String(decoding: line, as: UTF8.self)
    }
}
