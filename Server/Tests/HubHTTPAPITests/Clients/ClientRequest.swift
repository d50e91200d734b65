/// A request as a client of the hub protocol writes it: target and headers byte for byte.
struct ClientRequest: Sendable {
    var method: String
    /// Path and query.
    var target: String
    var headers: [(name: String, value: String)]
    var body: String

    init(_ method: String, _ target: String, _ headers: [(name: String, value: String)] = [], body: String = "") {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }

    func adding(_ name: String, _ value: String) -> ClientRequest {
        var request = self
        request.headers.append((name, value))
        return request
    }
}
