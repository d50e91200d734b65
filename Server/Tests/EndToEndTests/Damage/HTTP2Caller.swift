import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// Sends over TLS by HTTP/2 what that version can carry of a request. What it cannot, such as a zero byte in a field, ends its stream
/// without an answer (RFC 9113, 8.2.1); `MalformedRequestTests` look at that.
struct HTTP2Caller: WireCaller {
    let client: HTTPClient
    let port: Int

    func exchange(_ request: WireRequest) async throws -> WireAnswer {
        let (target, headers) = request.carriedByHTTP2
        var sent = HTTPClientRequest(url: "https://127.0.0.1:\(port)\(target)")
        sent.method = HTTPMethod(rawValue: request.method)
        for (name, value) in headers { sent.headers.add(name: name, value: value) }
        if !request.body.isEmpty { sent.body = .bytes(ByteBuffer(bytes: request.body)) }
        let response = try await client.execute(sent, timeout: .seconds(20))
        var answer = WireAnswer(status: Int(response.status.code))
        for (name, value) in response.headers { answer.headers[name.lowercased()] = value }
        answer.body = Array(try await response.body.collect(upTo: 8 << 20).readableBytesView)
        return answer
    }
}
