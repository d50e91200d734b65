import AppBackend
import Foundation
import HTTPTypes
import RichPushModel
import Testing

@Suite("Content over HTTP")
struct ContentTests {
    @Test("comes whole, in part, as a head and not again, and is never rendered")
    func download() async throws {
        let bench = try await BackendBench()
        let picture = Fixtures.png(name: "content")
        let uri = "/api/v1/notifications/" + (try await bench.sendPicture(picture, as: "ann"))
        let whole = try await bench.call(.get, uri, as: "ann")
        #expect(whole.bytes == picture)
        #expect(whole.headers[.contentType] == "image/png")
        #expect(whole.headers[.xContentTypeOptions] == "nosniff")
        #expect(whole.headers[.contentDisposition] == "attachment; filename=\"a.png\"")
        #expect(whole.headers[.contentSecurityPolicy]?.contains("sandbox") == true)
        #expect(whole.headers[.cacheControl]?.hasPrefix("private") == true)
        let tag = try #require(whole.headers[.eTag])
        let part = try await bench.call(.get, uri, as: "ann", headers: [.range: "bytes=1-3", .ifRange: tag])
        #expect(part.status == .partialContent)
        #expect(part.bytes == Array(picture[1...3]))
        let tail = try await bench.call(.get, uri, as: "ann", headers: [.range: "bytes=-4"])
        #expect(tail.bytes == picture.suffix(4))
        #expect(try await bench.call(.get, uri, as: "ann", headers: [.ifNoneMatch: tag]).status == .notModified)
        #expect(try await bench.call(.get, uri, as: "ann", headers: [.range: "bytes=99999-"]).status == .rangeNotSatisfiable)
        let head = try await bench.call(.head, uri, as: "ann")
        #expect(head.status == .ok)
        #expect(head.bytes.isEmpty)
        #expect(head.headers[.contentLength] == String(picture.count))
        #expect(try await bench.call(.head, uri, as: "bob").status == .notFound)
        #expect(try await bench.call(.head, uri).status == .unauthorized)
    }

    @Test(
        "that something could run is not stored, whatever it is called",
        arguments: [
            ("<!DOCTYPE html><script>alert(1)</script>", "text/html", "a.html"), ("<html>", "image/png", "a.png"),
            ("<svg xmlns=\"http://www.w3.org/2000/svg\"><script/></svg>", "image/svg+xml", "a.svg"),
            ("<?xml version=\"1.0\"?><x/>", "application/xml", "a.xml"), ("<svg>", "image/png", "a.PNG"),
            ("<html xmlns=\"http://www.w3.org/1999/xhtml\"/>", "application/xhtml+xml", "a.png.html"),
            ("MZ\u{1}\u{2}", "application/octet-stream", "a.exe"),
        ])
    func activeContent(text: String, type: String, name: String) async throws {
        let bench = try await BackendBench()
        let answer = try await bench.call(
            .post, "/api/v1/content", as: "ann",
            headers: [.contentType: type, .contentDisposition: "attachment; filename=\"\(name)\""], body: Array(text.utf8))
        #expect(answer.status == .unsupportedMediaType)
        #expect(answer.code == "unsupported-content")
    }

    @Test(
        "above the limit is too large by the setting's number, however large it is and however it comes",
        arguments: [0, 3_000_000])
    func limit(excess: Int) async throws {
        var settings = BackendSettings()
        settings.contentLimit = 1_000_000
        let bench = try await BackendBench(settings: settings)
        let fitting = Fixtures.png(name: "a") + Array(repeating: 0, count: 1_000_000 - Fixtures.png(name: "a").count)
        let large = fitting + Array(repeating: 0, count: 1 + excess)
        let thumb = FormPart.file("thumb", "t.png", "image/png", fitting)
        let words = FormPart.json(#"{"message":"m"}"#)
        let alone = try await bench.call(
            .post, "/api/v1/content", as: "ann", headers: [.contentType: "image/png", .contentLength: "\(large.count)"],
            body: large)
        let unannounced = try await bench.call(.post, "/api/v1/content", as: "ann", body: large)
        let form = try await bench.form(
            "/api/v1/notifications", as: "ann", [words, thumb, .file("content", "a.png", "image/png", large)])
        for answer in [alone, unannounced, form] {
            #expect(answer.status == .contentTooLarge)
            #expect(answer.code == "content-too-large")
            #expect(answer.detail == "a content has at most 1000000 bytes")
        }
        #expect(try await bench.call(.post, "/api/v1/content", as: "ann", body: fitting).status == .created)
        let both = try await bench.form(
            "/api/v1/notifications", as: "ann", [words, thumb, .file("content", "a.png", "image/png", fitting)])
        #expect(both.status == .created)
    }

    @Test("whose name would break a header has a harmless one")
    func names() async throws {
        let bench = try await BackendBench()
        for name in ["a%0D%0ASet-Cookie:%20x.png", "..%2F..%2Fetc%2Fa.png", "%E2%80%AEgnp.a.png", "a%22b.png"] {
            let stored = try await bench.call(
                .post, "/api/v1/content", as: "ann", headers: [HTTPField.Name("X-File-Name")!: name],
                body: Fixtures.png(name: name))
            let id = try stored.decoded(ContentAnswer.self).id
            let sent = try await bench.json(
                .post, "/api/v1/notifications", as: "ann", #"{"message":"m","contentId":"\#(id)"}"#)
            let content = try await bench.call(
                .get, "/api/v1/notifications/\(try sent.decoded(SendAnswer.self).id)", as: "ann")
            let header = try #require(content.headers[.contentDisposition])
            #expect(header.hasPrefix("attachment; filename=\""))
            #expect(!header.contains { $0.isNewline || $0 == "/" || $0 == "\\" || $0 == "\u{202E}" })
            #expect(content.headers[.setCookie] == nil)
        }
        let bad = try await bench.call(
            .post, "/api/v1/content", as: "ann", headers: [HTTPField.Name("X-File-Name")!: "%zz"], body: Fixtures.png(name: "x"))
        #expect(bad.code == "invalid-header")
    }

    @Test("beyond the limit, or cut on its way, leaves nothing behind")
    func limits() async throws {
        var settings = BackendSettings()
        settings.contentLimit = 100_000
        let bench = try await BackendBench(settings: settings)
        let large = Fixtures.png(name: String(repeating: "x", count: 200_000))
        let before = try files(of: bench)
        #expect(try await bench.call(.post, "/api/v1/content", as: "ann", body: large).code == "content-too-large")
        #expect(
            try await bench.form("/api/v1/notifications", as: "ann", [.file("content", "a", "image/png", large)]).code
                == "content-too-large")
        let cut = try await bench.call(.post, "/api/v1/content", as: "ann", headers: [.contentLength: "5000"])
        #expect(cut.status == .requestTimeout)
        #expect(try files(of: bench) == before)
    }

    private func files(of bench: BackendBench) throws -> [String] {
        let root = bench.folder + "/content"
        return try FileManager.default.subpathsOfDirectory(atPath: root).filter { path in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: root + "/" + path, isDirectory: &isFolder) && !isFolder.boolValue
        }.sorted()
    }

    @Test("is refused as one form where the content itself is meant")
    func formAsContent() async throws {
        let bench = try await BackendBench()
        let answer = try await bench.form(
            "/api/v1/content", as: "ann", [.file("content", "a.png", "image/png", Fixtures.png(name: "x"))])
        #expect(answer.code == "unsupported-media-type")
    }

    @Test("opens with a ticket for five minutes, for this notification and variant alone")
    func ticket() async throws {
        let bench = try await BackendBench()
        let picture = Fixtures.png(name: "ticket")
        let id = try await bench.sendPicture(picture, as: "ann")
        let other = try await bench.sendPicture(Fixtures.png(name: "other"), as: "ann")
        #expect(try await bench.call(.post, "/api/v1/notifications/\(id)/ticket", as: "bob").status == .notFound)
        let issued = try await bench.call(.post, "/api/v1/notifications/\(id)/ticket", as: "ann").text
        let path = try #require(issued.firstMatch(of: #/"path":"([^"]+)"/#)).1
        func status(_ uri: some StringProtocol) async throws -> Int { try await bench.call(.get, String(uri)).status.code }
        #expect(try await bench.call(.get, String(path)).bytes == picture)
        #expect(try await status(path.replacing("/\(id)?", with: "/\(other)?")) == 404)
        #expect(try await status(path.replacing("variant=original", with: "variant=thumb")) == 404)
        #expect(try await status(path.dropLast(3)) == 404)
        #expect(try await status("/api/v1/notifications/\(id)?ticket=") == 404)
        #expect(try await status(path + "&ticket=x") == 400)
        #expect(try await status(path.replacing("?", with: "/details?")) == 401)
        bench.clock.advance(by: .seconds(301))
        #expect(try await status(path) == 404)
    }
}

@Suite("Inbox and receipts over HTTP")
struct InboxTests {
    @Test("pages run from the newest to the oldest, and stop at what the phone has")
    func pages() async throws {
        let bench = try await BackendBench()
        let phone = try await bench.signIn("phone-1", as: "bob")
        var ids: [String] = []
        for number in 0..<3 {
            bench.clock.advance(by: .seconds(1))
            let sent = try await bench.json(
                .post, "/api/v1/notifications", as: "sam", #"{"message":"m\#(number)","audience":"username:bob"}"#)
            ids.append(try sent.decoded(SendAnswer.self).id.description)
        }
        func page(_ query: String) async throws -> InboxPage {
            try await bench.call(.get, "/api/v1/notifications\(query)", headers: phone).decoded(InboxPage.self)
        }
        let all = try await page("")
        #expect(all.notifications.map(\.message) == ["m2", "m1", "m0"])
        #expect(all.unread == 3)
        let first = try await page("?limit=2")
        #expect(first.notifications.map(\.message) == ["m2", "m1"])
        #expect(try await page("?limit=2&before=\(try #require(first.next))").notifications.map(\.message) == ["m0"])
        #expect(try await page("?since=\(ids[1])").notifications.map(\.message) == ["m2"])
        #expect(try await bench.call(.get, "/api/v1/notifications", as: "ann").decoded(InboxPage.self).notifications.isEmpty)
    }

    @Test("what was read stays read, and can be made unread")
    func readState() async throws {
        let bench = try await BackendBench()
        let sent = try await bench.json(.post, "/api/v1/notifications", as: "sam", #"{"message":"m","audience":"username:bob"}"#)
        let uri = "/api/v1/notifications/\(try sent.decoded(SendAnswer.self).id)"
        for state in [true, false] {
            #expect(try await bench.json(.patch, uri, as: "bob", #"{"read":\#(state)}"#).status == .noContent)
            #expect(try await bench.call(.get, uri + "/details", as: "bob").decoded(InboxEntry.self).read == state)
        }
        #expect(try await bench.json(.patch, uri, as: "bob", #"{"read":1}"#).status == .badRequest)
        #expect(try await bench.json(.patch, uri, as: "bob", "{}").status == .badRequest)
        #expect(try await bench.json(.patch, uri, as: "ann", #"{"read":true}"#).status == .notFound)
    }

    @Test("receipts count once, from the installation alone")
    func receipts() async throws {
        let bench = try await BackendBench()
        let phone = try await bench.signIn("phone-1", as: "bob")
        let sent = try await bench.json(.post, "/api/v1/notifications", as: "sam", #"{"message":"m","audience":"username:bob"}"#)
        let id = try sent.decoded(SendAnswer.self).id
        let batch = #"{"receipts":[{"id":"\#(id)","kind":"opened","at":1}]}"#
        for _ in 0..<2 { #expect(try await bench.json(.post, "/api/v1/receipts", headers: phone, batch).status == .noContent) }
        let status = try await bench.call(.get, "/api/v1/notifications/\(id)/status", as: "sam").decoded(SendStatus.self)
        #expect(status.receipts == ["opened": 1])
        #expect(try await bench.json(.post, "/api/v1/receipts", as: "bob", batch).status == .forbidden)
        let unknown = #"{"receipts":[{"id":"\#(id)","kind":"seen","at":1}]}"#
        #expect(
            try await bench.json(.post, "/api/v1/receipts", headers: phone, unknown).detail
                == "field 'receipts[0].kind': the value is not one of those allowed")
    }
}
