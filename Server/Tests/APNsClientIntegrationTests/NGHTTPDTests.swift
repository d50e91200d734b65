import APNsHTTP2
import APNsProtocol
import ClarionTesting
import Crypto
import Foundation
import Logging
import NIOCore
import NIOPosix
import RichPushModel
import Testing
import X509

/// A server that has nothing to do with this product: `nghttpd` of nghttp2.
@Suite("The client against nghttpd", .serialized, .timeLimit(.minutes(10)))
struct NGHTTPDTests {
    private func freePort() async throws -> Int {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        defer { channel.close(promise: nil) }
        return channel.localAddress?.port ?? 0
    }

    /// Starts `nghttpd`, which cannot let the system choose a port: one that was free may be another's a moment later, and then it
    /// ends at once and the next one is tried.
    private func start(
        _ options: [String], certificate: [String] = [], output: String
    ) async throws -> (ChildProcess, Int) {
        for _ in 0..<10 {
            let port = try await freePort()
            let server = try ChildProcess(
                .init("nghttpd", ["-a", "127.0.0.1", "--echo-upload"] + options + ["\(port)"] + certificate, output: output))
            for _ in 0..<50 where server.isRunning { try await Task.sleep(for: .milliseconds(10)) }
            if server.isRunning { return (server, port) }
        }
        throw Failure()
    }

    private struct Failure: Error {}

    /// A certificate for `localhost` that vouches for itself, and its key, as files; the PEM is what to trust.
    private func certificate(in folder: URL) throws -> (pem: String, files: [String]) {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("localhost") }
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
            notValidBefore: Date() - 60, notValidAfter: Date() + 3_600, issuer: name, subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames([.dnsName("localhost")])
            },
            issuerPrivateKey: .init(key))
        let pem = try certificate.serializeAsPEM().pemString
        let files = [folder.appending(path: "key.pem"), folder.appending(path: "certificate.pem")]
        try Data(key.pemRepresentation.utf8).write(to: files[0])
        try Data(pem.utf8).write(to: files[1])
        return (pem, files.map(\.path))
    }

    // One after the other, so that no two take the same free port.
    @Test(
        "thousands of requests are answered, within a few streams and small windows, in clear text and over TLS",
        arguments: [("1", "16", false), ("37", "14", false), ("37", "14", true), ("100", "16", true)])
    func requests(streams: String, windowBits: String, isEncrypted: Bool) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "clarion-nghttpd-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (pem, files) = try certificate(in: folder)
        let (server, port) = try await start(
            (isEncrypted ? [] : ["--no-tls"]) + ["-m", streams, "-w", windowBits, "-W", windowBits],
            certificate: isEncrypted ? files : [], output: folder.appending(path: "output").path)
        let key = try ProviderTokenKey(privateKey: P256.Signing.PrivateKey(), keyID: "KEY4567890", teamID: "TEAM567890")
        var timing = APNsClientTiming()
        timing.initialBackOff = .milliseconds(20)
        timing.maximumBackOff = .milliseconds(200)
        let client = try APNsClient(
            configuration: APNsClientConfiguration(
                environment: .sandbox, credential: .token(ProviderTokenCache(key: key, clock: SystemClock())),
                endpoint: .init(host: "127.0.0.1", port: port, serverName: "localhost"),
                transport: isEncrypted ? .tls(.additional(pem: pem)) : .cleartext, timing: timing, strictness: .wireOnly),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        let headers = APNsPush.Headers(topic: "com.example.app", pushType: .alert, priority: 10)
        let pushes = (0..<3000).map { number in
            APNsPush(
                deviceToken: String(repeating: "0a", count: 32), headers: headers,
                payload: [UInt8](repeating: 0x20, count: number % 4000 + 1), apnsID: UUID())
        }
        let outcomes = await client.send(pushes)
        #expect(outcomes.filter(\.isAccepted).count == 3000, "\(outcomes.first.map { "\($0)" } ?? ""), \(client.metrics)")
        #expect(client.metrics.unknown == 0)
        #expect(client.metrics.goAways == 0)
        await client.shutdown(within: .seconds(2))
        server.signal(SIGKILL)
        _ = await server.exitStatus()
    }
}
