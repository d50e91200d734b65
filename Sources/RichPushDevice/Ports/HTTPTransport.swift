#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How the device reaches its backend. An implementation follows no redirect, keeps no cookie and caches nothing: the engine
/// decides who gets the authorization header.
public protocol HTTPTransport: Sendable {
    /// Sends a small request and reads the whole answer, at most `maximumBytes` of it, within `deadline`.
    func send(
        _ request: TransportRequest, maximumBytes: Int, deadline: Duration
    ) async throws(TransportError) -> TransportResponse

    /// Sends a request and writes the body of a 200 to `file`, which does not exist yet, without ever holding it whole. The
    /// returned body is then empty; of any other answer it holds at most 64 KB and no file is written. `maximumBytes` bounds the
    /// 200 alone: a refusal is an answer however long it is.
    func download(
        _ request: TransportRequest, to file: URL, maximumBytes: Int64, deadline: Duration
    ) async throws(TransportError) -> TransportResponse
}

/// A request to the backend.
public struct TransportRequest: Hashable, Sendable {
    public var method: String
    public var url: URL
    /// Names in lower case.
    public var headers: [String: String]
    public var body: Data?
    /// The networks it may use. An implementation that cannot distinguish networks uses any.
    public var network: AllowedNetwork

    /// Creates a request.
    public init(
        method: String, url: URL, headers: [String: String] = [:], body: Data? = nil, network: AllowedNetwork = .any
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.network = network
    }
}

/// Over which networks a request may go. One that may not go is answered with `TransportError.unreachable`.
public enum AllowedNetwork: Hashable, Sendable {
    case any
    /// Not where the user wants less data to be used.
    case unconstrained
    /// As above, and not over a cellular network or a hotspot.
    case inexpensive
}

/// An answer of the backend.
public struct TransportResponse: Hashable, Sendable {
    public var status: Int
    /// Names in lower case; of repeated headers the last.
    public var headers: [String: String]
    public var body: Data

    /// Creates an answer.
    public init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// Why no answer came.
public enum TransportError: Error, Hashable, Sendable {
    /// No network, no such host, or the connection broke.
    case unreachable
    case timedOut
    /// The answer is longer than the caller accepts.
    case tooLarge
    /// The file could not be written.
    case fileNotWritable
    case cancelled
}
