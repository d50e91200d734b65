import RichPushModel
import Testing

@testable import FCMEmulation

@Suite("A simulated Android phone")
struct AndroidDeviceTests {
    /// What the app gets, by the value of the key `n`.
    private func numbers(_ events: [AndroidEvent]) -> [String] {
        events.compactMap { if case .message(let message) = $0 { message.data["n"] } else { nil } }
    }

    private func data(_ number: Int, _ more: String = "") -> String { #""data":{"n":"\#(number)"}\#(more)"# }

    private func key(_ key: String) -> String { #","android":{"collapse_key":"\#(key)"}"# }

    private func states(_ fixture: FCMFixture) -> [FCMDeliveryRecord.State] { fixture.state.recorder.deliveries.map(\.state) }

    @Test("a hundred messages wait for a phone that is away, in their order")
    func storage() throws {
        var fixture = try FCMFixture()
        try fixture.act(.goOffline)
        for number in 1...100 { fixture.push(data(number)) }
        #expect(fixture.events() == [])
        try fixture.act(.goOnline)
        #expect(numbers(fixture.events()) == (1...100).map(String.init))
    }

    @Test("one more, and all are dropped, of which the app hears; collapsible ones stay")
    func overflow() throws {
        var fixture = try FCMFixture()
        try fixture.act(.goOffline)
        fixture.push(data(0, key("k")))
        for number in 1...101 { fixture.push(data(number)) }
        fixture.push(data(102))
        #expect(states(fixture).count { $0 == .dropped } == 101)
        try fixture.act(.goOnline)
        let events = fixture.events()
        #expect(events.first == .deletedMessages)
        #expect(numbers(events) == ["0", "102"])
        try fixture.act(.goOnline)
        #expect(fixture.events() == [])
    }

    @Test("a message takes the place of one with the same key, and a fifth key that of the oldest")
    func collapse() throws {
        var fixture = try FCMFixture()
        try fixture.act(.goOffline)
        for (number, name) in ["a", "b", "a", "c", "d", "e"].enumerated() { fixture.push(data(number, key(name))) }
        #expect(states(fixture).count { $0 == .collapsed } == 2)
        try fixture.act(.goOnline)
        #expect(numbers(fixture.events()) == ["2", "3", "4", "5"])
    }

    @Test("what has expired is dropped without a word; now or never is never stored")
    func expiry() throws {
        var fixture = try FCMFixture()
        try fixture.act(.goOffline)
        fixture.push(data(1, #","android":{"ttl":"60s"}"#))
        fixture.push(data(2, #","android":{"ttl":"0s"}"#))
        fixture.push(data(3))
        #expect(states(fixture) == [.stored, .missed, .stored])
        fixture.clock.advance(by: .seconds(60))
        try fixture.act(.goOnline)
        #expect(numbers(fixture.events()) == ["3"])
        #expect(states(fixture).suffix(2) == [.expired, .delivered])
        fixture.push(data(4, #","android":{"ttl":"0s"}"#))
        #expect(numbers(fixture.events()) == ["4"])
    }

    @Test("after 28 days nothing waits any more")
    func longestLife() throws {
        var fixture = try FCMFixture()
        try fixture.act(.goOffline)
        fixture.push(data(1))
        fixture.clock.advance(by: .seconds(2_419_199))
        _ = fixture.state.status(of: "phone")
        #expect(fixture.state.devices["phone"]?.waiting.count == 1)
        fixture.clock.advance(by: .seconds(1))
        _ = fixture.state.status(of: "phone")
        #expect(fixture.state.devices["phone"]?.waiting.count == 0)
    }

    @Test("Doze holds back what has no high priority until a maintenance window")
    func doze() throws {
        var fixture = try FCMFixture()
        try fixture.act(.enterDoze)
        fixture.push(data(1))
        fixture.push(data(2, #","android":{"priority":"high"}"#))
        #expect(numbers(fixture.events()) == ["2"])
        try fixture.act(.openMaintenanceWindow)
        #expect(numbers(fixture.events()) == ["1"])
        fixture.push(data(3))
        #expect(fixture.events() == [])
        try fixture.act(.leaveDoze)
        #expect(numbers(fixture.events()) == ["3"])
    }

    @Test("a stopped app gets nothing until it is opened")
    func forceStop() throws {
        var fixture = try FCMFixture()
        try fixture.act(.forceStop)
        fixture.push(data(1, #","android":{"priority":"high"}"#))
        fixture.push(#""notification":{"title":"x"}"#)
        #expect(fixture.events() == [])
        try fixture.act(.openApp)
        #expect(fixture.events().count == 2)
    }

    @Test("in the background the system shows a notification, and its data come with the tap")
    func background() throws {
        var fixture = try FCMFixture()
        let members = #""notification":{"title":"T"},"android":{"notification":{"body":"B"}},"data":{"n":"1"}"#
        let pushed = fixture.push(members)
        let id = try #require(pushed)
        guard case .shown(let message)? = fixture.events().first else { return #expect(Bool(false), "it was not shown") }
        #expect(message.notification == .object(["title": .text("T"), "body": .text("B")]))
        #expect(message.hasHighPriority && message.hasHighOriginalPriority)
        let isTapped = fixture.state.tap(id, on: "phone")
        #expect(isTapped)
        #expect(fixture.events() == [.opened(message)])
        fixture.push(members)
        #expect(numbers(fixture.events()) == ["1"], "in the foreground the app gets it")
        let isTappedAgain = fixture.state.tap(id, on: "phone")
        #expect(!isTappedAgain)
    }

    @Test("before the first unlock only what is for direct boot comes")
    func directBoot() throws {
        var fixture = try FCMFixture()
        try fixture.act(.restart)
        fixture.push(data(1))
        fixture.push(data(2, #","android":{"direct_boot_ok":true}"#))
        #expect(numbers(fixture.events()) == ["2"])
        try fixture.act(.unlock)
        #expect(numbers(fixture.events()) == ["1"])
    }

    @Test("high priority without a notification is lost after some messages, until the app shows one")
    func demotion() throws {
        var fixture = try FCMFixture { $0.quotas.silentHighPriority = 2 }
        func priorities() -> [Bool] {
            fixture.events().compactMap { if case .message(let message) = $0 { message.hasHighPriority } else { nil } }
        }
        for number in 1...3 { fixture.push(data(number, #","android":{"priority":"high"}"#)) }
        #expect(priorities() == [true, true, false])
        try fixture.act(.showNotification)
        fixture.push(data(4, #","android":{"priority":"high"}"#))
        #expect(priorities() == [true])
    }

    @Test("another token makes the old one dead, and the app hears of it")
    func newToken() throws {
        var fixture = try FCMFixture()
        let (old, fid) = (fixture.token(), fixture.state.devices["phone"]?.fid ?? "")
        try fixture.act(.renewToken)
        #expect(fixture.events() == [.newToken(fixture.token())])
        #expect(fixture.token() != old)
        #expect(fixture.broken(by: fixture.send(to: #""token":"\#(old)""#)) == [.registered])
        #expect(fixture.push() != nil)
        #expect(fixture.push(to: #""fid":"\#(fid)""#) != nil)
    }

    @Test("a removed app is unregistered by token and by installation id, and comes back as another one")
    func uninstall() throws {
        var fixture = try FCMFixture()
        let (token, fid) = (fixture.token(), fixture.state.devices["phone"]?.fid ?? "")
        try fixture.act(.goOffline)
        fixture.push(data(1))
        try fixture.act(.uninstall)
        #expect(states(fixture).last == .uninstalled)
        for target in [#""token":"\#(token)""#, #""fid":"\#(fid)""#] {
            #expect(fixture.broken(by: fixture.send(to: target)) == [.registered])
        }
        #expect(throws: LocalFCMError.self) { try fixture.act(.renewToken) }
        try fixture.act(.install)
        #expect(throws: LocalFCMError.self) { try fixture.act(.install) }
        #expect(fixture.broken(by: fixture.send(to: #""fid":"\#(fid)""#)) == [.registered])
        try fixture.act(.goOnline)
        fixture.push(data(2))
        #expect(fixture.events() == [.newToken(fixture.token())] + fixture.state.recorder.phones.suffix(1).map(\.event))
    }

    @Test("a phone that was away for 270 days is unregistered, and has another token when it comes back")
    func inactivity() throws {
        var fixture = try FCMFixture()
        fixture.clock.advance(by: .seconds(300 * 86_400))
        fixture.renewBearer()
        #expect(fixture.push() != nil, "it was there all the time")
        let old = fixture.token()
        try fixture.act(.goOffline)
        fixture.clock.jump(by: .seconds(270 * 86_400))
        fixture.renewBearer()
        #expect(fixture.broken(by: fixture.send()) == [])
        fixture.clock.jump(by: .seconds(1))
        #expect(fixture.broken(by: fixture.send()) == [.registered])
        _ = fixture.events()
        try fixture.act(.goOnline)
        #expect(fixture.events() == [.newToken(fixture.token())])
        #expect(fixture.token() != old)
        #expect(fixture.push() != nil)
    }

    @Test("devices that are no Android get messages without more ado", arguments: [DevicePlatform.apple, .web])
    func platforms(platform: DevicePlatform) throws {
        var fixture = try FCMFixture()
        try fixture.addPhone("other", platform: platform)
        try fixture.act(.enterDoze, on: "other")
        #expect(fixture.push(to: #""token":"\#(fixture.token("other"))""#) != nil)
        #expect(states(fixture) == [.delivered])
    }

    @Test("tokens and installation ids look like Google's, and no two are the same")
    func names() throws {
        var fixture = try FCMFixture()
        for number in 0..<50 { try fixture.addPhone("phone-\(number)") }
        let devices = fixture.state.devices.values
        #expect(Set(devices.compactMap(\.token)).count == 51)
        #expect(devices.allSatisfy { ValueForm.isInstallationID($0.fid) && ValueForm.isToken($0.token ?? "") })
        #expect(devices.allSatisfy { "cdef".contains($0.fid.first ?? "x") })
    }

    @Test("projects, devices and records have their bounds")
    func bounds() throws {
        var fixture = try FCMFixture { ($0.bounds.devices, $0.bounds.projects, $0.bounds.recorded) = (1, 2, 10) }
        #expect(throws: LocalFCMError.self) { try fixture.addPhone("other") }
        #expect(throws: LocalFCMError.self) { _ = try fixture.state.addProject("third-shop", number: nil) }
        for _ in 0..<100 { fixture.push() }
        #expect((10...16).contains(fixture.state.recorder.exchanges.count))
        #expect((10...16).contains(fixture.state.recorder.deliveries.count))
        #expect(fixture.state.recorder.deliveries.last?.messageID == fixture.state.recorder.exchanges.last?.messageID)
    }
}
