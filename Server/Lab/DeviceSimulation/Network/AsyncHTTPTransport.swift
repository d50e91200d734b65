import AsyncHTTPClient
import NIOCore
import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The engine's transport on AsyncHTTPClient.
public struct AsyncHTTPTransport: HTTPTransport {
    /// The most that is read of the body of an answer that is not the wanted file.
    static let errorBodyLimit = 64 << 10

    let client: HTTPClient
    let clock: any ServiceClock

    /// Uses a client that follows no redirects, such as one of `makeClient`; its creator shuts it down.
    public init(client: HTTPClient, clock: any ServiceClock) {
        self.client = client
        self.clock = clock
    }

    /// A client with the settings that a transport needs: no redirects, and a bounded wait for a connection.
    public static func makeClient() -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout = .init(connect: .seconds(10))
        configuration.httpVersion = .http1Only
        // The engine decides about retries; an unreachable server fails at once.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    public func send(
        _ request: TransportRequest, maximumBytes: Int, deadline: Duration
    ) async throws(TransportError) -> TransportResponse {
        try await bounded(by: deadline) {
            let answer = try await client.execute(Self.clientRequest(request), deadline: Self.moment(deadline))
            let body = try await Self.body(of: answer, limit: maximumBytes)
            return TransportResponse(status: Int(answer.status.code), headers: Self.headers(answer), body: body)
        }
    }

    public func download(
        _ request: TransportRequest, to file: URL, maximumBytes: Int64, deadline: Duration
    ) async throws(TransportError) -> TransportResponse {
        try await bounded(by: deadline) {
            let answer = try await client.execute(Self.clientRequest(request), deadline: Self.moment(deadline))
            var response = TransportResponse(status: Int(answer.status.code), headers: Self.headers(answer))
            if answer.status == .ok {
                try await Self.write(answer.body, to: file, limit: maximumBytes)
            } else {
                response.body = try await Self.beginning(of: answer)
            }
            return response
        }
    }

    /// The client's own deadline ends with the head of the answer; this one counts for the body too.
    private func bounded(
        by deadline: Duration, _ work: @escaping @Sendable () async throws -> TransportResponse
    ) async throws(TransportError) -> TransportResponse {
        let clock = clock
        let outcome = await withTaskGroup(of: Result<TransportResponse, TransportError>.self) { group in
            group.addTask {
                do { return .success(try await work()) } catch { return .failure(Self.reason(error)) }
            }
            group.addTask {
                try? await clock.sleep(for: deadline)
                return .failure(.timedOut)
            }
            let first = await group.next() ?? .failure(.cancelled)
            group.cancelAll()
            return first
        }
        return try outcome.get()
    }

    private static func clientRequest(_ request: TransportRequest) -> HTTPClientRequest {
        var wire = HTTPClientRequest(url: request.url.absoluteString)
        wire.method = .RAW(value: request.method)
        for (name, value) in request.headers { wire.headers.add(name: name, value: value) }
        if let body = request.body {
            wire.body = .bytes(ByteBuffer(bytes: body))
        }
        return wire
    }

    private static func moment(_ deadline: Duration) -> NIODeadline {
        .now() + .milliseconds(max(1, min(deadline.wholeMilliseconds, 3_600_000)))
    }

    private static func headers(_ answer: HTTPClientResponse) -> [String: String] {
        Dictionary(answer.headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { _, last in last })
    }

    private static func body(of answer: HTTPClientResponse, limit: Int) async throws -> Data {
        var data = Data()
        for try await chunk in answer.body {
            guard data.count + chunk.readableBytes <= limit else { throw TransportError.tooLarge }
            data.append(contentsOf: chunk.readableBytesView)
        }
        return data
    }

    /// The beginning of a refusal's body; its status alone suffices.
    private static func beginning(of answer: HTTPClientResponse) async throws -> Data {
        var data = Data()
        for try await chunk in answer.body {
            data.append(contentsOf: chunk.readableBytesView.prefix(errorBodyLimit - data.count))
            if data.count == errorBodyLimit { break }
        }
        return data
    }

    private static func write(_ body: HTTPClientResponse.Body, to file: URL, limit: Int64) async throws {
        let writer = try NewFile(file)
        defer { writer.close() }
        var count: Int64 = 0
        for try await chunk in body {
            count += Int64(chunk.readableBytes)
            guard count <= limit else { throw TransportError.tooLarge }
            try writer.append(chunk)
        }
    }

    private static func reason(_ error: any Error) -> TransportError {
        switch error {
        case let error as TransportError: error
        case is CancellationError: .cancelled
        case let error as HTTPClientError where error == .cancelled: .cancelled
        case let error as HTTPClientError
        where [.deadlineExceeded, .connectTimeout, .readTimeout, .getConnectionFromPoolTimeout].contains(error): .timedOut
        default: .unreachable
        }
    }
}

/// A file that did not exist before and that its owner alone may read, written piece by piece.
struct NewFile {
    private let descriptor: CInt

    /// Throws `fileNotWritable` also when the file exists.
    init(_ file: URL) throws(TransportError) {
        descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .fileNotWritable }
    }

    /// A whole one. What could be written of it is removed when the rest cannot be.
    static func write(_ data: Data, to file: URL) throws(TransportError) {
        let new = try NewFile(file)
        let isWritten = data.withUnsafeBytes(new.write)
        new.close()
        guard isWritten else {
            try? FileManager.default.removeItem(at: file)
            throw .fileNotWritable
        }
    }

    func append(_ buffer: ByteBuffer) throws(TransportError) {
        guard buffer.withUnsafeReadableBytes(write) else { throw .fileNotWritable }
    }

    /// Whether all of it could be written.
    private func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Self.write(descriptor, UnsafeRawBufferPointer(rebasing: rest))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func write(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Darwin)
            Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
            Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #else
            Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }

    func close() {
        #if canImport(Darwin)
            _ = Darwin.close(descriptor)
        #elseif canImport(Musl)
            _ = Musl.close(descriptor)
        #else
            _ = Glibc.close(descriptor)
        #endif
    }
}
