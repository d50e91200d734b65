import ClarionTesting
import Foundation

/// What an independent decoder found in recorded traffic.
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

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    var requests: [Message]
    var answers: [Message]
    var frames: [Frame]
    /// What broke HTTP/2, by the decoders' judgement.
    var violations: [String]

    /// Decodes what a tunnel recorded, with the system's `python3` and Debian's `python3-h2`.
    static func decode(_ recording: [UInt8]) async throws -> RecordedTraffic {
        let base = NSTemporaryDirectory() + "clarion-traffic-" + UUID().uuidString
        defer { for end in [".bytes", ".json"] { try? FileManager.default.removeItem(atPath: base + end) } }
        try Data(recording).write(to: URL(fileURLWithPath: base + ".bytes"))
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("decode.py").path
        let status = try await ChildProcess(.init("/usr/bin/python3", [script, base + ".bytes"], output: base + ".json"))
            .exitStatus()
        let output = try Data(contentsOf: URL(fileURLWithPath: base + ".json"))
        guard status == 0 else { throw Failure(description: String(decoding: output, as: UTF8.self)) }
        return try JSONDecoder().decode(RecordedTraffic.self, from: output)
    }
}
