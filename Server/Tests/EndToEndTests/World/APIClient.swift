import AsyncHTTPClient
import Foundation
import NIOCore
import RichPushModel

/// A caller of the app backend with a name and a password.
struct APIClient {
    /// An answer with its body.
    struct Answer {
        var status: Int
        var headers: [String: String]
        var body: Data

        func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value { try JSONDecoder().decode(type, from: body) }
    }

    var address: String
    var user: String
    var password: String

    /// Sends a request; throws when the server cannot be reached or goes away.
    func call(
        _ method: String, _ path: String, json: (any Encodable)? = nil, headers: [String: String] = [:]
    ) async throws -> Answer {
        var body: Data?
        var headers = headers
        if let json {
            body = try JSONEncoder().encode(json)
            headers["Content-Type"] = "application/json"
        }
        return try await call(method, path, body: body, headers: headers)
    }

    /// Sends a request with a body as it is.
    func call(_ method: String, _ path: String, body: Data?, headers: [String: String]) async throws -> Answer {
        var request = HTTPClientRequest(url: address + path)
        request.method = .RAW(value: method)
        request.headers.add(name: "Authorization", value: "Basic " + Data("\(user):\(password)".utf8).base64EncodedString())
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
        var fields: [String: String] = [:]
        for field in response.headers { fields[field.name.lowercased()] = field.value }
        let bytes = try await response.body.collect(upTo: 64 << 20)
        return Answer(status: Int(response.status.code), headers: fields, body: Data(bytes.readableBytesView))
    }
}
