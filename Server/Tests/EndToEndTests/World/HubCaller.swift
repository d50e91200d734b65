import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import RichPushModel
import SharedAccess
import Testing

/// A caller of the hub protocol on a real socket whose requests are written by hand: nothing of this product's own client is in them.
struct HubCaller {
    /// What it speaks over TLS, and how it signs: each as one of the protocol's clients does
    /// (Reference/AzureNotificationHubs.md#1-3 and #8-1).
    enum Manner: String, CaseIterable, CustomTestStringConvertible, Sendable {
        /// As the .NET client: HTTP/1.1, and an audience without port and query.
        case http1
        /// As the Java client: HTTP/2 only, and the whole URL as the audience.
        case http2

        var testDescription: String { self == .http1 ? "HTTP/1.1" : "HTTP/2" }
    }

    /// An answer with its body.
    struct Answer {
        var status: Int
        var headers: HTTPHeaders
        var text: String

        /// The last part of the path in `Location`.
        func locatedID() throws -> String {
            let location = try #require(headers.first(name: "Location"))
            return try #require(URL(string: location)?.lastPathComponent)
        }
    }

    let client: HTTPClient
    let manner: Manner
    let authority: String
    var ruleName: String
    var key: SharedAccessKey

    /// Opens a client that trusts `authority` alone, and closes it after the body.
    static func use(
        _ manner: Manner, trusting path: String, _ body: (HTTPClient) async throws -> Void
    ) async throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(path)
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.httpVersion = manner == .http1 ? .http1Only : .automatic
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do { try await body(client) } catch {
            try? await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }

    /// Sends a request, `Authorization` and the given headers in it and nothing else.
    func call(
        _ method: String, _ target: String, _ headers: [(String, String)] = [], body: String = ""
    ) async throws -> Answer {
        try await fetch(method, "https://\(authority)\(target)", [("Authorization", token(for: target))] + headers, body: body)
    }

    /// Sends a request without a signature of its own: the link has one.
    func fetch(
        _ method: String, _ url: String, _ headers: [(String, String)] = [], body: String = ""
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = .RAW(value: method)
        request.headers.add(contentsOf: headers)
        if !body.isEmpty { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await client.execute(request, timeout: .seconds(30))
        #expect(response.version == (manner == .http1 ? .http1_1 : .http2))
        let bytes = try await response.body.collect(upTo: 1 << 20)
        return Answer(status: Int(response.status.code), headers: response.headers, text: String(buffer: bytes))
    }

    private func token(for target: String) -> String {
        let host = authority.prefix { $0 != ":" }
        let path = target.prefix { $0 != "?" }
        let audience = manner == .http1 ? "http://\(host)\(path)/" : "https://\(authority)\(target)"
        return SharedAccessSigner(ruleName: ruleName, key: key)
            .token(audience: audience, expiresAt: SystemClock().now + .seconds(1200))
    }
}
