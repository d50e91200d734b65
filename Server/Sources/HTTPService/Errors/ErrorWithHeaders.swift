import HTTPTypes
import ServiceErrors

/// An error whose answer needs headers that only the route knows, for example `Content-Range` with a 416 (RFC 9110, 15.5.17).
public struct ErrorWithHeaders: Error {
    let error: ServiceError
    let headers: HTTPFields

    /// Creates an error.
    public init(_ error: ServiceError, headers: HTTPFields) {
        self.error = error
        self.headers = headers
    }
}
