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
        "no process of it begins before it is done, and somebody else signs in",
        arguments: [PhoneAction.restoreBackup, .installApp])
    func replaced(action: PhoneAction) async throws {
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
}
