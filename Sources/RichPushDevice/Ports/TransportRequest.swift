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

    /// Creates a request.
    public init(method: String, url: URL, headers: [String: String] = [:], body: Data? = nil) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
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
