import ClarionTesting
import Foundation
import Testing

@testable import DeviceSimulation

/// A push that says for whom it is, on a phone of alice's.
@Suite struct SubjectMarkTests {
    /// The marks of alice and bob for number 7, as the server's and the engine's tests have them.
    private static let marks = ["alice": "27e90420f33712e2", "bob": "ca5e2e572d08b18e"]

    private func push(_ fixture: PhoneFixture, aps: String, type: String, for user: String) async throws {
        let mark = try #require(Self.marks[user])
        await fixture.service.push(
            #"{"aps":\#(aps),"richFor":"\#(mark)","richId":"7","richMessage":"Her words","richType":"img"}"#, type: type)
    }

    @Test("shows nothing of a silent push for another, and says so in its story", arguments: ["alice", "bob"])
    func silent(user: String) async throws {
        let fixture = try PhoneFixture()
        try await fixture.signIn()
        try await fixture.phone.perform(.home)
        fixture.store(7)
        try await push(fixture, aps: #"{"content-available":1}"#, type: "background", for: user)
        #expect(await fixture.reached(user == "alice" ? .shown : .held))
        #expect(await eventually { await fixture.phone.isQuiet })
        let snapshot = await fixture.phone.snapshot
        #expect(snapshot.notifications.count == (user == "alice" ? 1 : 0))
        let titles = fixture.phone.steps.map(\.title)
        #expect(titles.contains("The push says that it is for another user; nothing is fetched") == (user == "bob"))
    }

    @Test("shows a neutral text for an alert to another user", arguments: ["alice", "bob"])
    func alert(user: String) async throws {
        let fixture = try PhoneFixture()
        try await fixture.signIn()
        try await fixture.phone.perform(.home)
        let alert = #"{"alert":{"title":"Clinic","body":"Her words"},"mutable-content":1,"category":"richPush"}"#
        fixture.store(7)
        try await push(fixture, aps: alert, type: "alert", for: user)
        #expect(await fixture.reached(.shown))
        let notice = try #require(await fixture.phone.snapshot.notifications.first)
        #expect(notice.title == (user == "alice" ? "Title 7" : "Clarion"))
        #expect(notice.body == (user == "alice" ? "Message 7" : "You have a new message"))
        #expect(fixture.server.count("GET", "/details") == (user == "alice" ? 1 : 0))
    }
}
