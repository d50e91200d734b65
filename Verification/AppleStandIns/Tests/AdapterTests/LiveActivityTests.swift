import ActivityKit
import Foundation
import RichPushActivities
import RichPushModel
import Testing
import UIKit
import WidgetKit

@testable import RichPushApp
@testable import RichPushDevice

struct TripAttributes: ServerActivityAttributes, Equatable {
    struct ContentState: ServerActivityState {
        var gate: String
        var leavesAt: Timestamp?
        var clarionRevision: Int64?
        var clarionPicture: RichID?
    }

    var city: String
    var clarionActivity: Int64?
    var clarionReplaces: Int64?
}

extension AppleFace {
    @Suite("Live Activities")
    @MainActor
    struct LiveActivity {
        let phone: TestPhone

        init() throws {
            phone = try TestPhone()
            Activity<TripAttributes>.fakeReset()
            WidgetCenter.shared.fake(pushInfo: nil)
            ControlCenter.shared.fake(controls: [])
            ActivityAuthorizationInfo.fake(isEnabled: true, isFrequent: false)
        }

        private var activities: LiveActivities { LiveActivities([LiveActivityType(TripAttributes.self)]) }

        private var reports: [ActivityReport] {
            phone.backend.requests.filter { $0.method == "PUT" && $0.url.path.hasSuffix("/activities") }
                .compactMap { try? JSONDecoder().decode(ActivityReport.self, from: $0.body ?? Data()) }
        }

        /// Waits until the latest report is as wanted.
        private func reported(_ condition: (ActivityReport) -> Bool) async -> Bool {
            await soon { reports.last.map(condition) ?? false }
        }

        private func show(
            _ number: Int64?, id: String = "a", revision: Int64? = 1, picture: RichID? = nil, replaces: Int64? = nil,
            state: ActivityState = .active, isSaid: Bool = true
        ) -> Activity<TripAttributes> {
            let shown = Activity(
                fake: id, attributes: TripAttributes(city: "Malmö", clarionActivity: number, clarionReplaces: replaces),
                state: .init(gate: "A1", clarionRevision: revision, clarionPicture: picture))
            shown.fake(state: state)
            Activity<TripAttributes>.fakeStart(shown, isSaid: isSaid)
            return shown
        }

        @Test("a start token that was there before the launch is reported, by the name of the type alone")
        func startTokenAtLaunch() async throws {
            Activity<TripAttributes>.fake(startToken: Data([0xAB, 0x01]))
            let app = try await phone.signedIn(activities: activities)
            #expect(await reported { $0.startTokens == ["TripAttributes": "ab01"] })
            _ = app
        }

        @Test("a start token that comes later is reported when it comes")
        func laterStartToken() async throws {
            let app = try await phone.signedIn(activities: activities)
            // The readers of the tokens begin a moment after the launch.
            #expect(
                await soon {
                    Activity<TripAttributes>.fake(startToken: Data([0xCD]))
                    return reports.last?.startTokens == ["TripAttributes": "cd"]
                })
            _ = app
        }

        @Test("a start token that changed while the app did not run is reported at the next launch")
        func startTokenOfNextLaunch() async throws {
            Activity<TripAttributes>.fake(startToken: Data([0xAB]))
            let first = try await phone.signedIn(activities: activities)
            #expect(await reported { $0.startTokens == ["TripAttributes": "ab"] })
            await first.push.engine.stop()
            Activity<TripAttributes>.fake(startToken: Data([0xCD]), isSaid: false)
            let app = try phone.launch(activities: activities)
            #expect(await reported { $0.startTokens == ["TripAttributes": "cd"] })
            _ = (first, app)
        }

        @Test("a start token that changed without a word of the system is reported when the app comes to the front")
        func silentStartToken() async throws {
            Activity<TripAttributes>.fake(startToken: Data([0xAB]))
            let app = try await phone.signedIn(activities: activities)
            #expect(await reported { $0.startTokens == ["TripAttributes": "ab"] })
            Activity<TripAttributes>.fake(startToken: Data([0xCD]), isSaid: false)
            NotificationCenter.default.post(name: UIApplication.didBecomeActiveNotification, object: nil)
            #expect(await reported { $0.startTokens == ["TripAttributes": "cd"] })
            _ = app
        }

        @Test("a start token that the system withholds is left out, so that the server keeps what it has")
        func withheldToken() async throws {
            _ = show(7)
            let app = try await phone.signedIn(activities: activities)
            #expect(await reported { $0.activities.map(\.id) == [7] && $0.startTokens.isEmpty })
            _ = app
        }

        @Test("an activity that a push started is reported with its number and revision, and with its token when that comes")
        func startedByPush() async throws {
            let app = try await phone.signedIn(activities: activities)
            let shown = show(7)
            #expect(await reported { $0.activities == [.init(id: 7, state: "active", revision: 1)] })
            #expect(
                await soon {
                    shown.fake(token: Data([0x0F, 0xF0]))
                    return reports.last?.activities.first?.token == "0ff0"
                })
            shown.fake(content: ActivityContent(state: .init(gate: "B2", clarionRevision: 2), staleDate: nil))
            #expect(await reported { $0.activities.first?.revision == 2 })
            _ = app
        }

        @Test("an activity of which the system said nothing is found when the app comes to the front")
        func silentStart() async throws {
            let app = try await phone.signedIn(activities: activities)
            _ = show(8, isSaid: false)
            NotificationCenter.default.post(name: UIApplication.didBecomeActiveNotification, object: nil)
            #expect(await reported { $0.activities.map(\.id) == [8] })
            _ = app
        }

        @Test("an activity that is out of date stays in the list, and one that is over leaves it")
        func states() async throws {
            let app = try await phone.signedIn(activities: activities)
            let shown = show(7)
            #expect(
                await soon {
                    shown.fake(state: .stale)
                    return reports.last?.activities.first?.state == "stale"
                })
            shown.fake(state: .ended)
            #expect(await reported { $0.activities.isEmpty })
            _ = app
        }

        @Test("an activity that a person dismisses leaves the list, which makes the server drop its token")
        func dismissed() async throws {
            let app = try await phone.signedIn(activities: activities)
            let (shown, other) = (show(7), show(8, id: "b"))
            shown.fake(token: Data([0x0F]))
            other.fake(token: Data([0xF0]))
            NotificationCenter.default.post(name: UIApplication.didBecomeActiveNotification, object: nil)
            #expect(await reported { $0.activities.map(\.token) == ["0f", "f0"] })
            shown.fake(state: .dismissed)
            #expect(await reported { $0.activities.map(\.id) == [8] })
            _ = app
        }

        @Test("a card that was dismissed and is still listed is not reported, and does not hide the next of its number")
        func dismissedAndListed() async throws {
            let app = try await phone.signedIn(activities: activities)
            let shown = show(7)
            shown.fake(token: Data([0x0F]))
            shown.fake(state: .dismissed, staysListed: true)
            let next = show(7, id: "b")
            next.fake(token: Data([0xF0]))
            NotificationCenter.default.post(name: UIApplication.didBecomeActiveNotification, object: nil)
            #expect(await reported { $0.activities.map(\.token) == ["f0"] })
            next.fake(state: .dismissed, staysListed: true)
            NotificationCenter.default.post(name: UIApplication.didBecomeActiveNotification, object: nil)
            #expect(await reported { $0.activities.isEmpty })
            #expect(Activity<TripAttributes>.activities.count == 2)
            _ = app
        }

        @Test("a card leaves once the one that takes its place is shown, and stays while the system shows none")
        func replaced() async throws {
            let app = try await phone.signedIn(activities: activities)
            _ = show(7)
            #expect(await reported { $0.activities.map(\.id) == [7] })
            let next = show(8, id: "b", replaces: 7, state: .pending, isSaid: false)
            NotificationCenter.default.post(name: UIApplication.didBecomeActiveNotification, object: nil)
            #expect(await reported { $0.activities.map(\.id) == [7, 8] })
            next.fake(state: .active)
            NotificationCenter.default.post(name: UIApplication.didBecomeActiveNotification, object: nil)
            #expect(await reported { $0.activities.map(\.id) == [8] })
            #expect(Activity<TripAttributes>.activities.map(\.id) == ["b"])
            _ = app
        }

        @Test("an app that the system runs in the background, with no surface, reports the token that comes then")
        func withoutSurface() async throws {
            let before = try await phone.signedIn(activities: activities)
            await before.push.engine.stop()
            let shown = show(7, isSaid: false)
            let app = try phone.launch(activities: activities)
            #expect(await reported { $0.activities.map(\.id) == [7] })
            #expect(
                await soon {
                    shown.fake(token: Data([0x0F]))
                    return reports.last?.activities.first?.token == "0f"
                })
            #expect(UIApplication.shared.applicationState == .background)
            _ = (before, app)
        }

        /// What a server sends for a trip, which `ActivityTrapTests` of the server has as well.
        private static let sent = (
            attributes: #"{"city": "Oslo", "clarionActivity": 12, "clarionReplaces": 7}"#,
            state: #"{"gate": "A1", "leavesAt": 1800000600000, "clarionRevision": 1}"#
        )

        @Test("what a server sends is read as the system reads it, and a moment in it is what the backend meant")
        func golden() throws {
            let attributes = try JSONDecoder().decode(TripAttributes.self, from: Data(Self.sent.attributes.utf8))
            #expect(attributes == TripAttributes(city: "Oslo", clarionActivity: 12, clarionReplaces: 7))
            let state = try JSONDecoder().decode(TripAttributes.ContentState.self, from: Data(Self.sent.state.utf8))
            let meant = Timestamp(seconds: 1_800_000_600)
            #expect(state == .init(gate: "A1", leavesAt: meant, clarionRevision: 1))
            // The system keeps an activity in the same form.
            let kept = try JSONDecoder().decode(TripAttributes.ContentState.self, from: JSONEncoder().encode(state))
            #expect(kept == state)
            let date = try JSONDecoder().decode([Date].self, from: Data("[1800000600]".utf8))
            #expect(date != [Date(timeIntervalSince1970: 1_800_000_600)], "the reason for a type of its own")
        }

        @Test("an activity from before the app had properties of the server is read by a version that has them")
        func olderActivity() throws {
            let attributes = try JSONDecoder().decode(TripAttributes.self, from: Data(#"{"city": "Oslo"}"#.utf8))
            #expect(attributes == TripAttributes(city: "Oslo"))
            let state = try JSONDecoder().decode(TripAttributes.ContentState.self, from: Data(#"{"gate": "A1"}"#.utf8))
            #expect(state == .init(gate: "A1"))
        }

        @Test("of several cards of one number the newest is reported, and the older ones leave the display")
        func repeated() async throws {
            let app = try await phone.signedIn(activities: activities)
            _ = show(9, id: "other")
            _ = show(7, id: "by the app", revision: nil, isSaid: false)
            _ = show(7, id: "by the app again", revision: nil)
            #expect(await soon { Activity<TripAttributes>.activities.map(\.id) == ["other", "by the app again"] })
            #expect(await reported { $0.activities.map(\.id) == [7, 9] })
            _ = show(7, id: "by a push", revision: 4)
            _ = show(7, id: "late", revision: 3)
            #expect(await soon { Activity<TripAttributes>.activities.map(\.id) == ["other", "by a push"] })
            #expect(await reported { $0.activities.map(\.revision) == [4, 1] })
            #expect(reports.allSatisfy { Set($0.activities.map(\.id)).count == $0.activities.count })
            _ = app
        }

        @Test("a card that has ended and stays for a while is not ended again for another one of its number")
        func repeatedAfterEnd() async throws {
            let app = try await phone.signedIn(activities: activities)
            let over = show(7, revision: 5)
            over.fake(state: .ended)
            _ = show(7, id: "b")
            #expect(await reported { $0.activities.map(\.revision) == [1] })
            #expect(Activity<TripAttributes>.activities.map(\.id) == ["a", "b"])
            _ = app
        }

        @Test("the app is kept running until the server has the report of an activity")
        func keptRunning() async throws {
            let app = try await phone.signedIn(activities: activities)
            #expect(await reported { $0.activities.isEmpty })
            #expect(await soon { UIApplication.shared.fakeOpenTasks.isEmpty })
            let gate = Gate()
            phone.backend.state.with { $0.gates["/activities$"] = gate }
            _ = show(7)
            #expect(await soon { await gate.isWaitedAt })
            #expect(!UIApplication.shared.fakeOpenTasks.isEmpty)
            await gate.open()
            #expect(await soon { UIApplication.shared.fakeOpenTasks.isEmpty })
            _ = app
        }

        @Test("the app that the system launched for an activity is kept running until the server has the report")
        func keptRunningAfterLaunch() async throws {
            _ = try await phone.signedIn(activities: activities)
            #expect(await reported { $0.activities.isEmpty })
            #expect(await soon { UIApplication.shared.fakeOpenTasks.isEmpty })
            let gate = Gate()
            phone.backend.state.with { $0.gates["/activities$"] = gate }
            _ = show(7, isSaid: false)
            let app = try phone.launch(activities: activities)
            #expect(await soon { await gate.isWaitedAt })
            #expect(await soon { !UIApplication.shared.fakeOpenTasks.isEmpty })
            await gate.open()
            #expect(await soon { UIApplication.shared.fakeOpenTasks.isEmpty })
            _ = app
        }

        @Test("an activity that the server calls over leaves the display")
        func endedByServer() async throws {
            phone.backend.endActivities([7])
            let app = try await phone.signedIn(activities: activities)
            _ = show(7)
            _ = show(9, id: "b")
            #expect(await soon { Activity<TripAttributes>.activities.map(\.id) == ["b"] })
            _ = app
        }

        @Test("an activity that is not the server's is neither reported nor ended")
        func foreign() async throws {
            let app = try await phone.signedIn(activities: activities)
            _ = show(nil, id: "own")
            _ = show(7)
            #expect(await reported { $0.activities.map(\.id) == [7] })
            _ = try await app.push.signOut()
            #expect(await soon { Activity<TripAttributes>.activities.map(\.id) == ["own"] })
        }

        @Test("an activity that is over and still shown leaves the display with its user")
        func overAtSignOut() async throws {
            let app = try await phone.signedIn(activities: activities)
            let over = show(7)
            #expect(await reported { $0.activities.map(\.id) == [7] })
            over.fake(state: .ended)
            #expect(await reported { $0.activities.isEmpty })
            #expect(Activity<TripAttributes>.activities.map(\.id) == ["a"])
            _ = try await app.push.signOut()
            #expect(await soon { Activity<TripAttributes>.activities.isEmpty })
        }

        @Test("the token of the widgets is reported once the system has given it, by an app whose server reloads them")
        func widgets() async throws {
            let app = try await phone.signedIn(activities: LiveActivities(reloadsWidgets: true))
            WidgetCenter.shared.fake(pushInfo: WidgetPushInfo(fake: Data([0xD0, 0x0D])))
            NotificationCenter.default.post(name: UIApplication.didBecomeActiveNotification, object: nil)
            #expect(await reported { $0.widgetToken == "d00d" })
            _ = app
        }

        @Test("the tokens of all controls are reported, several of a kind too, and those of a removed one are left out")
        func controls() async throws {
            ControlCenter.shared.fake(controls: [
                ControlInfo(fake: "com.example.door öffnen", token: Data([0x02])), ControlInfo(fake: "lamp", token: Data([0x03])),
                ControlInfo(fake: "lamp", token: Data([0x01])), ControlInfo(fake: "lamp", token: nil),
            ])
            let app = try await phone.signedIn(activities: LiveActivities(reloadsControls: true))
            #expect(
                await reported { $0.controlTokens == ["com.example.door--ffnen.1": "02", "lamp.1": "01", "lamp.2": "03"] })
            ControlCenter.shared.fake(controls: [ControlInfo(fake: "lamp", token: Data([0x03]))])
            NotificationCenter.default.post(name: UIApplication.didBecomeActiveNotification, object: nil)
            #expect(await reported { $0.controlTokens == ["lamp.1": "03"] })
            _ = app
        }

        @Test("controls of which the system says nothing are left out, so that the server keeps what it has")
        func unknownControls() async throws {
            ControlCenter.shared.fake(controls: nil)
            let app = try await phone.signedIn(
                activities: LiveActivities([LiveActivityType(TripAttributes.self)], reloadsControls: true))
            #expect(await reported { $0.enabled == true && $0.controlTokens == nil })
            _ = app
        }

        @Test("the switch for Live Activities is reported when the user moves it")
        func enabled() async throws {
            let app = try await phone.signedIn(activities: activities)
            #expect(await reported { $0.enabled == true && $0.frequentUpdates == false })
            #expect(
                await soon {
                    ActivityAuthorizationInfo.fake(isEnabled: true, isFrequent: false)
                    ActivityAuthorizationInfo.fake(isEnabled: false, isFrequent: false)
                    return reports.last?.enabled == false
                })
            _ = app
        }

        @Test("the switch for frequent updates, of which the system says nothing, is read when the app comes to the front")
        func frequentUpdates() async throws {
            let app = try await phone.signedIn(activities: activities)
            #expect(await reported { $0.frequentUpdates == false })
            ActivityAuthorizationInfo.fake(isEnabled: true, isFrequent: true)
            NotificationCenter.default.post(name: UIApplication.didBecomeActiveNotification, object: nil)
            #expect(await reported { $0.frequentUpdates == true })
            _ = app
        }

        @Test("the picture that a state names is fetched for the view, in the size that the view asks for")
        func picture() async throws {
            phone.backend.store(7, bytes: TestPhone.png(800, 400))
            let app = try await phone.signedIn(activities: activities)
            #expect(LiveActivityPicture.image(id(7), of: TestPhone.configuration) == nil)
            _ = show(1, picture: id(7))
            #expect(await soon { LiveActivityPicture.image(id(7), side: 200, of: TestPhone.configuration)?.width == 200 })
            #expect(LiveActivityPicture.image(id(7), side: 200, of: TestPhone.configuration)?.height == 100)
            #expect(LiveActivityPicture.image(nil, of: TestPhone.configuration) == nil)
            _ = app
        }

        @Test("a picture with more pixels than an extension can decode is not drawn")
        func largePicture() async throws {
            phone.backend.store(7, bytes: TestPhone.png(60_000, 60_000))
            phone.backend.store(8, bytes: TestPhone.png(30, 30))
            let app = try await phone.signedIn(activities: activities)
            _ = show(1, picture: id(7))
            _ = show(2, id: "b", picture: id(8))
            #expect(await soon { LiveActivityPicture.image(id(8), of: TestPhone.configuration) != nil })
            #expect(LiveActivityPicture.image(id(7), of: TestPhone.configuration) == nil)
            _ = app
        }

        @Test("an activity without a user, of which the system said nothing, leaves when the app comes to the front")
        func silentStartAfterSignOut() async throws {
            let app = try await phone.signedIn(activities: activities)
            _ = try await app.push.signOut()
            _ = show(8, isSaid: false)
            NotificationCenter.default.post(name: UIApplication.didBecomeActiveNotification, object: nil)
            #expect(await soon { Activity<TripAttributes>.activities.isEmpty })
        }

        @Test("a start that comes after its user has signed out leaves the display")
        func startAfterSignOut() async throws {
            let app = try await phone.signedIn(activities: activities)
            _ = try await app.push.signOut()
            _ = show(7)
            #expect(await soon { Activity<TripAttributes>.activities.isEmpty })
            _ = app
        }
    }
}
