import HTTPService
import HTTPTypes
import Hummingbird
import ServiceErrors
import Testing

@Suite("Ranges")
struct RangeSelectionTests {
    @Test("one part is read, from the front or from the back")
    func parts() {
        #expect(RangeSelection(header: "bytes=0-0", size: 10) == .part(0..<1))
        #expect(RangeSelection(header: "bytes=2-5", size: 10) == .part(2..<6))
        #expect(RangeSelection(header: "BYTES=8-", size: 10) == .part(8..<10))
        #expect(RangeSelection(header: "bytes=-3", size: 10) == .part(7..<10))
        #expect(RangeSelection(header: "bytes=-30", size: 10) == .part(0..<10))
        #expect(RangeSelection(header: "bytes=5-99999999999999999999999", size: 10) == .part(5..<10))
        #expect(RangeSelection(header: "bytes=-99999999999999999999999", size: 10) == .part(0..<10))
        #expect(RangeSelection(header: "bytes=9223372036854775806-9223372036854775807", size: .max) == .part(.max - 1 ..< .max))
    }

    @Test("nothing satisfies a range beyond the end or of no bytes", arguments: ["10-", "10-20", "99999999999999999999-", "-0"])
    func unsatisfiable(range: String) {
        #expect(RangeSelection(header: "bytes=" + range, size: 10) == .unsatisfiable)
    }

    @Test("an empty content has no range at all")
    func empty() {
        #expect(RangeSelection(header: "bytes=0-", size: 0) == .unsatisfiable)
        #expect(RangeSelection(header: "bytes=-1", size: 0) == .unsatisfiable)
        #expect(RangeSelection(header: nil, size: 0) == .whole)
    }

    @Test(
        "what is no single range of bytes asks for all",
        arguments: [
            "bytes=5-2", "bytes=", "bytes=-", "bytes", "lines=1-2", "bytes=a-b", "bytes=1-2,4-5", "bytes=--5", "bytes=+1-2",
            "bytes= 1-2", "bytes=1-2-3", "bytes=١-٢",
        ])
    func whole(header: String) {
        #expect(RangeSelection(header: header, size: 10) == .whole)
    }

    @Test("a thousand ranges ask for all, once")
    func thousand() {
        let header = "bytes=" + (0..<1_000).map { "\($0)-\($0)" }.joined(separator: ",")
        #expect(RangeSelection(header: header, size: 10_000) == .whole)
    }
}

@Suite("Downloads")
struct DownloadTests {
    private let bytes = Array("0123456789".utf8)
    private var harness: RouterHarness {
        let bytes = bytes
        return RouterHarness { router in
            router.get("/file") { request, context in
                try Download(mediaType: "image/png", size: 10, entityTag: EntityTag("abc"), fileName: "a.png").response(
                    to: request, context: context
                ) { range in
                    AsyncThrowingStream { continuation in
                        continuation.yield(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
                        continuation.finish()
                    }
                }
            }
        }
    }

    @Test("give everything a phone needs to store and to ask again")
    func whole() async throws {
        let response = try await harness.call(.get, "/file")
        #expect(response.status == .ok)
        #expect(response.text == "0123456789")
        #expect(response.headers[.contentType] == "image/png")
        #expect(response.headers[.contentLength] == "10")
        #expect(response.headers[.eTag] == "\"abc\"")
        #expect(response.headers[.acceptRanges] == "bytes")
        #expect(response.headers[.contentDisposition] == "attachment; filename=\"a.png\"")
        #expect(response.headers[.cacheControl] == "private, max-age=0, must-revalidate")
        #expect(response.headers[.xContentTypeOptions] == "nosniff")
    }

    @Test("give a part when asked, and the size when the part is outside")
    func partial() async throws {
        let part = try await harness.call(.get, "/file", headers: [.range: "bytes=2-4"])
        #expect(part.status == .partialContent)
        #expect(part.text == "234")
        #expect(part.headers[.contentRange] == "bytes 2-4/10")
        #expect(part.headers[.contentLength] == "3")
        let outside = try await harness.call(.get, "/file", headers: [.range: "bytes=10-"])
        #expect(outside.status == .rangeNotSatisfiable)
        #expect(outside.headers[.contentRange] == "bytes */10")
        #expect(outside.code == "range-not-satisfiable")
    }

    @Test("give the head alone, without a range")
    func head() async throws {
        let response = try await harness.call(.head, "/file", headers: [.range: "bytes=2-4"])
        #expect(response.status == .ok)
        #expect(response.headers[.contentLength] == "10")
        #expect(response.body.readableBytes == 0)
    }

    @Test("are not repeated to who has them", arguments: ["\"abc\"", "W/\"abc\"", "\"x\", \"abc\"", "*"])
    func notModified(list: String) async throws {
        let response = try await harness.call(.get, "/file", headers: [.ifNoneMatch: list, .range: "bytes=0-1"])
        #expect(response.status == .notModified)
        #expect(response.body.readableBytes == 0)
        #expect(response.headers[.eTag] == "\"abc\"")
    }

    @Test("are given whole when the part would belong to other bytes")
    func conditions() async throws {
        func status(_ headers: HTTPFields) async throws -> Int {
            try await harness.call(.get, "/file", headers: headers).status.code
        }
        #expect(try await status([.ifNoneMatch: "\"abd\""]) == 200)
        #expect(try await status([.range: "bytes=0-1", .ifRange: "\"abc\""]) == 206)
        #expect(try await status([.range: "bytes=0-1", .ifRange: "W/\"abc\""]) == 200)
        #expect(try await status([.range: "bytes=0-1", .ifRange: "\"old\""]) == 200)
        #expect(try await status([.range: "bytes=0-1", .ifRange: "Sat, 01 Jan 2028 00:00:00 GMT"]) == 200)
        #expect(try await status([.ifMatch: "\"abc\""]) == 200)
        #expect(try await status([.ifMatch: "\"old\""]) == 412)
    }
}

@Suite("File names")
struct FileNameTests {
    @Test(
        "of unknown origin are made harmless",
        arguments: [
            ("photo.png", "photo.png"), ("../../etc/passwd", "passwd"), ("C:\\Users\\me\\a.jpg", "a.jpg"),
            ("a\r\nSet-Cookie: x", "aSet-Cookie: x"),
            ("\u{202E}gpj.exe", "gpj.exe"), (".htaccess", "htaccess"), ("  a.png. ", "a.png"), ("a\u{0}b", "ab"),
            ("Grüße 😀.png", "Grüße 😀.png"),
        ])
    func cleaned(name: String, expected: String) {
        #expect(FileName.cleaned(name) == expected)
    }

    @Test("of which nothing is left are none", arguments: ["", "..", "/", "\u{202E}", "a/", " . "])
    func nothing(name: String) {
        #expect(FileName.cleaned(name) == nil)
    }

    @Test("that are long keep their extension")
    func long() throws {
        let name = try #require(FileName.cleaned(String(repeating: "ä", count: 300) + ".png"))
        #expect(name.utf8.count <= FileName.maximumLength)
        #expect(name.hasSuffix("ä.png"))
    }

    @Test("cannot break out of the header")
    func header() {
        #expect(ContentDisposition.attachment(fileName: nil) == "attachment")
        #expect(ContentDisposition.attachment(fileName: "..") == "attachment")
        #expect(ContentDisposition.attachment(fileName: "a.png") == "attachment; filename=\"a.png\"")
        #expect(
            ContentDisposition.attachment(fileName: "a\"b;c%.png")
                == "attachment; filename=\"a_b;c_.png\"; filename*=UTF-8''a%22b%3Bc%25.png")
        #expect(
            ContentDisposition.attachment(fileName: "ü\r\n\t.png")
                == "attachment; filename=\"_.png\"; filename*=UTF-8''%C3%BC.png")
    }

    @Test("are read from either form of a client's header")
    func reading() {
        #expect(ContentDisposition.fileName(in: "attachment; filename=a.png") == "a.png")
        #expect(ContentDisposition.fileName(in: "attachment; filename=a; filename*=UTF-8''%C3%BC.png") == "ü.png")
        #expect(ContentDisposition.fileName(in: "attachment; filename*=ISO-8859-1''x; filename=a") == "a")
        #expect(ContentDisposition.fileName(in: "attachment; filename=\"a") == nil)
    }
}
