import Testing

@Suite("The settings of a content store")
struct SettingsContentStoreTests {
    private let key = "s3-bucket: pictures\ns3-key-id: AKIAEXAMPLE\n"
    private let secret = ["CLARION_S3_SECRET": "hunter2"]

    private func problems(_ lines: String) -> [String] {
        SettingsFixture(environment: secret, file: key + lines).problems
    }

    @Test("a bucket, a key and a secret make a store at Amazon's, and the secrets are shown nowhere")
    func standard() throws {
        var fixture = SettingsFixture(environment: ["CLARION_S3_SECRET_FILE": "secret", "CLARION_S3_SESSION_TOKEN": "lent4ever"])
        fixture.file = key + "s3-region: eu-central-1\ns3-prefix: clarion/\n"
        fixture.files = ["secret": "hunter2\n"]
        let result = fixture.read()
        #expect(result.problems.isEmpty)
        let store = try #require(result.settings?.contentStore)
        #expect(store.location.endpoint.description == "https://s3.eu-central-1.amazonaws.com")
        #expect(store.location.bucket == "pictures")
        #expect(store.location.prefix == "clarion/")
        #expect(store.location.addressing == .path)
        #expect(!store.handsOutLinks)
        var dumped = ""
        dump(result, to: &dumped)
        for text in [dumped, "\(store)", result.report.description] {
            #expect(!text.contains("hunter2"))
            #expect(!text.contains("lent4ever"))
        }
    }

    @Test("without a bucket there is none, and every other setting of one is a mistake")
    func idle() {
        #expect(SettingsFixture().read().settings?.contentStore == nil)
        let lines = "s3-region: eu-west-1\ns3-prefix: a\ns3-links: true\ns3-addressing: virtual-host\n"
        let found = SettingsFixture(environment: secret, file: lines).problems
        #expect(found.count == 5)
        #expect(found.allSatisfy { $0.contains("set s3-bucket as well") && !$0.contains("hunter2") })
    }

    @Test("a bucket without its key is a problem for each part that is missing")
    func half() {
        let found = SettingsFixture(file: "s3-bucket: pictures\n").problems
        #expect(found.count == 2)
        #expect(found.contains { $0.contains("s3-key-id") })
        #expect(found.contains { $0.hasPrefix("s3-secret") })
    }

    @Test(
        "what does not fit together stops the start",
        arguments: [
            ("s3-endpoint: http://store.example:9000", "s3-insecure"),
            ("s3-endpoint: http://10.0.0.1:9000\ns3-insecure: true\ns3-links: true", "phones follow no other link"),
            ("s3-endpoint: https://10.0.0.1:9000\ns3-addressing: virtual-host", "s3-addressing: path"),
            ("s3-endpoint: http://127.0.0.1:9000\ns3-trust-roots-path: roots.pem", "https"),
        ])
    func conflicts(lines: String, word: String) {
        let fixture = SettingsFixture(environment: secret, file: key + lines + "\n", files: ["roots.pem": "PEM"])
        #expect(fixture.problems.count == 1)
        #expect(fixture.problems.allSatisfy { $0.contains(word) })
    }

    @Test("a bucket with a dot has no certificate as part of a host's name")
    func dotted() {
        let lines = "s3-bucket: my.pictures\ns3-key-id: AKIAEXAMPLE\ns3-addressing: virtual-host\n"
        let found = SettingsFixture(environment: secret, file: lines).problems
        #expect(found.count == 1)
        #expect(found.allSatisfy { $0.contains("s3-addressing: path") })
    }

    @Test("http is for this machine, or for an operator who declares the network closed")
    func plain() {
        #expect(problems("s3-endpoint: http://127.0.0.1:9000\n").isEmpty)
        #expect(problems("s3-endpoint: http://store:9000\ns3-insecure: true\n").isEmpty)
    }

    @Test("malformed values are reported all at once, and no secret among them")
    func malformed() {
        let environment = ["CLARION_S3_SECRET": "two words", "CLARION_S3_SESSION_TOKEN": ""]
        let lines = """
            s3-bucket: No
            s3-region: "EU West"
            s3-endpoint: https://host/path
            s3-prefix: ../up
            s3-key-id: "a/b"
            s3-addressing: hosted
            """
        let found = SettingsFixture(environment: environment, file: lines).problems
        #expect(found.count >= 8)
        #expect(found.allSatisfy { !$0.contains("two words") })
        for name in ["s3-bucket", "s3-region", "s3-endpoint", "s3-prefix", "s3-key-id", "s3-addressing", "s3-secret", "session"] {
            #expect(found.contains { $0.contains(name) }, "\(name)")
        }
    }
}
