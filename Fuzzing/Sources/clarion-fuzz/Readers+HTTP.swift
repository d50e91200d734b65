import AppBackend
import Foundation
import NIOCore
import NIOHTTP1
import RichPushModel
import ServiceErrors
import WireText

@testable import BackendHTTPAPI
@testable import HTTPService

/// What every HTTP interface reads.
extension FuzzedReader {
    static let http = [
        FuzzedReader("json", readJSON), FuzzedReader("multipart", readMultipart), FuzzedReader("http-fields", readFields),
        FuzzedReader("http-head", readHead), FuzzedReader("trace-context", readTrace),
    ]

    /// Any JSON, of which nothing but the syntax is looked at.
    private struct AnyJSON: Decodable {
        init(from decoder: any Decoder) {}
    }

    /// What the scanner takes, the decoder takes, and every body of the interface is read or refused with words.
    @Sendable private static func readJSON(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let choice = input.choice(below: 7)
        let body = input.rest
        if (try? JSONScanner.scan(body, depthLimit: 256)) != nil {
            precondition((try? JSONDecoder().decode(AnyJSON.self, from: Data(body))) != nil, "scanner and decoder disagree")
        }
        switch choice {
        case 0: decode(SendRequest.self, body, FieldNames.send)
        case 1: decode(ReceiptBatch.self, body, FieldNames.receipts)
        case 2: decode(InstallationUpdate.self, body, FieldNames.installation)
        case 3: decode(RegistrationBody.self, body, FieldNames.registration)
        case 4: decode(Reply.self, body, FieldNames.reply)
        case 5: decode(ReadState.self, body, FieldNames.readState)
        default: decode(SendRequest.self, body, nil)
        }
    }

    private static func decode<Value: Decodable>(_ type: Value.Type, _ body: [UInt8], _ known: Set<String>?) {
        do { _ = try JSONFields.decode(type, from: body, known: known) } catch {
            precondition((error.detail ?? "").utf8.count < 1_000, "an error repeats its input")
        }
    }

    /// The first line is the boundary. The pieces in which a body comes do not decide what is read.
    @Sendable private static func readMultipart(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let size = 1 + input.choice(below: 64)
        let boundary = input.line()
        guard let whole = parts([input.rest], boundary) else { return }
        precondition(whole == parts(input.rest.pieces(of: size), boundary), "the pieces decide what is read")
        precondition(whole.bytes <= bytes.count, "the parts are longer than the body")
    }

    private struct SeenParts: Equatable {
        var heads: [MultipartPartHead] = []
        var bodies: [[UInt8]] = []
        var isWhole = false
        var bytes: Int { bodies.reduce(0) { $0 + $1.count } }
    }

    /// `nil` for a boundary that is none; a body that is refused ends with what was read before.
    private static func parts(_ pieces: [[UInt8]], _ boundary: String) -> SeenParts? {
        guard var parser = MultipartParser(boundary: boundary) else { return nil }
        var seen = SeenParts()
        do {
            for piece in pieces {
                parser.append(ByteBuffer(bytes: piece))
                while let event = try parser.next() {
                    switch event {
                    case .partBegan(let head):
                        seen.heads.append(head)
                        seen.bodies.append([])
                    case .bytes(let buffer):
                        precondition(buffer.readableBytes > 0, "an event without bytes")
                        seen.bodies[seen.bodies.count - 1] += buffer.readableBytesView
                    case .partEnded: break
                    case .finished: seen.isWhole = true
                    }
                }
            }
            try parser.finish()
        } catch {}
        return seen
    }

    /// One value of a field, a path or a query.
    @Sendable private static func readFields(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let size = Int64(input.byte())
        let text = input.text
        if CanonicalPath.isCanonical(text) {
            precondition(!text.contains("//") && !"\(text)/".contains("/../"), "a path has two spellings")
            precondition(PercentEncoding.decode(text) != nil, "a path cannot be decoded")
        }
        _ = try? QueryParameters(text, allowed: ["a", "limit"]).number("limit", in: 1...100)
        _ = HeaderParameters(text)
        _ = HeaderParameters(lenient: text)
        if case .part(let range) = RangeSelection(header: text, size: size) {
            precondition(!range.isEmpty && range.lowerBound >= 0 && range.upperBound <= size, "a range outside of the content")
        }
        _ = EntityTag("abc").isNamed(inIfNoneMatch: text) || EntityTag("abc").isNamed(inIfMatch: text)
        readFileName(text)
        _ = SourceAddress(CallerAddress.of(peer: text, forwarded: [text], isTrustedProxy: { $0 == text }))
    }

    private static func readFileName(_ text: String) {
        let header = ContentDisposition.attachment(fileName: text)
        precondition(header.utf8.allSatisfy { (0x20..<0x7F).contains($0) }, "a file name breaks out of its header")
        guard let name = FileName.cleaned(text) else { return }
        precondition(name.utf8.count <= FileName.maximumLength, "a file name is too long")
        precondition(!name.contains("/") && !name.contains("\\") && name.first != ".", "a file name is a path")
        precondition(ContentDisposition.fileName(in: header) == name, "a file name changes on its way")
    }

    /// The values of `traceparent` in lines, an empty line, those of `tracestate`. What goes on is what came, and fits into a field.
    @Sendable private static func readTrace(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        var parents: [String] = []
        while case let line = input.line(), !line.isEmpty { parents.append(line) }
        var states: [String] = []
        while !input.bytes.isEmpty { states.append(input.line()) }
        guard let trace = TraceContext(parents: parents, states: states) else { return }
        precondition(parents.count == 1 && parents[0].contains(trace.traceID), "a trace comes from elsewhere")
        let fields = TraceContext.$current.withValue(trace) { TraceContext.outgoingFields }
        for (name, value) in fields {
            precondition(value.utf8.allSatisfy { $0 == 0x09 || (0x20...0x7E).contains($0) }, "\(name) breaks out of its field")
            precondition(value.utf8.count <= 512, "\(name) is too long")
        }
        let again = TraceContext(
            parents: fields.filter { $0.name == "traceparent" }.map(\.value),
            states: fields.filter { $0.name == "tracestate" }.map(\.value))
        precondition(again == trace, "a trace changes on its way")
    }

    /// Request line and fields in lines. What is accepted has one host and one end of its body.
    @Sendable private static func readHead(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let words = input.line().split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        var head = HTTPRequestHead(
            version: words.count > 2 && words[2] == "HTTP/1.0" ? .http1_0 : .http1_1,
            method: HTTPMethod(rawValue: words[0]), uri: words.count > 1 ? words[1] : "/")
        while !input.bytes.isEmpty, head.headers.count < 64 {
            let parts = input.line().split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            // The decoder in front takes no other names.
            guard parts[0].utf8.allSatisfy({ $0 < 0x80 }) else { continue }
            head.headers.add(name: parts[0], value: parts.count > 1 ? parts[1] : "")
        }
        guard RequestHeadCheck.accepts(&head) else { return }
        precondition(head.headers["host"].count <= 1, "two hosts")
        precondition(
            !(head.headers.contains(name: "transfer-encoding") && head.headers.contains(name: "content-length")),
            "two ends of a body")
        var again = head
        precondition(RequestHeadCheck.accepts(&again) && again == head, "an accepted head is not accepted again")
    }
}
