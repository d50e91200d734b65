@testable import DeviceSimulation
import Foundation
import RichPushModel
import Testing

@Suite("The phone as JSON")
struct ContractTests {
    private func object(_ value: some Encodable) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: JSONEncoder().encode(value)) as? [String: Any])
    }

    private static let activity = ActivityStatus(
        id: 7, attributesType: "Trip", state: .object(["gate": .text("A1")]), audience: "news", sender: "shop", phase: "active",
        revision: 1, sentRevision: 0, createdAt: Timestamp(seconds: 1), endsAt: Timestamp(seconds: 2))

    @Test("an action is its name with the parameters beside it, and reads back as itself")
    func actions() throws {
        let actions: [PhoneAction] = [
            .signIn(user: "a", password: "b"), .signInWithToken("a.b.c"), .signOut, .sendPush(.init()),
            .sendPush(.init(style: .both, kind: .coupon)), .home,
            .openApp, .lock, .unlock, .terminate, .endApp, .restart, .removeApp, .installApp, .restoreBackup,
            .setNetwork(offline: true),
            .setConnection(.slow), .setAlerts(on: false), .setFocus(on: true), .setLowPower(on: true), .setDoze(on: true),
            .setWakeBudget(on: true),
            .setBackgroundRefresh(on: false),
            .setPermission(.denied), .setPreviews(whenUnlocked: true), .tapNotification(id: "x"), .moreNotification(id: "x"),
            .dismissNotification(id: "x"), .replyNotification(id: "x", text: "t"), .clearNotifications, .alertOK, .alertMore,
            .openInbox(RichID(number: 7)!),
            .closeContent,
            .openLink, .refreshInbox, .allowActivity(id: "x", always: true), .dismissActivity(id: "x"),
            .setLiveActivities(on: false), .setFrequentActivityUpdates(on: true), .setActivitiesSurviveRestart(on: false),
            .startActivity(Self.activity), .rotateActivityTokens,
        ]
        #expect(Set(actions.map(\.name)) == Set(PhoneAction.Name.allCases))
        for action in actions {
            #expect(try JSONDecoder().decode(PhoneAction.self, from: JSONEncoder().encode(action)) == action)
        }
        #expect(
            try object(PhoneAction.openInbox(RichID(number: 7)!)) as? [String: String] == ["name": "openInbox", "richId": "7"])
        #expect(try object(PhoneAction.sendPush(.init())) as? [String: String] == ["name": "sendPush"])
    }

    @Test(
        "an action that is none is refused",
        arguments: ["{}", #"{"name":"fly"}"#, #"{"name":"signIn","user":"a"}"#, #"{"name":"setNetwork","offline":"yes"}"#, "[]"])
    func badActions(json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(PhoneAction.self, from: Data(json.utf8)) }
    }

    @Test("a snapshot and a step use the names that the page reads")
    func names() throws {
        var snapshot = PhoneSnapshot(phone: .init(id: "p", name: "n", model: "m"), time: Timestamp(milliseconds: 5))
        snapshot.alert = .init(richID: RichID(number: 7)!, message: "m")
        snapshot.notifications = [
            .init(id: "x", richID: RichID(number: 7)!, title: "t", body: "b", at: Timestamp(milliseconds: 1))
        ]
        let wire = try object(snapshot)
        #expect(wire["screen"] as? String == "home")
        #expect(wire["time"] as? Int == 5)
        #expect((wire["alert"] as? [String: Any])?["richId"] as? String == "7")
        #expect((wire["notifications"] as? [[String: Any]])?.first?["richId"] as? String == "7")
        #expect(try JSONDecoder().decode(PhoneSnapshot.self, from: JSONEncoder().encode(snapshot)) == snapshot)
        let step = StoryStep(
            sequence: 3, at: Timestamp(milliseconds: 1), phone: "p", richID: nil, step: .apnsRequest, title: "t")
        #expect(try object(step)["seq"] as? Int == 3)
        #expect(try object(step)["step"] as? String == "apns-request")
    }
}
