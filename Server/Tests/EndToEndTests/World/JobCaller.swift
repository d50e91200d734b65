import AsyncHTTPClient
import Foundation
import HubProtocol
import NIOCore
import NIOHTTP1
import Testing

/// Calls about the jobs of the hub `demo`: containers, their files, and what becomes of a job.
struct JobCaller {
    let server: HubServer

    /// An answer with its body.
    typealias Answer = (status: HTTPResponseStatus, headers: HTTPHeaders, body: ByteBuffer)

    /// Sends a request to a path of the server, or to a link; signed unless the link has a signature.
    static func call(_ method: HTTPMethod, _ url: String, _ body: String = "", token: String? = nil) async throws -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = method
        if let token { request.headers.add(name: "Authorization", value: token) }
        if !body.isEmpty { request.body = .bytes(ByteBuffer(string: body)) }
        let answer = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        return (answer.status, answer.headers, try await answer.body.collect(upTo: 512 << 20))
    }

    /// The link to a new container.
    func makeContainer() async throws -> String {
        let answer = try await Self.call(.POST, server.url("/$containers/demo"), token: server.token("demo"))
        return try #require(answer.headers.first(name: "Location"))
    }

    /// The link to a file in a container, wherever the server listens now.
    static func file(_ name: String, in container: String) -> String {
        let parts = container.split(separator: "?", maxSplits: 1)
        return "\(parts[0])/\(name)?\(parts.last ?? "")"
    }

    func submit(_ document: HubJobDocument) async throws -> HubJobDocument {
        let url = server.url("/demo/jobs?api-version=2020-06")
        return try Self.read(try await Self.call(.POST, url, document.request(), token: server.token("demo")))
    }

    func job(_ id: String?) async throws -> HubJobDocument {
        let url = server.url("/demo/jobs/\(id ?? "")?api-version=2020-06")
        return try Self.read(try await Self.call(.GET, url, token: server.token("demo")))
    }

    /// Waits until the job has come to its end.
    func ended(_ id: String?, within limit: Duration = .seconds(60)) async throws -> HubJobDocument {
        try await eventually("the job ends", within: limit) {
            let found = try await job(id)
            return found.status == .completed || found.status == .failed ? found : nil
        }
    }

    /// The lines of the output file of a job.
    static func output(of job: HubJobDocument) async throws -> [RegistrationDescription] {
        let name = try #require(job.outputProperties.first { $0.name == "OutputFilePath" }?.value)
        let answer = try await call(.GET, file(name, in: job.outputContainer))
        return try String(buffer: answer.body).split(separator: "\n").map { try RegistrationLines.read(Array($0.utf8)) }
    }

    private static func read(_ answer: Answer) throws -> HubJobDocument {
        try HubJobDocument.read(entry: Array(answer.body.readableBytesView))
    }
}
