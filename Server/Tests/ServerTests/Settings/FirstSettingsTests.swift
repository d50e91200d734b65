import Testing

@testable import ServerSettings

@Suite("The settings that a new node begins with")
struct FirstSettingsTests {
    @Test("the file gives what was given, quoted, in the order of the reference, and reads back as the same")
    func file() throws {
        let first = try FirstSettings(
            arguments: [
                "--log-level", "debug", "--data-directory", "/srv/my \"data\": #1", "--listen-port=9000", "--insecure",
                "--protected-tag-prefixes", "username:,role:",
            ], system: SettingsFixture().system)
        let lines = first.text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(
            lines == [
                #"data-directory: "/srv/my \"data\": #1""#, #"listen-port: "9000""#, #"insecure: "true""#, #"log-level: "debug""#,
                #"protected-tag-prefixes: ["username:", "role:"]"#,
            ])
        #expect(SettingsFixture(file: first.text).read().settings == first.settings)
    }

    @Test("every problem is thrown at once")
    func problems() throws {
        let error = try #require(throws: SettingsError.self) {
            _ = try FirstSettings(
                arguments: ["--listen-port", "99999", "--colour", "red", "--log-level", "loud"], system: SettingsFixture().system)
        }
        #expect(error.problems.count == 3)
    }
}
