import ClarionTesting
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceErrors
import Testing

@testable import HTTPService

@Suite("Multipart bodies")
struct MultipartTests {
    /// What a parser read: for each part its head and bytes.
    private struct Part: Hashable {
        var head: MultipartPartHead
        var bytes: [UInt8] = []
        var hasEnded = false
    }

    private func parse(_ chunks: [[UInt8]], boundary: String = "b", limits: MultipartLimits = MultipartLimits()) throws -> [Part]
    {
        var parser = try #require(MultipartParser(boundary: boundary, limits: limits))
        var parts: [Part] = []
        for chunk in chunks {
            parser.append(ByteBuffer(bytes: chunk))
            while let event = try parser.next() {
                switch event {
                case .partBegan(let head): parts.append(Part(head: head))
                case .bytes(let bytes): parts[parts.count - 1].bytes += bytes.readableBytesView
                case .partEnded: parts[parts.count - 1].hasEnded = true
                case .finished: return parts
                }
            }
        }
        try parser.finish()
        return parts
    }

    private func parse(_ text: String, limits: MultipartLimits = MultipartLimits()) throws -> [Part] {
        try parse([Array(text.utf8)], limits: limits)
    }

    private let example =
        "preamble\r\n--b  \r\nContent-Disposition: form-data; name=\"notification\"\r\n\r\n{}\r\n"
        + "--b\r\ncontent-disposition:form-data; name=content; filename=\"a \\\"b\\\".png\"\r\nContent-Type: Image/PNG; x=y\r\n\r\n"
        + "\r\n-\r\n--\r\n--a\r\r\n\r\n--b\r\nContent-Disposition: form-data; name=\"thumb\"\r\n\r\n\r\n--b--\r\nepilogue"

    @Test("are read the same wherever the chunks are cut")
    func everyCut() throws {
        let bytes = Array(example.utf8)
        let whole = try parse([bytes])
        #expect(whole.map(\.head.name) == ["notification", "content", "thumb"])
        #expect(whole[1].head == MultipartPartHead(name: "content", fileName: "a \"b\".png", mediaType: "image/png"))
        #expect(whole.map { String(decoding: $0.bytes, as: UTF8.self) } == ["{}", "\r\n-\r\n--\r\n--a\r\r\n", ""])
        #expect(whole.allSatisfy { $0.hasEnded })
        #expect(try parse(bytes.map { [$0] }) == whole)
        for cut in 1..<bytes.count { #expect(try parse([Array(bytes[..<cut]), Array(bytes[cut...])]) == whole, "cut at \(cut)") }
    }

    @Test("with random contents and cuts give back what was put in")
    func randomContents() throws {
        var generator = SeededGenerator()
        print("Multipart seed \(generator.seed)")
        let alphabet = Array("\r\n-bx".utf8)
        for _ in 0..<3_000 {
            let content = (0..<Int.random(in: 0...40, using: &generator)).map { _ in alphabet.randomElement(using: &generator)! }
            guard (Array("\r\n".utf8) + content).firstRange(of: Array("\r\n--b".utf8)) == nil else { continue }
            let head = Array("--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n".utf8)
            var rest = (head + content + Array("\r\n--b--".utf8))[...]
            var chunks: [[UInt8]] = []
            while !rest.isEmpty {
                let count = min(rest.count, Int.random(in: 1...9, using: &generator))
                chunks.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            #expect(try parse(chunks).first?.bytes == content)
        }
    }

    @Test(
        "that break the rules are refused with a reason",
        arguments: [
            ("", "the body ends before its closing boundary"),
            ("--b\r\n", "the body ends before its closing boundary"),
            ("--b\r\nContent-Disposition: form-data; name=x\r\n\r\nabc", "the body ends before its closing boundary"),
            ("--b\r\nContent-Disposition: form-data; name=x\r\n\r\nabc\r\n--b", "the body ends before its closing boundary"),
            ("--bc\r\n", "a boundary is not followed by a line break"),
            ("--b-x", "a boundary is not followed by a line break"),
            ("--b\r\n\r\nabc\r\n--b--", "a part has no Content-Disposition of form-data with a name"),
            (
                "--b\r\nContent-Disposition: attachment; name=x\r\n\r\n",
                "a part has no Content-Disposition of form-data with a name"
            ),
            ("--b\r\nContent-Disposition: form-data\r\n\r\n", "a part has no Content-Disposition of form-data with a name"),
            ("--b\r\nContent-Disposition: form-data; name=x\r\nno colon\r\n\r\n", "a part has a header line without a name"),
            ("--b\r\nContent-Disposition: form-data; name=x\r\n folded: y\r\n\r\n", "a part has a header line without a name"),
            ("--b\r\nA: 1\r\na: 2\r\n\r\n", "a part has the same header twice"),
            (
                "--b\r\nContent-Disposition: form-data; name=x\r\nContent-Transfer-Encoding: base64\r\n\r\n",
                "a part has a Content-Transfer-Encoding; only plain bytes are read"
            ),
        ])
    func malformed(text: String, reason: String) {
        #expect(throws: ServiceError(.malformedMultipart, reason)) { try parse(text) }
    }

    @Test("are bounded before the first boundary, in headers and in the number of parts")
    func limits() {
        let long = String(repeating: "x", count: 20_000)
        #expect { try parse(long) } throws: { "\($0)".contains("does not begin the body") }
        #expect { try parse("--b\r\nA: " + long) } throws: { "\($0)".contains("more than 8192 bytes") }
        let part = "--b\r\nContent-Disposition: form-data; name=x\r\n\r\n\r\n"
        #expect { try parse(String(repeating: part, count: 17) + "--b--") } throws: { "\($0)".contains("more than 16 parts") }
    }

    @Test("need a boundary that the standard admits", arguments: ["", "a ", "a\"b", "ä", String(repeating: "x", count: 71)])
    func badBoundary(boundary: String) {
        #expect(MultipartParser(boundary: boundary) == nil)
    }

    @Test("are read part by part from a request, whatever is left unread")
    func reader() async throws {
        let harness = RouterHarness { router in
            router.post("/form") { request, _ in
                let reader = try MultipartReader(request)
                var lines: [String] = []
                while let head = try await reader.nextPart() {
                    guard head.name != "skipped" else { continue }
                    lines.append(
                        "\(head.name)=\(String(decoding: try await reader.readPart(named: head.name, limit: 5), as: UTF8.self))")
                }
                return lines.joined(separator: ",")
            }
        }
        func part(_ name: String, _ value: String) -> String {
            "--b\r\nContent-Disposition: form-data; name=\(name)\r\n\r\n\(value)\r\n"
        }
        let type: HTTPFields = [.contentType: "multipart/form-data; boundary=b"]
        let body = part("one", "12345") + part("skipped", String(repeating: "y", count: 100_000)) + part("two", "") + "--b--"
        #expect(try await harness.call(.post, "/form", headers: type, body: body).text == "one=12345,two=")
        let large = try await harness.call(.post, "/form", headers: type, body: part("one", "123456") + "--b--")
        #expect(large.detail == "the part 'one' has more than 5 bytes")
        #expect(try await harness.call(.post, "/form", headers: type, body: part("one", "1")).code == "malformed-multipart")
        #expect(try await harness.call(.post, "/form", body: body).code == "unsupported-media-type")
        let noBoundary: HTTPFields = [.contentType: "multipart/form-data"]
        #expect(try await harness.call(.post, "/form", headers: noBoundary, body: body).code == "malformed-multipart")
    }
}
