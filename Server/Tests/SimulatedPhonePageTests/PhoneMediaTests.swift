import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import RichPushModel
import Testing

@Suite("Media of the page")
final class PhoneMediaTests {
    private let phone = ScriptedPhone()
    private let folder: URL
    private let seven: RichID
    private var harness: PageHarness { PageHarness([phone]) }
    /// More than one chunk.
    private let bytes = Data((0..<700_001).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "phone-media-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        seven = try #require(RichID(number: 7))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func keep(_ mediaType: String = "image/png", named name: String? = nil) async throws {
        let file = folder.appending(path: "content")
        try bytes.write(to: file)
        await phone.keep(file, mediaType, named: name, for: seven)
    }

    @Test("the bytes are those that the phone fetched, and a browser may only show them")
    func whole() async throws {
        try await keep()
        let answer = try await harness.call(.get, "/phone/p1/media/7")
        #expect(answer.status == .ok)
        #expect(Data(answer.body.readableBytesView) == bytes)
        #expect(answer.headers[.contentType] == "image/png")
        #expect(answer.headers[.xContentTypeOptions] == "nosniff")
        #expect(answer.headers[.contentSecurityPolicy]?.contains("sandbox") == true)
        #expect(answer.headers[.contentDisposition] == "attachment")
        #expect(answer.headers[.acceptRanges] == "bytes")
    }

    @Test(
        "what is saved has the sender's name, and no name can break out of the header",
        arguments: [
            ("Boarding pass.pdf", "attachment; filename=\"Boarding pass.pdf\""),
            ("Grüße.pdf", "attachment; filename=\"Gr__e.pdf\"; filename*=UTF-8''Gr%C3%BC%C3%9Fe.pdf"),
            ("../../a\"\r\nX: y.pdf", "attachment; filename=\"a_X: y.pdf\"; filename*=UTF-8''a%22X%3A%20y.pdf"),
        ])
    func names(name: String, header: String) async throws {
        try await keep("application/pdf", named: name)
        let answer = try await harness.call(.get, "/phone/p1/media/7")
        #expect(answer.headers[.contentDisposition] == header)
    }

    @Test("a player gets the part that it asks for", arguments: [(0, 9), (262_143, 262_145), (699_990, 700_000)])
    func part(first: Int, last: Int) async throws {
        try await keep("video/mp4")
        let answer = try await harness.call(.get, "/phone/p1/media/7", headers: [.range: "bytes=\(first)-\(last)"])
        #expect(answer.status == .partialContent)
        #expect(answer.headers[.contentRange] == "bytes \(first)-\(last)/700001")
        #expect(Data(answer.body.readableBytesView) == bytes[first...last])
    }

    @Test("a range beyond the end is refused with the true size")
    func beyond() async throws {
        try await keep()
        let answer = try await harness.call(.get, "/phone/p1/media/7", headers: [.range: "bytes=700001-"])
        #expect(answer.status == .rangeNotSatisfiable)
        #expect(answer.headers[.contentRange] == "bytes */700001")
    }

    @Test("the same bytes are not sent twice, other bytes are")
    func validator() async throws {
        try await keep()
        let tag = try #require(try await harness.call(.get, "/phone/p1/media/7").headers[.eTag])
        #expect(try await harness.call(.get, "/phone/p1/media/7", headers: [.ifNoneMatch: tag]).status == .notModified)
        let other = folder.appending(path: "other")
        try Data("other".utf8).write(to: other)
        await phone.keep(other, "image/png", for: seven)
        let changed = try await harness.call(.get, "/phone/p1/media/7", headers: [.ifNoneMatch: tag])
        #expect(changed.status == .ok)
        #expect(changed.text == "other")
    }

    @Test("a notification shows its own attachment")
    func attachment() async throws {
        let file = folder.appending(path: "attachment")
        try Data("attached".utf8).write(to: file)
        await phone.keep(file, "image/png", for: seven, attachmentOf: "rich 7")
        #expect(try await harness.call(.get, "/phone/p1/media/7?notification=rich%207").text == "attached")
        #expect(try await harness.call(.get, "/phone/p1/media/7?notification=other").status == .notFound)
        #expect(try await harness.call(.get, "/phone/p1/media/7").status == .notFound)
    }

    @Test("what is not on the phone is not found", arguments: ["8", "0", "07", "x", "99999999999"])
    func missing(id: String) async throws {
        try await keep()
        #expect(try await harness.call(.get, "/phone/p1/media/\(id)").status == .notFound)
    }

    @Test("a file that the phone deleted, or a folder, is not found")
    func vanished() async throws {
        await phone.keep(folder.appending(path: "gone"), "image/png", for: seven)
        #expect(try await harness.call(.get, "/phone/p1/media/7").status == .notFound)
        await phone.keep(folder, "image/png", for: seven)
        #expect(try await harness.call(.get, "/phone/p1/media/7").status == .notFound)
    }
}
