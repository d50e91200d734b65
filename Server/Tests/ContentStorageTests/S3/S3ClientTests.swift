import AppBackend
import AsyncHTTPClient
import ClarionTesting
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import RichPushModel
import ServiceErrors
import Testing

@testable import ContentStorage

/// A clock on which waiting takes no time.
private final class ImmediateClock: ServiceClock {
    private let waited = NIOLockedValueBox(Duration.zero)
    var now: Timestamp { Timestamp(seconds: 1_800_000_000) + uptime }
    var uptime: Duration { waited.withLockedValue { $0 } }
    func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        waited.withLockedValue { $0 += duration }
    }
}

/// Gives prepared answers, in order.
private final class ScriptedTransport: S3Transport {
    enum Answer: Sendable {
        case answer(Int, String = "", HTTPHeaders = [:])
        case fault(S3Fault)
        /// All the time there is passes.
        case silence
    }

    private let answers: NIOLockedValueBox<[Answer]>
    private let clock: ImmediateClock
    private let asked = NIOLockedValueBox<[HTTPClientRequest]>([])
    private let given = NIOLockedValueBox<[Duration]>([])

    init(_ answers: [Answer], clock: ImmediateClock) {
        self.answers = NIOLockedValueBox(answers)
        self.clock = clock
    }

    var requests: [HTTPClientRequest] { asked.withLockedValue { $0 } }

    /// How long each attempt might take.
    var times: [Duration] { given.withLockedValue { $0 } }

    func exchange(_ request: HTTPClientRequest, within time: Duration) async throws -> HTTPClientResponse {
        given.withLockedValue { $0.append(time) }
        asked.withLockedValue { $0.append(request) }
        let next = answers.withLockedValue { $0.isEmpty ? Answer.fault(.broken) : $0.removeFirst() }
        switch next {
        case .fault(let fault): throw fault
        case .silence:
            try await clock.sleep(for: time)
            throw S3Fault.timedOut
        case .answer(let status, let body, let headers):
            return HTTPClientResponse(
                status: HTTPResponseStatus(statusCode: status), headers: headers, body: .bytes(ByteBuffer(string: body)))
        }
    }

    func shutDown() async {}
}

@Suite("Asking an S3 store")
struct S3ClientTests {
    private func client(
        _ answers: [ScriptedTransport.Answer], at endpoint: String = "https://store.example.com", token: String? = nil,
        change: (inout S3Options) -> Void = { _ in }
    ) throws -> (client: S3Client, transport: ScriptedTransport, clock: ImmediateClock) {
        let clock = ImmediateClock()
        let transport = ScriptedTransport(answers, clock: clock)
        var options = S3Options(
            location: S3Location(endpoint: try #require(S3Endpoint(endpoint)), region: "r", bucket: "box", prefix: "p"),
            credentials: S3Credentials(keyID: "id", secret: "hunter2", sessionToken: token))
        change(&options)
        return (S3Client(options, transport: transport, clock: clock), transport, clock)
    }

    @Test("a body is signed where TLS does not protect it, and only there")
    func payload() async throws {
        let secure = try client([.answer(200)], token: "lent")
        try await secure.client.put(ByteBuffer(string: "abc"), at: "objects/1")
        let request = try #require(secure.transport.requests.first)
        #expect(request.url == "https://store.example.com/box/p/objects/1")
        #expect(request.headers.first(name: "x-amz-content-sha256") == "UNSIGNED-PAYLOAD")
        #expect(request.headers.first(name: "x-amz-security-token") == "lent")
        #expect(request.headers["Host"] == ["store.example.com"])
        let plain = try client([.answer(200)], at: "http://127.0.0.1:9000")
        try await plain.client.put(ByteBuffer(string: "abc"), at: "objects/1")
        // FIPS 180-2, appendix B.1
        #expect(
            plain.transport.requests.first?.headers.first(name: "x-amz-content-sha256")
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(plain.transport.requests.first?.headers.contains(name: "x-amz-security-token") == false)
    }

    @Test("a store that names a time is waited for, and each attempt is signed anew")
    func retryAfter() async throws {
        let asked = try client([.answer(503, "", ["Retry-After": "3"]), .answer(200)])
        try await asked.client.put(ByteBuffer(), at: "k")
        #expect(asked.clock.uptime == .seconds(3))
        let stamps = asked.transport.requests.map { $0.headers.first(name: "x-amz-date") }
        #expect(stamps.count == 2 && stamps[0] != stamps[1])
    }

    @Test("attempts end when the time of the request is over")
    func deadline() async throws {
        let asked = try client(Array(repeating: .answer(503, "", ["Retry-After": "4"]), count: 9)) {
            $0.requestDeadline = .seconds(10)
        }
        await #expect(throws: S3Fault.refused(status: 503, code: nil, retryAfter: 4)) {
            try await asked.client.put(ByteBuffer(), at: "k")
        }
        #expect(asked.transport.requests.count == 3)
    }

    /// How long some work keeps its caller when the store says nothing, and the time of its first attempt.
    private func waits(_ work: (S3Client) async throws -> Void) async throws -> [Duration?] {
        let asked = try client(Array(repeating: .silence, count: 9))
        await #expect(throws: (any Error).self) { try await work(asked.client) }
        return [asked.transport.times.first, asked.clock.uptime]
    }

    @Test("a store that says nothing keeps a phone for twenty seconds, and everything else for a minute")
    func silence() async throws {
        let (phone, others) = ([Duration.seconds(8), .seconds(20)], [Duration.seconds(20), .seconds(60)])
        let digest = try #require(ContentDigest(String(repeating: "a", count: 64)))
        func reader(_ client: S3Client) -> S3ContentReader {
            S3ContentReader(client, key: "k", opened: .init(bytes: ByteBuffer(), size: 100), streams: Slots(capacity: 1))
        }
        #expect(try await waits { _ = try await S3ContentStore($0).open(digest) } == phone)
        #expect(try await waits { _ = try await $0.forPhones.state(of: "k") } == phone)
        #expect(try await waits { _ = try await reader($0.forPhones).read(at: 50, count: 9) } == phone)
        #expect(try await waits { try await $0.forPhones.put(ByteBuffer(), at: "k") } == others)
        #expect(try await waits { try await $0.put(ByteBuffer(), at: "k") } == others)
        #expect(try await waits { _ = try await S3ContentStore($0).digests(after: nil, limit: 9) } == others)
        #expect(
            try await waits { _ = try await S3ContentStore($0).remove(digest, storedBefore: Timestamp(seconds: 0)) } == others)
        #expect(try await waits { _ = try await $0.openUploads("") } == others)
        // The files of jobs.
        #expect(try await waits { _ = try await reader($0).read(at: 50, count: 9) } == others)
        #expect(try await waits { try await S3ContainerStore($0, maximumBytes: 9).count() } == others)
    }

    @Test(
        "of two that claim a bucket at once the store lets one; a store without conditional writes is asked without a condition")
    func claim() async throws {
        let mark = S3OwnerMark(mark: "m", name: "a\nb")
        let refused = try client([.answer(412, "<Error><Code>PreconditionFailed</Code></Error>")])
        try await S3ContentStore(refused.client).claim(mark)
        #expect(refused.transport.requests.map { $0.headers.first(name: "If-None-Match") } == ["*"])
        #expect(refused.transport.requests.first?.url.hasSuffix("/box/p/owner") == true)
        let plain = try client([.answer(501, "<Error><Code>NotImplemented</Code></Error>"), .answer(200)])
        try await S3ContentStore(plain.client).claim(mark)
        #expect(plain.transport.requests.map { $0.headers.first(name: "If-None-Match") } == ["*", nil])
        let denied = try client([.answer(403)])
        await #expect(throws: ServiceError.self) { try await S3ContentStore(denied.client).claim(mark) }
        for (text, read) in [
            (mark.text, S3OwnerMark(mark: "m", name: "ab")), ("", S3OwnerMark(mark: "", name: "unknown")),
            ("m\u{1B}[2J\n\n", S3OwnerMark(mark: "m[2J", name: "unknown")),
        ] {
            #expect(S3OwnerMark(text: text) == read)
        }
    }

    @Test("a copy that fails after the store said 200 is tried again, and is an error in the end")
    func lateError() async throws {
        let error = ScriptedTransport.Answer.answer(200, "<Error><Code>InternalError</Code></Error>")
        let good = try client([error, .answer(200, "<CopyObjectResult/>")])
        try await good.client.copy("a", to: "b")
        #expect(good.transport.requests.first?.headers.first(name: "x-amz-copy-source") == "/box/p/a")
        let bad = try client(Array(repeating: error, count: 9))
        await #expect(throws: S3Fault.refused(status: 500, code: "InternalError", retryAfter: nil)) {
            try await bad.client.copy("a", to: "b")
        }
    }

    @Test("an upload in parts whose good answer was lost is complete")
    func lostAnswer() async throws {
        let gone = ScriptedTransport.Answer.answer(404, "<Error><Code>NoSuchUpload</Code></Error>")
        let upload = S3Multipart(key: "k", id: "u", tags: ["\"a\"", "\"b&\""])
        let state: HTTPHeaders = ["Content-Length": "9", "Last-Modified": "Fri, 24 May 2013 00:00:00 GMT"]
        let lost = try client([.fault(.broken), gone, .answer(200, "", state)])
        try await lost.client.complete(upload)
        let never = try client([gone, .answer(404)])
        await #expect(throws: S3Fault.self) { try await never.client.complete(upload) }
    }

    @Test("of what a store says in a refusal only one plain word is passed on")
    func words() async throws {
        for (body, code) in [
            ("<Error><Code>Denied</Code><Key>hunter2</Key></Error>", "Denied"), ("<Error><Code>a b</Code></Error>", nil),
            ("<Error><Code>/box/p/key</Code></Error>", nil), ("<html>", nil), ("", nil),
            ("<Error><Code>\(String(repeating: "a", count: 65))</Code></Error>", nil),
        ] {
            let refused = try client([.answer(403, body)])
            await #expect(throws: S3Fault.refused(status: 403, code: code, retryAfter: nil)) {
                try await refused.client.put(ByteBuffer(), at: "k")
            }
        }
    }

    @Test("answers that say no size, age, id or part are errors and not guesses")
    func malformed() async throws {
        func five(_ answer: ScriptedTransport.Answer) throws -> S3Client {
            try client(Array(repeating: answer, count: 5)).client
        }
        let none = ScriptedTransport.Answer.answer(200)
        await #expect(throws: S3Fault.self) { _ = try await five(none).state(of: "k") }
        await #expect(throws: S3Fault.self) { _ = try await five(none).list("objects/") }
        await #expect(throws: S3Fault.self) { _ = try await five(.answer(200, "<Other/>")).begin("k") }
        await #expect(throws: S3Fault.self) {
            _ = try await five(.answer(200, "<InitiateMultipartUploadResult/>")).begin("k")
        }
        await #expect(throws: S3Fault.self) { _ = try await five(none).add(ByteBuffer(), to: S3Multipart(key: "k", id: "u")) }
        // All of an object where a part in its middle was asked for.
        await #expect(throws: S3Fault.self) {
            _ = try await five(.answer(200, "0123456789", ["Content-Length": "10"])).piece(of: "k", 2..<4)
        }
        // Another part than the one that was asked for.
        await #expect(throws: S3Fault.self) {
            _ = try await five(.answer(206, "01", ["Content-Range": "bytes 0-1/10"])).piece(of: "k", 2..<4)
        }
    }

    @Test("uploads in parts are listed with their age")
    func openUploads() async throws {
        let body = """
            <ListMultipartUploadsResult><Upload><Key>p/incoming/1</Key><UploadId>u</UploadId>\
            <Initiated>2013-05-24T00:00:00.000Z</Initiated></Upload><Upload><Key>other/incoming/1</Key><UploadId>u</UploadId>\
            <Initiated>2013-05-24T00:00:00.000Z</Initiated></Upload></ListMultipartUploadsResult>
            """
        let found = try await client([.answer(200, body)]).client.openUploads("")
        #expect(
            found == [
                S3OpenMultipart(upload: S3Multipart(key: "incoming/1", id: "u"), startedAt: Timestamp(seconds: 1_369_353_600))
            ])
    }

    @Test("more requests than may be under way are refused at once")
    func bounded() async throws {
        let asked = try client([.answer(200), .answer(200)]) { $0.maximumRequests = 1 }
        _ = try await asked.client.perform(S3Client.Request(method: "GET")) { _ in
            await #expect(throws: S3Fault.busy) { try await asked.client.put(ByteBuffer(), at: "k") }
        }
        try await asked.client.put(ByteBuffer(), at: "k")
    }
}
