import ClarionTesting
import Foundation
import RichPushModel
import Testing

@testable import DeviceSimulation

@Suite("An app that is replaced while pushes come")
struct AppReplacementTests {
    private static let rounds = 20
    private let fixture: PhoneFixture

    init() throws { fixture = try PhoneFixture() }

    private func push(_ number: Int) -> IncomingPush {
        let payload = #"{"aps":{"content-available":1},"richId":"\#(number)","richMessage":"Look","richType":"txt"}"#
        return IncomingPush(
            payload: Data(payload.utf8), pushType: "background", apnsID: "\(number)", collapseID: nil,
            topic: FakePushService.topic)
    }

    @Test(
        "pushes that come meanwhile bring nothing of the old one back, and another user signs in",
        arguments: [PhoneAction.restoreBackup, .installApp])
    func pushes(action: PhoneAction) async throws {
        let phone = fixture.phone
        try await fixture.start()
        for round in 0..<Self.rounds {
            try await phone.perform(.openApp)
            let name = round.isMultiple(of: 2) ? "alice" : "bob"
            try await phone.perform(.signIn(user: name, password: name))
            let snapshot = await phone.snapshot
            try #require(snapshot.user == name, "\(round): \(snapshot.signIn.error ?? "")")
            await withTaskGroup(of: Void.self) { group in
                group.addTask { try? await phone.perform(action) }
                for number in 1...20 { group.addTask { await phone.receive(push(number)) } }
            }
            #expect(await eventually { await phone.isQuiet })
            let story = phone.steps.suffix(60).map(\.title)
            try await phone.perform(.openApp)
            #expect(await phone.snapshot.user == nil, "\(round): \(story)")
        }
    }

    @Test(
        "until the last of the old one is gone no process begins, nothing else replaces it, and a phone that is switched off has it",
        arguments: [PhoneAction.restoreBackup, .installApp, .removeApp])
    func underWay(action: PhoneAction) async throws {
        let (phone, returns) = (fixture.phone, fixture.service.returns)
        try await fixture.signIn()
        returns.close()
        let replacing = Task { try await phone.perform(action) }
        await returns.holds(1)
        let before = phone.steps.count
        await phone.receive(push(1))
        #expect(phone.steps.dropFirst(before).map(\.title) == ["The push reached the phone", HoldReason.notInstalled.sentence])
        for other in [PhoneAction.restoreBackup, .installApp, .removeApp, .openApp] {
            await #expect(throws: PhoneActionError.self) { try await phone.perform(other) }
        }
        var snapshot = await phone.snapshot
        #expect(snapshot.process == .notRunning)
        #expect(snapshot.installed)
        let restarted = try fixture.restarted()
        #expect(await restarted.snapshot.installed)
        await restarted.stop()
        returns.open()
        try await replacing.value
        snapshot = await phone.snapshot
        #expect(snapshot.process == .notRunning)
        #expect(snapshot.installed == (action != .removeApp))
    }

    @Test(
        "a sign-in that is under way when the app is replaced signs no user in on the new one, which reports nothing of it",
        arguments: [PhoneAction.restoreBackup, .installApp])
    func signIn(action: PhoneAction) async throws {
        let (phone, gate) = (fixture.phone, fixture.server.signInGate)
        try await fixture.start()
        try await phone.perform(.openApp)
        gate.close()
        let signingIn = Task { try await phone.perform(.signIn(user: "alice", password: "alice")) }
        await gate.holds(1)
        try await phone.perform(action)
        try await phone.perform(.openApp)
        gate.open()
        try await signingIn.value
        #expect(await phone.snapshot.signIn == .init())
        #expect(await phone.snapshot.user == nil)
        try await phone.perform(.endApp)
        try await phone.perform(.openApp)
        #expect(await phone.snapshot.user == nil)
        try await phone.perform(.signIn(user: "bob", password: "bob"))
        #expect(await phone.snapshot.user == "bob")
    }

    @Test("a token signs its user in, in place of another")
    func token() async throws {
        try await fixture.signIn()
        try await fixture.phone.perform(.signInWithToken("token.of.bob"))
        #expect(await fixture.phone.snapshot.user == "bob")
        #expect(await fixture.phone.snapshot.signIn == .init())
    }

    @Test("what was still to be removed when the phone was switched off is removed when it is switched on")
    func leftovers() async throws {
        let doomed = fixture.folder.appendingPathComponent("removed-1")
        try FileManager.default.createDirectory(at: doomed.appendingPathComponent("records"), withIntermediateDirectories: true)
        let restarted = try fixture.restarted()
        #expect(!FileManager.default.fileExists(atPath: doomed.path))
        await restarted.stop()
    }
}
