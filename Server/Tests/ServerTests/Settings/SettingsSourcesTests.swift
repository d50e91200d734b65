import Testing

@testable import ServerSettings

@Suite("Where settings come from")
struct SettingsSourcesTests {
    @Test("without any source the defaults hold, and they are fit for use")
    func defaults() throws {
        let result = SettingsFixture().read()
        let settings = try #require(result.settings)
        #expect(result.problems.isEmpty)
        #expect(settings.listening.address == Settings.Address(host: "127.0.0.1", port: 8080))
        #expect(settings.metrics == nil)
        #expect(settings.apns.credential == nil)
    }

    @Test("the command line wins over the environment, the environment over the file, the file over the default")
    func rank() throws {
        var fixture = SettingsFixture()
        fixture.file = "listen-port: 1001\nhub-name: filed\nneutral-text: From the file\n"
        fixture.environment = ["CLARION_LISTEN_PORT": "1002", "CLARION_HUB_NAME": "surrounded"]
        fixture.arguments = ["--listen-port", "1003"]
        let settings = try #require(fixture.read().settings)
        #expect(settings.listening.address.port == 1003)
        #expect(settings.notifications.hubName == "surrounded")
        #expect(settings.notifications.neutralText == "From the file")
        #expect(settings.shutdownDeadline == .seconds(10))
    }

    @Test("a text with commas stays one text on the command line, in the environment and in the file")
    func commas() throws {
        for fixture in [
            SettingsFixture(arguments: ["--neutral-text", "Hello, you"]),
            SettingsFixture(arguments: ["--neutral-text=Hello, you"]),
            SettingsFixture(environment: ["CLARION_NEUTRAL_TEXT": "Hello, you"]),
            SettingsFixture(file: "neutral-text: Hello, you"),
        ] {
            #expect(fixture.read().settings?.notifications.neutralText == "Hello, you")
        }
    }

    @Test("a list is a list in the file and commas elsewhere")
    func lists() throws {
        for fixture in [
            SettingsFixture(arguments: ["--trusted-proxies", "10.0.0.0/8, fd00::/8"]),
            SettingsFixture(arguments: ["--trusted-proxies", "10.0.0.0/8", "--trusted-proxies", "fd00::/8"]),
            SettingsFixture(environment: ["CLARION_TRUSTED_PROXIES": "10.0.0.0/8,fd00::/8"]),
            SettingsFixture(file: "trusted-proxies: [10.0.0.0/8, \"fd00::/8\"]"),
        ] {
            #expect(fixture.read().settings?.listening.trustedProxies.map(\.description) == ["10.0.0.0/8", "fd00::/8"])
        }
    }

    @Test("a setting that is true or false may stand alone on the command line")
    func flags() throws {
        let alone = SettingsFixture(arguments: ["--behind-tls-proxy", "--listen-host", "0.0.0.0"])
        #expect(alone.read().settings?.listening.isBehindTLSProxy == true)
        let spelled = SettingsFixture(arguments: ["--behind-tls-proxy", "false"], file: "behind-tls-proxy: true")
        #expect(spelled.read().settings?.listening.isBehindTLSProxy == false)
    }

    @Test("the variables of the command line client are no settings, and do no harm")
    func clientVariables() {
        #expect(
            SettingsFixture(environment: [
                "CLARION_USER": "alice", "CLARION_PASSWORD": "x", "CLARION_KEY": "clk_", "CLARION_HUB": "y",
                "CLARION_SERVER_URL": "https://push.example.com",
            ]).problems.isEmpty)
    }

    @Test("a secret comes from the file that its variable names")
    func secretFile() throws {
        var fixture = SettingsFixture(files: ["key.p8": "the key"])
        fixture.environment = ["CLARION_APNS_KEY_FILE": "key.p8"]
        fixture.file = "apns-topic: com.example.app\napns-team-id: ABCDE12345\napns-key-id: FGHIJ67890\n"
        #expect(try #require(fixture.read().settings).apns.credential?.key.reveal() == "the key")
    }

    @Test("every declared setting is read, and none is declared twice")
    func complete() {
        let read = SettingsFixture().read().report.resolutions.map(\.key)
        let declared = SettingCatalog.all.map(\.declaration.key)
        #expect(Set(read) == Set(declared))
        #expect(read.count == declared.count)
        #expect(Set(declared).count == declared.count)
    }

    @Test("keys are kebab-case, and none ends in file")
    func names() {
        for key in SettingCatalog.all.map(\.declaration.key) {
            #expect(key.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" } && !key.hasSuffix("file"), "\(key)")
        }
    }

    @Test("a setting that was assigned is read back, alone and as a part of what it belongs to")
    func assigned() throws {
        var settings = try #require(SettingsFixture().read().settings)
        let before = settings
        settings.listening.backlog = 64
        settings.listening.tls = Settings.TLS(address: .init(host: "::1", port: 8443), names: ["push.example.com"])
        #expect(settings.listening.backlog == 64)
        #expect(settings.listening.tlsPort == 8443)
        #expect(settings.listening.tls?.names == ["push.example.com"])
        #expect(settings != before)
        settings.listening.backlog = nil
        settings.listening.tls = before.listening.tls
        #expect(settings.listening.backlog == nil)
        #expect(settings.listening.tls == nil)
    }
}
