import AsyncHTTPClient
import Foundation
import NIOCore
import RichPushModel

/// A caller of the app backend, by a name and a password or as an installation.
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
    /// The credential of an installation in place of name and password.
    var installationCredential: String?

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
        request.headers.add(name: "Authorization", value: authorization)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
        return try await Self.answer(to: request)
    }

    /// Gets an address without credentials.
    static func anonymous(_ address: String) async throws -> Answer { try await answer(to: HTTPClientRequest(url: address)) }

    /// A download that is read on when the test says so.
    struct Download {
        var status: Int
        fileprivate var body: HTTPClientResponse.Body

        /// How many bytes come; throws when the connection ends before all have.
        func rest() async throws -> Int {
            var count = 0
            for try await bytes in body { count += bytes.readableBytes }
            return count
        }
    }

    /// Asks for a content and reads no more than its head.
    func begin(_ path: String) async throws -> Download {
        var request = HTTPClientRequest(url: address + path)
        request.headers.add(name: "Authorization", value: authorization)
        let response = try await Self.client.execute(request, timeout: .seconds(30))
        return Download(status: Int(response.status.code), body: response.body)
    }

    private static func answer(to request: HTTPClientRequest) async throws -> Answer {
        let response = try await client.execute(request, timeout: .seconds(30))
        var fields: [String: String] = [:]
        for field in response.headers { fields[field.name.lowercased()] = field.value }
        let bytes = try await response.body.collect(upTo: 64 << 20)
        return Answer(status: Int(response.status.code), headers: fields, body: Data(bytes.readableBytesView))
    }

    /// Follows no redirect, so that a test sees it.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration.singletonConfiguration
        configuration.redirectConfiguration = .disallow
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    private var authorization: String {
        installationCredential.map { "Bearer " + $0 } ?? "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }
}
