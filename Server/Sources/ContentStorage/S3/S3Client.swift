import AsyncHTTPClient
import NIOCore
import RichPushModel
import ServiceErrors
import WireText

/// A client of an S3-compatible store: signs requests, keeps deadlines and retries transient failures. Every request is idempotent.
/// Throws `S3Fault`, or `CancellationError`.
struct S3Client: Sendable {
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

    /// The most bytes of a document, and of the beginning of an object that is read at once.
    static let documentBytes = 4 << 20

    let options: S3Options
    let transport: any S3Transport
    let clock: any ServiceClock
    let signer: S3Signer
    private let requests: Slots
    private var retriesFailures = true
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
        client.retriesFailures = false
        return client
    }

    /// The same client, for what a phone waits for: what it reads has the shorter deadlines.
    var forPhones: S3Client {
        var client = self
        client.isAwaited = true
        return client
    }

    /// Makes a request and reads its answer, again where that may help. An answer of another status than 2xx is a fault.
    func perform<Value>(_ request: Request, read: (HTTPClientResponse) async throws -> Value) async throws -> Value {
        guard let slot = requests.take() else { throw S3Fault.busy }
        defer { withExtendedLifetime(slot) {} }
        let (attemptDeadline, deadline) = options.deadlines(isAwaited: isAwaited && request.isRead)
        let end = clock.uptime + deadline
        var plan = S3RetryPlan()
        while true {
            do { return try await attempt(request, within: min(attemptDeadline, end - clock.uptime), read: read) } catch {
                guard let fault = S3HTTPTransport.fault(of: error) as? S3Fault else { throw error }
                try Task.checkCancellation()
                guard retriesFailures else { throw fault }
                switch plan.decide(fault, left: end - clock.uptime, jitter: .random(in: 0...1)) {
                case .finish: throw fault
                case .retry(let pause): try await clock.sleep(for: pause)
                }
            }
        }
    }

    /// The same, for an answer without a body.
    @discardableResult
    func perform(_ request: Request) async throws -> HTTPClientResponse {
        try await perform(request) { answer in
            // Read to its end, so that the connection can be used again.
            _ = try await answer.body.collect(upTo: Self.documentBytes)
            return answer
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

    private func attempt<Value>(_ request: Request, within time: Duration, read: (HTTPClientResponse) async throws -> Value)
        async throws
        -> Value
    {
        guard time > .zero else { throw S3Fault.timedOut }
        let response = try await transport.exchange(message(request), within: time)
        let status = Int(response.status.code)
        guard (200...299).contains(status) else { throw await refusal(response, status: status) }
        return try await read(response)
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

    /// The store's error code, if it is a single word: other texts may contain keys.
    private static func code(_ document: S3Document) -> String? {
        document["Code"].flatMap { code in
            (1...64).contains(code.utf8.count) && code.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } ? code : nil
        }
    }
}

/// Decides after a failed attempt whether there is another one, and when. A value without I/O.
struct S3RetryPlan {
    enum Decision: Hashable {
        case finish
        case retry(after: Duration)
    }

    static let maximumRetries = 4
    private static let firstPause: Duration = .milliseconds(100)
    /// The longest wait, one that the store asks for included; what asks for more ends the request.
    private static let longestPause: Duration = .seconds(5)

    private var retries = 0

    /// The decision, given the time that is left altogether. `jitter` is from 0 to 1: half of each pause is by chance, so that many
    /// callers do not come back in step.
    mutating func decide(_ fault: S3Fault, left: Duration, jitter: Double) -> Decision {
        guard fault.isPassing, retries < Self.maximumRetries else { return .finish }
        let doubled = min(Self.firstPause * (1 << retries), Self.longestPause)
        var asked = Duration.zero
        if case .refused(_, _, let seconds?) = fault { asked = .seconds(seconds) }
        let pause = max(asked, doubled / 2 + doubled * (jitter / 2))
        guard pause <= Self.longestPause, pause < left else { return .finish }
        retries += 1
        return .retry(after: pause)
    }
}

/// An answer of a store: names without prefixes, texts without markup. On its namespaces nothing depends.
struct S3Document {
    /// A list of a thousand keys has fewer than 16 elements for each.
    private static let limits = XMLLimits(bytes: S3Client.documentBytes, depth: 8, elements: 50_000)

    private let element: XMLElement

    /// Reads an answer; `nil` for what cannot be read. A store may send blanks before one that takes long.
    init?(_ bytes: [UInt8]) {
        let answer = Array(bytes.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D })
        guard let root = try? XMLReader.document(answer, limits: Self.limits) else { return nil }
        element = root
    }

    private init(_ element: XMLElement) { self.element = element }

    /// The name of the outermost element.
    var name: String { element.name }

    /// The text of the first child of that name.
    subscript(_ name: String) -> String? { element.children.first { $0.name == name }?.text }

    func all(_ name: String) -> [S3Document] { element.children.filter { $0.name == name }.map(S3Document.init) }
}
