import Foundation
import Testing

@testable import HubProtocol

@Suite("Recorded XML of real clients")
struct RecordedXMLTests {
    private struct Recording: Decodable {
        struct Answer: Decodable { var status: Int, body: String? }
        var method: String
        var target: String
        var body: String
        var answer: Answer
    }

    private static func recordings(_ client: String) throws -> [Recording] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let file = folder.appending(path: "HubHTTPAPITests/Recordings/azure-\(client).jsonl")
        let decoder = JSONDecoder()
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
            try decoder.decode(Recording.self, from: Data($0.utf8))
        }
    }

    @Test("every registration that Go and PHP sent is read", arguments: ["go", "php"])
    func registrations(client: String) throws {
        let bodies = try Self.recordings(client).map(\.body).filter { $0.contains("RegistrationDescription") }
        #expect(bodies.count >= 3)
        for body in bodies {
            let description = try RegistrationDescription.read(entry: Array(body.utf8))
            #expect(description.handle.utf8.count >= 64)
            #expect(!description.tags.isEmpty)
            #expect((description.template != nil) == body.contains("<BodyTemplate>"))
        }
    }

    @Test(
        "every answer that a client accepted is read, and written again to the byte", arguments: ["go", "php", "ruby", "python"])
    func answers(client: String) throws {
        for recording in try Self.recordings(client) {
            guard recording.answer.status == 200, let body = recording.answer.body, body.hasPrefix("<entry"),
                body.contains("RegistrationDescription")
            else { continue }
            let content = try AtomContent.entry(Array(body.utf8), limits: .request)
            var writer = XMLWriter()
            try RegistrationDescription(content.element).write(to: &writer, form: .named, omitsSingleHeader: true)
            #expect(body.contains("<content type=\"application/xml\">\(writer.text)</content>"), "\(body)\n\(writer.text)")
        }
    }
}
