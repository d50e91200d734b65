import Foundation
import RichPushModel
import Testing

@testable import SharedAccess

/// The signatures that real clients sent, at the moment and for the address they were sent.
@Suite struct RecordedSignatureTests {
    private struct Recording: Decodable {
        var time: Date
        var target: String
        var headers: [[String]]

        func header(_ name: String) -> String? { headers.first { $0.first == name }?.last }
    }

    private static func recordings(_ client: String) throws -> [Recording] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = folder.appending(path: "HubHTTPAPITests/Recordings/azure-\(client).jsonl")
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
            try decoder.decode(Recording.self, from: Data($0.utf8))
        }
    }

    @Test(
        "every recorded request is admitted, and none of them at another hub, elsewhere or a day later",
        arguments: ["go", "php", "python", "ruby"])
    func admitted(_ client: String) throws {
        let recordings = try Self.recordings(client)
        #expect(recordings.count > 5)
        for recording in recordings {
            let header = try #require(recording.header("authorization"))
            let host = try #require(recording.header("host"))
            let now = Timestamp(seconds: Int64(recording.time.timeIntervalSince1970))
            func fault(host: String, path: String, now: Timestamp) -> SharedAccessFault? {
                SignatureSamples.fault(SignatureSamples.verify(header, hosts: [host], path: path, now: now))
            }
            #expect(fault(host: host, path: recording.target, now: now) == nil, "\(recording.target)")
            #expect(fault(host: "push.example.test", path: recording.target, now: now) == .invalidAudience)
            #expect(fault(host: host, path: recording.target, now: now + .seconds(86_400)) == .expiredToken)
            if header.contains("%2fhub-\(client)") {
                #expect(fault(host: host, path: "/hub-\(client)2/messages", now: now) == .invalidAudience)
            }
        }
    }
}
