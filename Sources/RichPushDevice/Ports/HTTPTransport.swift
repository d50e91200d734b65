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
