import NIOPosix
import Testing

@testable import ServerOperations

@Suite("The doctor and the ports of a server")
struct DoctorPortTests {
    private func finding(_ name: String, _ fixture: SettingsFixture) async throws -> DoctorCheck.Finding {
        let check = try #require(Doctor.checks(for: fixture.read()).first { $0.name == name })
        return await check.look()
    }

    @Test("each listener of the settings is looked at, and none besides")
    func listeners() {
        func names(_ file: String) -> [String] {
            Doctor.checks(for: SettingsFixture(file: file).read()).map(\.name).filter { $0.hasSuffix("port") }
        }
        #expect(names("") == ["listening port"])
        #expect(
            names("tls-listen-port: 8443\nprior-knowledge-port: 8444\nmetrics-port: 9464")
                == ["listening port", "HTTPS port", "prior-knowledge port", "metrics port"])
    }

    @Test(
        "a port that another program uses is reported with the setting that moves it",
        arguments: [
            ("listening port", "listen-port"), ("HTTPS port", "tls-listen-port"),
            ("prior-knowledge port", "prior-knowledge-port"), ("metrics port", "metrics-port"),
        ])
    func taken(name: String, setting: String) async throws {
        let other = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup).bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(other.localAddress?.port)
        let finding = try await finding(name, SettingsFixture(file: "\(setting): \(port)"))
        try await other.close()
        #expect(finding.verdict == .notice)
        #expect(finding.found == "port \(port) of 127.0.0.1 cannot be used: another program uses it; choose another \(setting)")
    }

    @Test("an address that this machine does not have is bad, and no port in use")
    func foreignAddress() async throws {
        // TEST-NET-3 (RFC 5737) is no machine's.
        let file = "listen-host: 203.0.113.7\nbehind-tls-proxy: true"
        let finding = try await finding("listening port", SettingsFixture(file: file))
        #expect(finding.verdict == .bad)
        #expect(finding.found.contains("this machine has no such address"))
        #expect(finding.remedy?.contains("running Clarion") == false)
    }

    @Test("a port on which only connections of the past are left is free")
    func portOfThePast() async throws {
        var found = try await findingOfPortOfThePast()
        // A port without a listener may be given to another test meanwhile.
        for _ in 1...3 where found.verdict != .good { found = try await findingOfPortOfThePast() }
        #expect(found.verdict == .good, "\(found.found)")
    }

    private func findingOfPortOfThePast() async throws -> DoctorCheck.Finding {
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                // The server's end closes first, so that it is the one that remembers the connection.
                channel.eventLoop.scheduleTask(in: .milliseconds(20)) { channel.close(promise: nil) }
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let client = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port).get()
        try await client.closeFuture.get()
        try await server.close()
        return try await finding("listening port", SettingsFixture(arguments: ["--listen-port", "\(port)"]))
    }
}
