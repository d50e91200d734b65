import AsyncHTTPClient
import ClarionTesting
import Foundation
import Hummingbird
import HummingbirdCore
import NIOCore
import NIOSSL
import ServiceErrors
import Testing

@testable import HTTPService

@Suite("The front door")
struct FrontDoorTests {
    private static func router(requiresTLS: Bool) -> ServiceRouter {
        var options = ServiceOptions()
        options.requiresTLS = requiresTLS
        let router = ServiceRouter(options: options)
        router.get("/small") { _, _ in "small" }
        router.get("/large") { _, _ in
            Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(repeating: 7, count: 4 << 20)))
        }
        router.post("/count") { request, _ in
            var count = 0
            for try await buffer in request.body { count += buffer.readableBytes }
            return "\(count)"
        }
        router.post("/refuse") { _, _ -> String in throw ServiceError(.conflict, "not read") }
        return router
    }

    private func listening(
        _ server: HTTPServerBuilder, requiresTLS: Bool = false, _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        try await ListeningServer.use(Self.router(requiresTLS: requiresTLS), server, body)
    }

    private func allowance(_ limit: Int = 100) -> ConnectionAllowance { ListeningServer.allowance(limit) }

    /// A client that trusts one certificate.
    private func withClient(
        trusting pem: String, version: HTTPClient.Configuration.HTTPVersion, _ body: (HTTPClient) async throws -> Void
    ) async throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)))
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.httpVersion = version
        configuration.timeout.connect = .seconds(10)
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do { try await body(client) } catch {
            try await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }

    private func get(_ path: String, _ port: Int, _ client: HTTPClient) async throws -> (
        response: HTTPClientResponse, body: ByteBuffer
    ) {
        let response = try await client.execute(HTTPClientRequest(url: "https://127.0.0.1:\(port)\(path)"), timeout: .seconds(30))
        return (response, try await response.body.collect(upTo: 8 << 20))
    }

    @Test("HTTP/2 and HTTP/1.1 are served on one port, as the client offers", arguments: [true, false])
    func versions(_ offersHTTP2: Bool) async throws {
        let certificate = try TestCertificate()
        let identity = try ServerIdentity(chainPEM: certificate.certificatePEM, keyPEM: certificate.keyPEM)
        try await listening(.guardedTLS(identity, allowance: allowance())) { port in
            try await withClient(trusting: certificate.certificatePEM, version: offersHTTP2 ? .automatic : .http1Only) { client in
                let small = try await get("/small", port, client)
                #expect(small.response.version == (offersHTTP2 ? .http2 : .http1_1))
                #expect(String(buffer: small.body) == "small")
                #expect(try await get("/large", port, client).body.readableBytes == 4 << 20)
                #expect(try await get("/none", port, client).response.status == .notFound)
                var upload = HTTPClientRequest(url: "https://127.0.0.1:\(port)/count")
                upload.method = .POST
                upload.body = .bytes(ByteBuffer(repeating: 1, count: 3 << 20))
                let counted = try await client.execute(upload, timeout: .seconds(30)).body.collect(upTo: 100)
                #expect(String(buffer: counted) == "\(3 << 20)")
            }
        }
    }

    @Test("an answer that leaves a body unread reaches its client over HTTP/2, without a field that HTTP/2 does not have")
    func unreadBody() async throws {
        let certificate = try TestCertificate()
        let identity = try ServerIdentity(chainPEM: certificate.certificatePEM, keyPEM: certificate.keyPEM)
        try await listening(.guardedTLS(identity, allowance: allowance())) { port in
            let file = NSTemporaryDirectory() + "clarion-front-\(UUID().uuidString)"
            defer { for end in ["", ".in", ".pem"] { try? FileManager.default.removeItem(atPath: file + end) } }
            try certificate.certificatePEM.write(toFile: file + ".pem", atomically: true, encoding: .utf8)
            try Data(repeating: 1, count: 200_000).write(to: URL(filePath: file + ".in"))
            let text = try await curl(
                [
                    "--http2", "--cacert", file + ".pem", "--data-binary", "@" + file + ".in", "-i",
                    "https://127.0.0.1:\(port)/refuse",
                ], file)
            #expect(text.hasPrefix("HTTP/2 409"))
            #expect(text.contains("not read"))
            #expect(!text.lowercased().contains("connection:"))
        }
    }

    @Test("TLS 1.2 is spoken with ciphers that authenticate, and not with CBC")
    func ciphers() async throws {
        let certificate = try TestCertificate()
        let identity = try ServerIdentity(chainPEM: certificate.certificatePEM, keyPEM: certificate.keyPEM)
        try await listening(.guardedTLS(identity, allowance: allowance())) { port in
            let file = NSTemporaryDirectory() + "clarion-front-\(UUID().uuidString)"
            defer { for end in ["", ".pem"] { try? FileManager.default.removeItem(atPath: file + end) } }
            try certificate.certificatePEM.write(toFile: file + ".pem", atomically: true, encoding: .utf8)
            for (ciphers, isSpoken) in [
                ("ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256", true),
                ("ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES128-SHA:ECDHE-RSA-AES256-SHA", false),
                ("ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA256:AES128-GCM-SHA256:AES128-SHA", false),
            ] {
                let text = try await curl(
                    [
                        "--tls-max", "1.2", "--ciphers", ciphers + ":@SECLEVEL=0", "--cacert", file + ".pem", "-i",
                        "https://127.0.0.1:\(port)/small",
                    ], file, fails: !isSpoken)
                #expect(text.hasSuffix("small") == isSpoken, "\(ciphers)")
            }
        }
    }

    @Test("answers over TLS require TLS of browsers where that is set, and plain answers never do", arguments: [true, false])
    func strictTransport(_ isSet: Bool) async throws {
        let certificate = try TestCertificate()
        let identity = try ServerIdentity(chainPEM: certificate.certificatePEM, keyPEM: certificate.keyPEM)
        try await listening(.guardedTLS(identity, allowance: allowance()), requiresTLS: isSet) { port in
            try await withClient(trusting: certificate.certificatePEM, version: .automatic) { client in
                for path in ["/small", "/none"] {
                    let fields = try await get(path, port, client).response.headers["strict-transport-security"]
                    #expect(fields == (isSet ? ["max-age=31536000"] : []))
                }
            }
        }
        try await listening(.guarded(allowance: allowance()), requiresTLS: isSet) { port in
            let file = NSTemporaryDirectory() + "clarion-front-\(UUID().uuidString)"
            defer { try? FileManager.default.removeItem(atPath: file) }
            let text = try await curl(["-i", "http://127.0.0.1:\(port)/small"], file)
            #expect(text.hasSuffix("small"))
            #expect(!text.lowercased().contains("strict-transport"))
        }
    }

    @Test("a client that offers nothing by ALPN is answered in HTTP/1.1")
    func noOffer() async throws {
        let certificate = try TestCertificate()
        let identity = try ServerIdentity(chainPEM: certificate.certificatePEM, keyPEM: certificate.keyPEM)
        try await listening(.guardedTLS(identity, allowance: allowance())) { port in
            let file = NSTemporaryDirectory() + "clarion-front-\(UUID().uuidString)"
            defer { for end in ["", ".pem"] { try? FileManager.default.removeItem(atPath: file + end) } }
            try certificate.certificatePEM.write(toFile: file + ".pem", atomically: true, encoding: .utf8)
            let text = try await curl(["--no-alpn", "--cacert", file + ".pem", "-i", "https://127.0.0.1:\(port)/small"], file)
            #expect(text.hasPrefix("HTTP/1.1 200"))
            #expect(text.hasSuffix("small"))
        }
    }

    @Test("HTTP/2 is spoken without TLS to a client that knows beforehand")
    func priorKnowledge() async throws {
        try await listening(.guardedHTTP2(allowance: allowance())) { port in
            let file = NSTemporaryDirectory() + "clarion-front-\(UUID().uuidString)"
            defer { try? FileManager.default.removeItem(atPath: file) }
            let text = try await curl(["--http2-prior-knowledge", "-i", "http://127.0.0.1:\(port)/small"], file)
            #expect(text.hasPrefix("HTTP/2 200"))
            #expect(text.hasSuffix("small"))
        }
    }

    @Test("a replaced certificate is shown to connections from then on, and one that is unfit changes nothing")
    func replacement() async throws {
        let (first, second) = (try TestCertificate(), try TestCertificate())
        let identity = try ServerIdentity(chainPEM: first.certificatePEM, keyPEM: first.keyPEM)
        #expect(throws: ServerIdentity.Fault.pair) { try identity.replace(chainPEM: second.certificatePEM, keyPEM: first.keyPEM) }
        #expect(throws: ServerIdentity.Fault.chain) { try identity.replace(chainPEM: "", keyPEM: first.keyPEM) }
        #expect(throws: ServerIdentity.Fault.key) { try identity.replace(chainPEM: first.certificatePEM, keyPEM: "none") }
        try await listening(.guardedTLS(identity, allowance: allowance())) { port in
            try await withClient(trusting: first.certificatePEM, version: .automatic) { client in
                let small = try await get("/small", port, client)
                #expect(small.response.status == .ok)
            }
            try identity.replace(chainPEM: second.certificatePEM, keyPEM: second.keyPEM)
            try await withClient(trusting: second.certificatePEM, version: .automatic) { client in
                let small = try await get("/small", port, client)
                #expect(small.response.status == .ok)
            }
            try await withClient(trusting: first.certificatePEM, version: .automatic) { client in
                await #expect(throws: (any Error).self) { try await get("/small", port, client) }
            }
        }
    }

    @Test("connections beyond the limit are closed, over TLS and by prior knowledge", arguments: [true, false])
    func limit(_ usesTLS: Bool) async throws {
        let certificate = try TestCertificate()
        let identity = try ServerIdentity(chainPEM: certificate.certificatePEM, keyPEM: certificate.keyPEM)
        let none = allowance(0)
        try await listening(usesTLS ? .guardedTLS(identity, allowance: none) : .guardedHTTP2(allowance: none)) { port in
            let file = NSTemporaryDirectory() + "clarion-front-\(UUID().uuidString)"
            defer { try? FileManager.default.removeItem(atPath: file) }
            let way =
                usesTLS
                ? ["-k", "https://127.0.0.1:\(port)/small"] : ["--http2-prior-knowledge", "http://127.0.0.1:\(port)/small"]
            for _ in 1...3 {
                let text = try await curl(way, file, fails: true)
                #expect(text.isEmpty)
            }
        }
    }

    /// What the program prints to its output.
    private func curl(_ arguments: [String], _ output: String, fails: Bool = false) async throws -> String {
        let process = try ChildProcess(
            ChildProcess.Command("curl", ["-s", "--max-time", "120", "--noproxy", "*"] + arguments, output: output))
        #expect((await process.exitStatus() != 0) == fails)
        return try String(contentsOfFile: output, encoding: .utf8)
    }
}
