import AsyncHTTPClient
import ClarionTesting
import Foundation
import LocalCertificates
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import RichPushModel

@testable import FCMEmulation

/// A local FCM, in the process alone or with a port, and a client that trusts it.
struct RunningFCM {
    static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    let fcm: LocalFCM
    let client: HTTPClient
    let authorityPEM: String
    let port: Int
    let phone: SimulatedAndroid
    /// What `Authorization` has.
    let bearer: String

    /// A service without a port.
    static func inProcess(clock: any ServiceClock = ManualClock()) -> LocalFCM {
        LocalFCM(
            settings: LocalFCMSettings(identity: .init(certificatePEM: "", privateKeyPEM: "")), clock: clock,
            group: MultiThreadedEventLoopGroup.singleton, logger: quiet, random: SeededGenerator(seed: 3))
    }

    /// Runs `body` with a service that listens, and shuts it down, whatever happens.
    static func run(
        http1Only: Bool = false, clock: any ServiceClock = .system, _ body: (RunningFCM) async throws -> Void
    ) async throws {
        let authority = try LocalCertificateAuthority.create(now: SystemClock().now)
        let leaf = try authority.issueServerCertificate(
            names: ["localhost", "127.0.0.1"], subject: "local FCM", now: SystemClock().now)
        let fcm = LocalFCM(
            settings: LocalFCMSettings(
                identity: .init(certificatePEM: leaf.certificatePEM, privateKeyPEM: leaf.privateKeyPEM)), clock: clock,
            group: MultiThreadedEventLoopGroup.singleton, logger: quiet)
        try fcm.addProject(FCMFixture.project)
        let phone = try fcm.addDevice("phone", project: FCMFixture.project, package: FCMFixture.package)
        let bearer = try fcm.with { state throws(LocalFCMError) in
            try state.changeProject(FCMFixture.project) { $0.accounts[FCMFixture.account] = .init(maySend: true) }
            return state.issueAccessToken(account: FCMFixture.account, scopes: [FCMFixture.messaging])
        }
        var configuration = HTTPClient.Configuration()
        configuration.httpVersion = http1Only ? .http1Only : .automatic
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(authority.certificatePEM.utf8)))
        configuration.tlsConfiguration = tls
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let running = RunningFCM(
            fcm: fcm, client: client, authorityPEM: authority.certificatePEM, port: try await fcm.start().port, phone: phone,
            bearer: bearer)
        let result: Result<Void, any Error>
        do { result = .success(try await body(running)) } catch { result = .failure(error) }
        await fcm.shutdown()
        try await client.shutdown()
        try result.get()
    }

    /// Sends a request; returns its status, its body and the version of HTTP that was spoken.
    func call(
        _ method: String, _ path: String, _ body: String? = nil, type: String = "application/json"
    ) async throws -> (status: Int, body: String, response: HTTPClientResponse) {
        var request = HTTPClientRequest(url: "https://localhost:\(port)\(path)")
        request.method = .init(rawValue: method)
        request.headers = ["authorization": "Bearer \(bearer)"]
        if let body {
            request.headers.add(name: "content-type", value: type)
            request.body = .bytes(ByteBuffer(string: body))
        }
        let response = try await client.execute(request, timeout: .seconds(20))
        let answer = try await response.body.collect(upTo: 4 << 20)
        return (Int(response.status.code), String(buffer: answer), response)
    }

    /// Sends a message to the phone.
    func push(_ members: String = #""data":{"a":"b"}"#) async throws -> (status: Int, body: String, response: HTTPClientResponse)
    {
        let body = #"{"message":{"token":"\#(phone.token ?? "")",\#(members)}}"#
        return try await call("POST", "/v1/projects/\(FCMFixture.project)/messages:send", body)
    }
}
