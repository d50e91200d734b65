import ClarionTesting
import Foundation

/// What independent decoders found in recorded traffic.
struct RecordedTraffic: Decodable {
    struct Message: Decodable {
        var stream: Int
        var fields: [[String]]
        /// The length of the header block; of requests only.
        var block: Int?
        var body: Int?
        /// How many answers the tunnel had seen when the request passed; of requests only.
        var answersBefore: Int?
        var isComplete: Bool

        func value(_ name: String) -> String? { fields.first { $0.first == name }?.last }
    }

    struct Frame: Decodable {
        var side: String
        var kind: String
        var stream: Int
        var length: Int
    }

    struct Settings: Decodable {
        var side: String
        var isAcknowledgement: Bool
        /// By identifier (RFC 9113, 6.5.2).
        var values: [Int: Int]
    }

    struct GoAway: Decodable, Equatable {
        var side: String
        var last: Int
        var code: Int
        var debug: String
    }

    struct Reset: Decodable, Equatable {
        var side: String
        var stream: Int
        var code: Int
    }

    struct Ping: Decodable {
        var side: String
        var isAcknowledgement: Bool
        var value: String
    }

    struct Credit: Decodable {
        var side: String
        var stream: Int
        var increment: Int
    }

    struct Connection: Decodable {
        var requests: [Message]
        var answers: [Message]
        var frames: [Frame]
        var settings: [Settings]
        var goAways: [GoAway]
        var resets: [Reset]
        var pings: [Ping]
        var credits: [Credit]
        /// The most streams that were open at a time.
        var mostOpen: Int
        /// What broke HTTP/2, by the decoders' judgement.
        var violations: [String]
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// In the order in which they were made.
    var connections: [Connection]

    var requests: [Message] { connections.flatMap(\.requests) }
    var answers: [Message] { connections.flatMap(\.answers) }
    var frames: [Frame] { connections.flatMap(\.frames) }
    var violations: [String] { connections.flatMap(\.violations) }

    /// Decodes what a tunnel recorded, with the system's `python3` and Debian's `python3-h2`.
    static func decode(_ tape: TunnelTape) async throws -> RecordedTraffic {
        let base = NSTemporaryDirectory() + "clarion-traffic-" + UUID().uuidString
        defer { for end in [".bytes", ".json"] { try? FileManager.default.removeItem(atPath: base + end) } }
        try Data(tape.bytes).write(to: URL(fileURLWithPath: base + ".bytes"))
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("decode.py").path
        let status = try await ChildProcess(.init("/usr/bin/python3", [script, base + ".bytes"], output: base + ".json"))
            .exitStatus()
        let output = try Data(contentsOf: URL(fileURLWithPath: base + ".json"))
        guard status == 0 else { throw Failure(description: String(decoding: output, as: UTF8.self)) }
        return try JSONDecoder().decode(RecordedTraffic.self, from: output)
    }
}
