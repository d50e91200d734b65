import AsyncHTTPClient
import ClarionTesting
import NIOCore
import NIOPosix
import RichPushModel
import StorageConformance
import Testing

@testable import ContentStorage

@Suite("What an S3 store refuses to a man in the middle")
struct S3RefusalTests {
    /// A man in the middle that changes signed requests.
    private struct Tampering: S3Transport {
        let inner: any S3Transport
        let change: @Sendable (inout HTTPClientRequest) -> Void

        func exchange(_ request: HTTPClientRequest, within time: Duration) async throws -> HTTPClientResponse {
            var request = request
            change(&request)
            return try await inner.exchange(request, within: time)
        }

        func shutDown() async { await inner.shutDown() }
    }

    /// A client's wrong clock.
    private struct OtherClock: ServiceClock {
        var ahead: Duration
        var now: Timestamp { SystemClock().now + ahead }
        var uptime: Duration { SystemClock().uptime }
        func sleep(for duration: Duration) async throws { try await SystemClock().sleep(for: duration) }
    }

    /// The refusal of a request that was changed on its way, as its status and the store's word.
    private func refusal(
        _ bench: S3Bench, isSecure: Bool = false, ahead: Duration = .zero,
        change: @escaping @Sendable (inout HTTPClientRequest) -> Void = { _ in },
        _ request: (S3Client) async throws -> Void
    ) async throws -> String {
        let options = try bench.options(isSecure: isSecure)
        let transport = Tampering(
            inner: try S3HTTPTransport(options, group: MultiThreadedEventLoopGroup.singleton), change: change)
        let client = S3Client(options, transport: transport, clock: OtherClock(ahead: ahead)).once
        let fault = await #expect(throws: S3Fault.self) { try await request(client) }
        await transport.shutDown()
        guard case .refused(let status, let code, _) = try #require(fault) else { return "\(String(describing: fault))" }
        return "\(status) \(code ?? "")"
    }

    @Test("a body that is not the one that was signed is not stored, as one piece or as a part")
    func body() async throws {
        let bench = try await S3Bench()
        let change: @Sendable (inout HTTPClientRequest) -> Void = { $0.body = .bytes(ByteBuffer(string: "another")) }
        let whole = try await refusal(bench, change: change) { try await $0.put(ByteBuffer(string: "picture"), at: "objects/1") }
        #expect(whole == "400 XAmzContentSHA256Mismatch")
        try await bench.with { store in
            #expect(try await store.client.state(of: "objects/1") == nil)
            let parts = try await store.client.begin("incoming/1")
            let part = try await refusal(bench, change: change) { _ = try await $0.add(ByteBuffer(string: "picture"), to: parts) }
            #expect(part == "400 XAmzContentSHA256Mismatch")
            try await store.client.abort(parts)
        }
    }

    @Test("a path, a query, a header or a method that is not the one that was signed is refused", arguments: [false, true])
    func request(isSecure: Bool) async throws {
        let bench = try await S3Bench()
        try await bench.with { try await $0.client.put(ByteBuffer(string: "picture"), at: "objects/1") }
        let changes: [@Sendable (inout HTTPClientRequest) -> Void] = [
            { $0.url = $0.url.replacing("objects/1", with: "objects/2") },
            { $0.url += "?versionId=1" },
            { $0.headers.replaceOrAdd(name: "Range", value: "bytes=0-5") },
            { $0.headers.replaceOrAdd(name: "x-amz-date", value: S3Moment.stamp(SystemClock().now + .seconds(5))) },
            { $0.method = .DELETE },
        ]
        for change in changes {
            let refused = try await refusal(bench, isSecure: isSecure, change: change) {
                _ = try await $0.piece(of: "objects/1", 0..<2)
            }
            #expect(refused == "403 SignatureDoesNotMatch")
        }
        let state = try await bench.with { try await $0.client.state(of: "objects/1") }
        #expect(state?.size == 7)
    }

    @Test("a clock that is wrong by more than 15 minutes is reported as such", arguments: [-1200, 1200])
    func clock(seconds: Int) async throws {
        let bench = try await S3Bench()
        let refused = try await refusal(bench, ahead: .seconds(seconds)) { _ = try await $0.list("objects/") }
        #expect(refused == "403 RequestTimeTooSkewed")
    }

    @Test("a link that is over, or of which any part was changed, opens nothing; the same link unchanged does")
    func links() async throws {
        let bench = try await S3Bench()
        var options = try bench.options()
        options.handsOutLinks = true
        let (content, other) = try await bench.with(options) {
            (try await ContentStorePromises.store([1], in: $0), try await ContentStorePromises.store([2], in: $0))
        }
        func link(ahead: Duration) throws -> String {
            let client = S3Client(
                options, transport: try S3HTTPTransport(options, group: MultiThreadedEventLoopGroup.singleton),
                clock: OtherClock(ahead: ahead))
            return try #require(
                S3ContentStore(client).link(
                    to: content.digest, mediaType: "image/png", disposition: "attachment", lifetime: .seconds(60)))
        }
        let good = try link(ahead: .zero)
        let (young, old) = try (link(ahead: .seconds(-20)), link(ahead: .seconds(-62)))
        #expect(try await bench.get(good).status == .ok)
        #expect(try await bench.get(young).status == .ok)
        #expect(try await bench.get(old).status == .forbidden)
        let end = try #require(good.last)
        for changed in [
            good.replacing(content.digest.text, with: other.digest.text),
            good.replacing("X-Amz-Expires=60", with: "X-Amz-Expires=600"),
            good.replacing("response-content-type=image%2Fpng", with: "response-content-type=text%2Fhtml"),
            good.replacing("&response-content-disposition=attachment", with: ""),
            String(good.dropLast()) + (end == "0" ? "1" : "0"), good + "&versionId=1",
        ] {
            #expect(changed != good)
            #expect(try await bench.get(changed).status == .forbidden)
        }
    }
}
