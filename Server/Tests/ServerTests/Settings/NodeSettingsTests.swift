import AppBackend
import Testing

@testable import ServerSettings

/// The settings as administrators see them.
@Suite struct NodeSettingsTests {
    private static func read(_ fixture: SettingsFixture) throws -> NodeSettings {
        try #require(fixture.read().settings).report.nodeSettings
    }

    @Test("every setting is there once, in the order of the reference page")
    func all() throws {
        let names = try Self.read(SettingsFixture()).settings.map(\.name)
        #expect(names == SettingCatalog.all.map(\.declaration.key))
    }

    @Test("a setting says its value, where that comes from and over what")
    func origin() throws {
        let fixture = SettingsFixture(
            arguments: ["--listen-port", "8081"], environment: ["CLARION_LISTEN_PORT": "8082"], file: "log-level: debug\n")
        let found = try Self.read(fixture)
        #expect(found.file == SettingsFixture.path)
        let port = try #require(found.settings.first { $0.name == "listen-port" })
        #expect(port.value == ["8081"])
        #expect(port.origin == "command line --listen-port")
        #expect(port.overrides == ["environment CLARION_LISTEN_PORT"])
        #expect(!port.isDefault)
        let level = try #require(found.settings.first { $0.name == "log-level" })
        #expect(level.origin == "\(SettingsFixture.path) line 1")
        let path = try #require(found.settings.first { $0.name == "console-path" })
        #expect(path.isDefault)
        #expect(path.section == "Console")
        #expect(!path.meaning.isEmpty)
    }

    @Test("no secret is in it")
    func secrets() throws {
        let secrets = SettingCatalog.all.map(\.declaration).filter(\.isSecret).map(\.key)
        #expect(secrets.contains("database-url"))
        let fixture = SettingsFixture(environment: [
            "CLARION_DATABASE_URL": "postgres://clarion:hidden-word@db.example.com/clarion"
        ])
        let found = try Self.read(fixture)
        #expect(found.settings.first { $0.name == "database-url" }?.value == ["(secret)"])
        #expect(!"\(found)".contains("hidden-word"))
    }
}
