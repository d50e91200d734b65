#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One request of the API, without the backend's address.
struct BackendCall: Sendable {
    var method: String
    /// From `APIRoute`.
    var path: String
    /// Already escaped.
    var query: String?
    var body: Data?
    var mediaType = "application/json"
    /// Beside those that every call has; names in lower case.
    var headers: [String: String] = [:]

    static func get(_ path: String, query: String? = nil) -> BackendCall {
        BackendCall(method: "GET", path: path, query: query)
    }

    /// A call with a JSON body.
    static func json(_ method: String, _ path: String, _ value: some Encodable) throws(RichPushError) -> BackendCall {
        guard let body = try? JSONEncoder().encode(value) else { throw .badAnswer }
        return BackendCall(method: method, path: path, body: body)
    }
}
