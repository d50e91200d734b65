import AsyncHTTPClient
import NIOCore
import RichPushModel
import ServiceErrors

/// Asks an S3-compatible store: signs, waits no longer than it should, repeats what may succeed the next time. Every request is one
/// that may be repeated. Throws `S3Fault`, or `CancellationError`.
struct S3Client: Sendable {
    /// What is asked.
    struct Request {
        var method: String
        /// Below the prefix; absent for the bucket itself.
        var key: String?
        var query: [(name: String, value: String)] = []
        var headers: [(name: String, value: String)] = []
        var body = ByteBuffer()

        /// Whether it changes nothing.
        var isRead: Bool { method == "GET" || method == "HEAD" }
    }

    /// The beginning of an answer.
    struct Answer {
        var status: Int
        var headers: HTTPHeadersView
        var body: HTTPClientResponse.Body
    }

    /// Headers by name, ignoring case.
    struct HTTPHeadersView {
        let response: HTTPClientResponse
        subscript(_ name: String) -> String? { response.headers.first(name: name) }
    }

    /// The most bytes of a document, and of the beginning of an object that is read at once.
    static let documentBytes = 4 << 20

    let options: S3Options
    let transport: any S3Transport
    let clock: any ServiceClock
    let signer: S3Signer
    private let requests: Slots
    private var repeats = true
    private var isAwaited = false

    init(_ options: S3Options, transport: any S3Transport, clock: any ServiceClock) {
        self.options = options
        self.transport = transport
        self.clock = clock
        signer = S3Signer(credentials: options.credentials, region: options.location.region)
        requests = Slots(capacity: options.maximumRequests)
    }

    /// The same client, which asks once.
    var once: S3Client {
        var client = self
        client.repeats = false
        return client
    }

    /// The same client, for what a phone waits for: what it reads has the shorter deadlines.
    var forPhones: S3Client {
        var client = self
        client.isAwaited = true
        return client
    }

    /// Makes a request and reads its answer, again where that may help. An answer of another status than 2xx is a fault.
    func perform<Value>(_ request: Request, read: (Answer) async throws -> Value) async throws -> Value {
        guard let slot = requests.take() else { throw S3Fault.busy }
        defer { withExtendedLifetime(slot) {} }
        let (attemptDeadline, deadline) = options.deadlines(isAwaited: isAwaited && request.isRead)
        let end = clock.uptime + deadline
        var plan = S3RetryPlan()
        while true {
            do { return try await attempt(request, within: min(attemptDeadline, end - clock.uptime), read: read) } catch {
                guard let fault = S3HTTPTransport.fault(of: error) as? S3Fault else { throw error }
                try Task.checkCancellation()
                guard repeats else { throw fault }
                switch plan.decide(fault, left: end - clock.uptime, jitter: .random(in: 0...1)) {
                case .finish: throw fault
                case .retry(let pause): try await clock.sleep(for: pause)
                }
            }
        }
    }

    /// The same, for an answer without a body.
    @discardableResult
    func perform(_ request: Request) async throws -> HTTPHeadersView {
        try await perform(request) { answer in
            // Read to its end, so that the connection can be used again.
            _ = try await answer.body.collect(upTo: Self.documentBytes)
            return answer.headers
        }
    }

    /// The same, for an answer that is a document of that name. A store may say 200 first and find an error later (Amazon S3 API
    /// reference, "CopyObject" and "CompleteMultipartUpload").
    func document(_ name: String, _ request: Request) async throws -> S3Document {
        try await perform(request) { answer in
            let bytes = try await answer.body.collect(upTo: Self.documentBytes)
            guard let document = S3Document(Array(bytes.readableBytesView)) else { throw S3Fault.malformed("no document") }
            if document.name == "Error" {
                throw S3Fault.refused(status: 500, code: Self.code(document), retryAfter: nil)
            }
            guard document.name == name else { throw S3Fault.malformed("another document") }
            return document
        }
    }

    private func attempt<Value>(_ request: Request, within time: Duration, read: (Answer) async throws -> Value) async throws
        -> Value
    {
        guard time > .zero else { throw S3Fault.timedOut }
        let response = try await transport.exchange(message(request), within: time)
        let status = Int(response.status.code)
        guard (200...299).contains(status) else { throw await refusal(response, status: status) }
        return try await read(Answer(status: status, headers: HTTPHeadersView(response: response), body: response.body))
    }

    private func message(_ request: Request) -> HTTPClientRequest {
        let location = options.location
        let path = location.path(request.key)
        let payload: S3Signer.Payload =
            location.endpoint.isSecure
            ? .unsigned
            : request.body.readableBytes == 0
                ? S3Signer.empty : .signed(request.body.withUnsafeReadableBytes { S3Signer.hash(of: $0) })
        let signed = signer.headers(
            for: .init(
                method: request.method, host: location.host, path: path, query: request.query, headers: request.headers),
            payload: payload, at: clock.now)
        let query = S3Signer.text(of: request.query)
        var message = HTTPClientRequest(
            url: "\(location.endpoint.scheme)://\(location.host)\(path)\(query.isEmpty ? "" : "?")\(query)")
        message.method = .RAW(value: request.method)
        for (name, value) in signed { message.headers.add(name: name, value: value) }
        // Not signed, so that a proxy on the way may put itself into the trace.
        for (name, value) in TraceContext.outgoingFields { message.headers.replaceOrAdd(name: name, value: value) }
        if request.body.readableBytes > 0 || request.method == "PUT" || request.method == "POST" {
            message.body = .bytes(request.body)
        }
        return message
    }

    private func refusal(_ response: HTTPClientResponse, status: Int) async -> S3Fault {
        let bytes = try? await response.body.collect(upTo: 64 << 10)
        let document = bytes.flatMap { S3Document(Array($0.readableBytesView)) }
        let asked = response.headers.first(name: "Retry-After").flatMap { Int($0) }.map { max(0, $0) }
        return .refused(status: status, code: document.flatMap(Self.code), retryAfter: asked)
    }

    /// The store's own word for an error, if it is one word: what it writes elsewhere may name keys.
    private static func code(_ document: S3Document) -> String? {
        document["Code"].flatMap { code in
            (1...64).contains(code.utf8.count) && code.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } ? code : nil
        }
    }
}
