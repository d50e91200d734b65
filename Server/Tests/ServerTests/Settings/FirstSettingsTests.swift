import Testing

@testable import ServerSettings

@Suite("The settings that a new node begins with")
struct FirstSettingsTests {
    private func first(
        _ arguments: [String], answers: [FirstSettings.Answer] = [], environment: [String: String] = [:],
        files: [String: String] = [:]
    ) throws(SettingsError) -> FirstSettings {
        try FirstSettings(
            arguments: arguments, answers: answers, environment: environment, directory: "/srv/dana",
            dataDirectory: "/srv/standard",
            system: SettingsFixture(files: files).system)
    }

    private func lines(_ settings: FirstSettings) -> [Substring] {
        settings.text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    }

    @Test("the file gives what was given, quoted, in the order of the reference, and reads back as the same")
    func file() throws {
        let first = try first([
            "--log-level", "debug", "--data-directory", "/srv/my \"data\": #1", "--listen-port=9000", "--insecure",
            "--protected-tag-prefixes", "username:,role:",
        ])
        #expect(
            lines(first) == [
                #"data-directory: "/srv/my \"data\": #1""#, #"listen-port: "9000""#, #"insecure: "true""#, #"log-level: "debug""#,
                #"protected-tag-prefixes: ["username:", "role:"]"#,
            ])
        #expect(SettingsFixture(file: first.text).read().settings == first.settings)
    }

    @Test("paths are absolute in the file, and the data directory is in it")
    func paths() throws {
        let first = try first(["--default-picture-path", "pictures/a.png"], files: ["/srv/dana/pictures/a.png": ""])
        #expect(
            lines(first) == [
                #"data-directory: "/srv/standard""#, #"default-picture-path: "/srv/dana/pictures/a.png""#,
            ])
        #expect(try self.first(["--data-directory=data"]).settings.dataDirectory == "/srv/dana/data")
    }

    @Test("the environment holds for the settings, is named, and is not in the file")
    func environment() throws {
        let variables = [
            "CLARION_DATABASE_URL": "postgres://clarion:secret-word@db.example.com/clarion", "CLARION_LOG_LEVEL": "debug",
            "CLARION_DATA_DIRECTORY": "/srv/other", "HOME": "/root",
        ]
        let first = try first(["--log-level", "error"], environment: variables)
        #expect(first.settings.database != nil)
        #expect(first.settings.dataDirectory == "/srv/other")
        #expect(first.variables == ["CLARION_DATABASE_URL", "CLARION_DATA_DIRECTORY", "CLARION_LOG_LEVEL"])
        #expect(lines(first) == [#"log-level: "error""#])
    }

    @Test("an answer is a setting as one that is given, and a problem with it names the question")
    func answers() throws {
        let question = "Where is the signing key?"
        let first = try first(
            ["--log-level", "debug"], answers: [.init(for: "default-picture-path", to: "Which picture?", "pictures/a.png")],
            files: ["/srv/dana/pictures/a.png": ""])
        #expect(lines(first).contains(#"default-picture-path: "/srv/dana/pictures/a.png""#))
        let error = try #require(throws: SettingsError.self) {
            _ = try self.first([], answers: [.init(for: "public-url", to: question, "push.example.com")])
        }
        #expect(error.problems.map(\.place) == ["the answer to \"\(question)\": public-url"])
        #expect(!error.description.contains("command line"))
    }

    @Test("every problem is thrown at once")
    func problems() throws {
        let error = try #require(throws: SettingsError.self) {
            _ = try first(
                ["--listen-port", "99999", "--colour", "red", "--log-level", "loud"], environment: ["CLARION_LISTN_PORT": "80"])
        }
        #expect(error.problems.count == 4)
    }
}
