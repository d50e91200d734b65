import HTTPTypes
import Hummingbird
import ServiceErrors
import Testing

@testable import HTTPService

@Suite("The trace of a request")
struct TraceTests {
    private static let id = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let parent = "00-\(id)-00f067aa0ba902b7-01"

    private let harness = RouterHarness { router in
        router.get("/trace") { _, _ in
            TraceContext.outgoingFields.map { "\($0.name)=\($0.value)" }.joined(separator: "\n")
        }
    }

    @Test("stands in the log lines of the request, and goes on with the same id and another parent")
    func passedOn() async throws {
        var headers: HTTPFields = [.traceParent: Self.parent, .traceState: "a=1"]
        headers.append(HTTPField(name: .traceState, value: "b=2"))
        let lines = try await harness.call(.get, "/trace", headers: headers).text.split(separator: "\n").map(String.init)
        #expect(lines.count == 2)
        #expect(lines.first?.hasPrefix("traceparent=00-\(Self.id)-") == true)
        #expect(lines.first?.hasSuffix("-01") == true)
        #expect(lines.first?.contains("00f067aa0ba902b7") == false)
        #expect(lines.last == "tracestate=a=1,b=2")
        #expect(harness.log.lines.contains { $0.message == "Request answered" && $0.metadata["trace_id"] == Self.id })
    }

    @Test(
        "is ignored when it is malformed",
        arguments: [
            "", "00", "00-\(id)-00f067aa0ba902b7", "ff-\(id)-00f067aa0ba902b7-01", "00-\(id.uppercased())-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01", "00-\(id)-0000000000000000-01",
            "00-\(id)-00f067aa0ba902b7-01-more", "00-\(id)x-00f067aa0ba902b7-01", "00-\(id)-00f067aa0ba902b7-0g",
            "0-\(id)-00f067aa0ba902b7-01",
        ])
    func malformed(_ value: String) async throws {
        #expect(try await harness.call(.get, "/trace", headers: [.traceParent: value]).text.isEmpty)
        #expect(harness.log.lines.allSatisfy { $0.metadata["trace_id"] == nil })
    }

    @Test("of a later version is taken as far as it is known; two of them are none, and a long state stays behind")
    func versions() {
        #expect(TraceContext(parents: ["01-\(Self.id)-00f067aa0ba902b7-00-more"])?.traceID == Self.id)
        #expect(TraceContext(parents: [Self.parent, Self.parent]) == nil)
        let long = TraceContext(parents: [Self.parent], states: [String(repeating: "a", count: 513)])
        TraceContext.$current.withValue(long) { #expect(TraceContext.outgoingFields.count == 1) }
    }

    @Test("is none where the caller names none")
    func absent() async throws {
        #expect(try await harness.call(.get, "/trace").text.isEmpty)
    }
}

@Suite("Compressed bodies")
struct CompressedBodyTests {
    @Test("are refused with 415 and what is taken instead; identity and requests without a body pass")
    func refused() async throws {
        let harness = RouterHarness { router in
            router.post("/a") { _, _ in "read" }
            router.get("/a") { _, _ in "got" }
        }
        for coding in ["gzip", "GZIP", "deflate", "br", "gzip, identity"] {
            let answer = try await harness.call(
                .post, "/a", headers: [.contentEncoding: coding, .contentLength: "1"], body: "x")
            #expect(answer.status == .unsupportedMediaType && answer.headers[.acceptEncoding] == "identity")
        }
        let headers: HTTPFields = [.contentEncoding: "identity", .contentLength: "1"]
        #expect(try await harness.call(.post, "/a", headers: headers, body: "x").text == "read")
        #expect(try await harness.call(.get, "/a", headers: [.contentEncoding: "gzip"]).text == "got")
    }
}
