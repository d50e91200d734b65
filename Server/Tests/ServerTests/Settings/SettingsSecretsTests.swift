import Testing

@Suite("Secrets among the settings")
struct SettingsSecretsTests {
    private let secret = "-----BEGIN hunter2"

    private var fixture: SettingsFixture {
        var fixture = SettingsFixture()
        fixture.environment = ["CLARION_APNS_KEY": secret]
        fixture.file = "apns-topic: com.example.app\napns-team-id: ABCDE12345\napns-key-id: FGHIJ67890\n"
        return fixture
    }

    @Test("the report, the settings and a dump of them show no secret")
    func redacted() throws {
        let result = fixture.read()
        var dumped = ""
        dump(result, to: &dumped)
        for text in [dumped, result.report.description, "\(try #require(result.settings))", String(reflecting: result.settings)] {
            #expect(!text.contains("hunter2"))
        }
        #expect(result.report.description.contains("(secret)"))
    }

    @Test("a problem with a secret does not show it")
    func problem() {
        let long = String(repeating: "hunter2", count: 2000)
        let problems = SettingsFixture(environment: ["CLARION_APNS_KEY": long]).problems
        #expect(problems.count == 1)
        #expect(problems.allSatisfy { !$0.contains("hunter2") })
    }

    @Test("a name and a password in an address that takes none are not shown, neither in a problem nor in the report")
    func address() {
        let addresses = [
            "https://key:hunter2@s3.example.com", "https://hunter2@s3.example.com/path", "x://a@hunter2@b",
            "key:hunter2@s3.example.com",
            "https:/key:hunter2@s3.example.com", "https://s3.example.com?password=hunter2",
        ]
        for address in addresses {
            let result = SettingsFixture(environment: ["CLARION_S3_ENDPOINT": address]).read()
            #expect(result.problems.contains { "\($0)".contains("(secret)") })
            #expect(!"\(result.problems) \(result.report.description)".contains("hunter2"))
        }
    }

    @Test("a secret on the command line is refused and not shown")
    func commandLine() {
        for arguments in [["--apns-key", secret], ["--apns-key=\(secret)"]] {
            let problems = SettingsFixture(arguments: arguments).problems
            #expect(problems.count == 1)
            #expect(problems.allSatisfy { $0.contains("CLARION_APNS_KEY_FILE") && !$0.contains("hunter2") })
        }
    }

    @Test("a secret that is said twice is a problem")
    func twice() {
        var fixture = fixture
        fixture.files = ["k": "other"]
        fixture.environment["CLARION_APNS_KEY_FILE"] = "k"
        #expect(fixture.problems.count == 1)
    }
}
