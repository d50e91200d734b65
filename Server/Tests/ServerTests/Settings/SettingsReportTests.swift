import Testing

@Suite("The report of settings")
struct SettingsReportTests {
    @Test("each line says what holds, where it came from and what it hides")
    func lines() throws {
        var fixture = SettingsFixture(arguments: ["--listen-port", "9000"], file: "listen-port: 80\n")
        fixture.environment = ["CLARION_HUB_NAME": "news"]
        let lines = fixture.read().report.description.split(separator: "\n").map {
            $0.split(separator: " ").joined(separator: " ")
        }
        #expect(lines.first == "file: clarion.yaml")
        #expect(lines.contains("listen-port 9000 command line --listen-port, over clarion.yaml line 1"))
        #expect(lines.contains("hub-name news environment CLARION_HUB_NAME"))
        #expect(lines.contains("content-limit 25MB default"))
        #expect(lines.contains("public-url - default"))
    }
}
