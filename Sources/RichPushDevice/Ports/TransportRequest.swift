#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A request to the backend.
public struct TransportRequest: Hashable, Sendable {
    public var method: String
    public var url: URL
    /// Names in lower case.
    public var headers: [String: String]
    public var body: Data?
    /// Over what it may go. An implementation that cannot tell networks apart takes any.
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

/// What came back.
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
    /// The answer is longer than the caller takes.
    case tooLarge
    /// The file could not be written.
    case fileNotWritable
    case cancelled
}
