import Testing

@Suite("The setting for a hub elsewhere")
struct SettingsRemoteHubTests {
    private let connection = "Endpoint=sb://push.example.test:8443/;SharedAccessKeyName=full;SharedAccessKey=hunter2="

    @Test("a connection string and a name make a hub elsewhere, and the key is shown nowhere")
    func both() throws {
        var fixture = SettingsFixture(environment: ["CLARION_REMOTE_HUB_CONNECTION_STRING": connection])
        fixture.file = "remote-hub-name: Demo\n"
        let result = fixture.read()
        #expect(result.problems.isEmpty)
        let hub = try #require(result.settings?.remoteHub)
        #expect(hub.name == "Demo")
        #expect(hub.connection.endpoint.authority == "push.example.test:8443")
        var dumped = ""
        dump(result, to: &dumped)
        for text in [dumped, "\(hub)", result.report.description] { #expect(!text.contains("hunter2")) }
    }

    @Test("without both there is none, and half of it is a problem")
    func half() {
        #expect(SettingsFixture().read().settings?.remoteHub == nil)
        let name = SettingsFixture(file: "remote-hub-name: Demo\n").problems
        #expect(name.count == 1)
        #expect(name.allSatisfy { $0.contains("remote-hub-connection-string") })
        let key = SettingsFixture(environment: ["CLARION_REMOTE_HUB_CONNECTION_STRING": connection]).problems
        #expect(key.count == 1)
        #expect(key.allSatisfy { $0.contains("remote-hub-name") && !$0.contains("hunter2") })
    }

    @Test("quiet hours with it are a problem, and so are hours or a zone that nothing has")
    func quietHours() throws {
        var fixture = SettingsFixture(environment: ["CLARION_REMOTE_HUB_CONNECTION_STRING": connection])
        fixture.file = "remote-hub-name: Demo\nquiet-hours: 22:00-08:00\n"
        #expect(
            fixture.problems.count == 1 && fixture.problems.allSatisfy { $0.contains("quiet-hours") && $0.contains("elsewhere") })
        fixture.file = "remote-hub-name: Demo\nuser-quiet-hours: true\n"
        #expect(fixture.problems.count == 1 && fixture.problems.allSatisfy { $0.contains("user-quiet-hours") })
        #expect(SettingsFixture(file: "user-quiet-hours: true\n").read().settings?.backend.userQuietHours == true)
        for text in ["22:00-22:00", "22-8", "at night"] {
            let problems = SettingsFixture(file: "quiet-hours: \(text)\n").problems
            #expect(problems.count == 1 && problems.allSatisfy { $0.contains("22:00-08:00") }, "\(text): \(problems)")
        }
        let zone = SettingsFixture(file: "quiet-hours-zone: Europe/Atlantis\n").problems
        #expect(zone.count == 1 && zone.allSatisfy { $0.contains("quiet-hours-zone") })
        let right = SettingsFixture(file: "quiet-hours: 22:00-08:00\nquiet-hours-zone: Europe/Berlin\n").read()
        #expect(right.settings?.backend.quietHours?.description == "22:00-08:00")
        #expect(right.settings?.backend.quietHoursZone == "Europe/Berlin")
    }

    @Test("frequency caps are read; one with two limits, or with a hub elsewhere, is a problem")
    func frequencyCaps() {
        let right = SettingsFixture(file: "frequency-caps: [marketing=3/7d, news=10/1d]\n").read()
        #expect(right.settings?.backend.frequencyCaps.map(\.description) == ["marketing=3/7d", "news=10/1d"])
        let malformed = SettingsFixture(file: "frequency-caps: [marketing=3/7d, news]\n").problems
        #expect(malformed.count == 1 && malformed.allSatisfy { $0.contains("frequency-caps") && $0.contains("marketing=3/7d") })
        let twice = SettingsFixture(file: "frequency-caps: [marketing=3/7d, news=1/1d, marketing=1/1d]\n").problems
        #expect(twice.count == 1 && twice.allSatisfy { $0.contains("has marketing more than once") })
        var elsewhere = SettingsFixture(environment: ["CLARION_REMOTE_HUB_CONNECTION_STRING": connection])
        elsewhere.file = "remote-hub-name: Demo\nfrequency-caps: [marketing=3/7d]\n"
        #expect(
            elsewhere.problems.count == 1
                && elsewhere.problems.allSatisfy { $0.contains("frequency-caps") && $0.contains("elsewhere") })
    }

    @Test("the number of devices above which a send is approved is bounded, and not for a hub elsewhere")
    func approvals() {
        #expect(SettingsFixture(file: "approval-above: 1000\n").read().settings?.backend.approvalAbove == 1_000)
        #expect(SettingsFixture().read().settings?.backend.approvalAbove == nil)
        for value in ["0", "10001", "many"] { #expect(SettingsFixture(file: "approval-above: \(value)\n").problems.count == 1) }
        var elsewhere = SettingsFixture(environment: ["CLARION_REMOTE_HUB_CONNECTION_STRING": connection])
        elsewhere.file = "remote-hub-name: Demo\napproval-above: 1000\n"
        #expect(
            elsewhere.problems.count == 1
                && elsewhere.problems.allSatisfy { $0.contains("approval-above") && $0.contains("elsewhere") })
    }

    @Test("a connection string that is none stops the start, and says why without the key")
    func malformed() {
        var fixture = SettingsFixture(environment: [
            "CLARION_REMOTE_HUB_CONNECTION_STRING": "Endpoint=sb://h/;SharedAccessKey=hunter2="
        ])
        fixture.file = "remote-hub-name: Demo\n"
        #expect(fixture.problems.count == 1)
        #expect(fixture.problems.allSatisfy { $0.contains("SharedAccessKeyName") && !$0.contains("hunter2") })
    }
}
