import APNsEmulation
import DeviceSimulation
import Foundation
import RichPushModel
import Testing

@testable import LabServices

/// Server, local APNs and simulated phones together, as in the demo.
@Suite("Live Activities from the API to the phone", .timeLimit(.minutes(5)))
struct LiveActivityStoryTests {
    private static func state(_ score: String) -> JSONValue { .object(["score": .text(score)]) }

    private static func shows(_ score: String) -> @Sendable (PhoneSnapshot) -> Bool {
        { snapshot in
            snapshot.activities.count == 1 && snapshot.activities[0].state.members?["score"] == .text(score)
        }
    }

    private static func send<Value: Decodable>(
        _ method: String, _ path: String, _ body: some Encodable, as type: Value.Type, on stage: Stage
    ) async throws -> Value {
        let answer = try await stage.caller("alice").call(method, path, json: body)
        #expect((200...202).contains(answer.status), "\(String(decoding: answer.body, as: UTF8.self))")
        return try answer.decoded(type)
    }

    @Test("one request over a channel brings the phones of two users to each state, and to the end")
    func channel() async throws {
        try await Stage.open(phones: 3) { stage in
            for (number, user) in [(1, "alice"), (2, "alice"), (3, "bob")] { try await stage.signIn(user, on: number) }
            var request = ActivityRequest(
                attributesType: "MatchAttributes", state: Self.state("0 : 0"), audience: "username:alice || username:bob")
            request.alert = ActivityAlert(title: "Kick-off", body: "The match begins.")
            request.delivery = "channel"
            let match = try await Self.send("POST", APIRoute.activities, request, as: ActivityStatus.self, on: stage)
            for number in 1...3 { try await stage.wait(for: "the card of phone \(number)", on: number, Self.shows("0 : 0")) }
            for (score, isLast) in [("1 : 0", false), ("1 : 1", true)] {
                var change = ActivityChange(state: Self.state(score))
                change.end = isLast
                _ = try await Self.send("PATCH", APIRoute.activity(match.id), change, as: ActivityStatus.self, on: stage)
                for number in 1...3 { try await stage.wait(for: "\(score) on phone \(number)", on: number, Self.shows(score)) }
            }
            let broadcasts = stage.demo.apns.recordedExchanges.filter { $0.path.hasPrefix("/4/broadcasts/") }
            #expect(broadcasts.map { $0.answer?.status } == [200, 200, 200], "the first state, and one for each change")
            for number in 1...3 { #expect(await stage.phone(number).snapshot.activities.map(\.phase) == [.ended]) }
        }
    }

    @Test("widgets of the audience are reloaded once for requests that come together")
    func widgets() async throws {
        try await Stage.open(phones: 3) { stage in
            for (number, user) in [(1, "alice"), (2, "alice"), (3, "bob")] { try await stage.signIn(user, on: number) }
            let reload = ReloadRequest(what: "widgets", audience: "username:alice")
            @Sendable func reloads(_ number: Int) -> Int {
                stage.phone(number).steps.count { $0.title == "The system reloads the widgets of the app" }
            }
            // A phone reports the token of its widgets a moment after it has signed in.
            _ = try await eventually("both phones of alice reload") {
                let first = try await Self.send("POST", APIRoute.reloads, reload, as: ReloadAnswer.self, on: stage)
                let second = try await Self.send("POST", APIRoute.reloads, reload, as: ReloadAnswer.self, on: stage)
                #expect(first.id == second.id || first.dueAt < second.dueAt)
                try await Task.sleep(for: .seconds(1))
                return reloads(1) > 0 && reloads(2) > 0 ? true : nil
            }
            #expect(reloads(3) == 0)
        }
    }

    @Test("the picture that a state names is fetched by the app, and lies where the system draws the card")
    func picture() async throws {
        try await Stage.open { stage in
            try await stage.signIn("alice", on: 1)
            let sent = try await stage.caller("alice").send(Picture.random(side: 32), message: "A picture")
            var request = ActivityRequest(
                attributesType: "MatchAttributes",
                state: .object(["score": .text("0 : 0"), ActivityKey.picture: .text("\(sent)")]),
                audience: "username:alice")
            request.alert = ActivityAlert(title: "Kick-off", body: "The match begins.")
            _ = try await Self.send("POST", APIRoute.activities, request, as: ActivityStatus.self, on: stage)
            try await stage.wait(for: "the picture on the card", on: 1) { $0.activities.first?.picture == sent }
            let card = try #require(await stage.phone(1).snapshot.activities.first)
            let media = try #require(await stage.phone(1).media(for: sent, attachmentOf: card.id))
            #expect(media.mediaType.hasPrefix("image/"))
            #expect(try Data(contentsOf: media.file).count > 100)
        }
    }

    @Test("in low power an update that is not urgent waits on the phone, and comes when the phone saves power no more")
    func lowPower() async throws {
        try await Stage.open { stage in
            try await stage.signIn("alice", on: 1)
            var request = ActivityRequest(
                attributesType: "MatchAttributes", state: Self.state("0 : 0"), audience: "username:alice")
            request.start = "app"
            let match = try await Self.send("POST", APIRoute.activities, request, as: ActivityStatus.self, on: stage)
            try await stage.phone(1).perform(.startActivity(match))
            try await stage.wait(for: "the token of the card", on: 1) { $0.activities.first?.updates == .token }
            try await stage.phone(1).perform(.setLowPower(on: true))
            let change = ActivityChange(state: Self.state("1 : 0"))
            _ = try await Self.send("PATCH", APIRoute.activity(match.id), change, as: ActivityStatus.self, on: stage)
            try await stage.wait(for: "the update that waits", on: 1) { $0.activities.first?.delayed == true }
            let shown = await stage.phone(1).snapshot.activities.first?.state.members?["score"]
            #expect(shown == .text("0 : 0"))
            try await stage.phone(1).perform(.setLowPower(on: false))
            try await stage.wait(for: "the new state", on: 1, Self.shows("1 : 0"))
        }
    }

    @Test("a phone that was off when the state changed shows the newest when it is back")
    func offline() async throws {
        try await Stage.open { stage in
            try await stage.signIn("alice", on: 1)
            var request = ActivityRequest(
                attributesType: "MatchAttributes", state: Self.state("0 : 0"), audience: "username:alice")
            request.start = "app"
            request.delivery = "channel"
            let match = try await Self.send("POST", APIRoute.activities, request, as: ActivityStatus.self, on: stage)
            try await stage.phone(1).perform(.startActivity(match))
            try await stage.wait(for: "the card", on: 1, Self.shows("0 : 0"))
            try await stage.phone(1).perform(.setNetwork(offline: true))
            for score in ["1 : 0", "2 : 0"] {
                let change = ActivityChange(state: Self.state(score))
                let status = try await Self.send(
                    "PATCH", APIRoute.activity(match.id), change, as: ActivityStatus.self, on: stage)
                _ = try await eventually("revision \(status.revision) has left") {
                    let answer = try await stage.caller("alice").call("GET", APIRoute.activity(match.id))
                    let now = try answer.decoded(ActivityStatus.self)
                    return now.sentRevision == status.revision ? now : nil
                }
            }
            try await stage.phone(1).perform(.setNetwork(offline: false))
            try await stage.wait(for: "the newest state", on: 1, Self.shows("2 : 0"))
        }
    }
}
