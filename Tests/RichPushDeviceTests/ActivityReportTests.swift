import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice

@Suite("Reporting Live Activities")
struct ActivityReportTests {
    private let device: TestDevice

    init() throws { device = try TestDevice() }

    private var reports: [ActivityReport] {
        device.backend.requests.filter { $0.method == "PUT" && $0.url.path.hasSuffix("/activities") }
            .compactMap { $0.body.flatMap { try? JSONDecoder().decode(ActivityReport.self, from: $0) } }
    }

    private static let report = ActivityReport(
        startTokens: ["Trip": "AB"], activities: [.init(id: 7, state: "active", token: "CD", revision: 2)])

    @Test("an app without activities reports nothing")
    func silent() async throws {
        let engine = try await device.signedIn()
        await engine.activitiesChanged()
        #expect(reports.isEmpty)
    }

    @Test("what the system knows is reported once, and again when it changed")
    func onlyChanges() async throws {
        let engine = try await device.signedIn()
        device.activities.set(Self.report)
        await engine.activitiesChanged()
        await engine.activitiesChanged()
        #expect(reports == [Self.report])
        device.activities.set(ActivityReport(startTokens: ["Trip": "AB"]))
        await engine.activitiesChanged()
        #expect(reports.count == 2)
        #expect(reports.last?.activities.isEmpty == true, "an activity that is over is missing in the list")
    }

    @Test("a report that did not arrive is tried again, without a word of the system")
    func retried() async throws {
        let engine = try await device.signedIn()
        device.activities.set(Self.report)
        device.backend.setOffline(true)
        let call = Task { await engine.activitiesChanged() }
        #expect(await eventually { device.log.kinds.contains(.registrationFailed) })
        device.backend.setOffline(false)
        let isDone = await eventually {
            device.clock.advance(by: .seconds(1))
            return await engine.reporting == nil
        }
        #expect(isDone)
        #expect(reports == [Self.report, Self.report])
        await call.value
    }

    @Test("the device ends what the server calls over, and says so")
    func ended() async throws {
        let engine = try await device.signedIn()
        device.activities.set(Self.report)
        device.backend.endActivities([7])
        await engine.activitiesChanged()
        #expect(device.activities.ended == [[7]])
        #expect(reports.map(\.activities.count) == [1, 0])
    }

    @Test("a sign-out ends every activity on the device")
    func signOut() async throws {
        let engine = try await device.signedIn()
        device.activities.set(Self.report)
        await engine.activitiesChanged()
        try await engine.signOut()
        #expect(device.activities.ended == [[7]])
    }

    @Test("an activity that starts when no user is signed in is ended")
    func withoutUser() async throws {
        let engine = try await device.signedIn()
        try await engine.signOut()
        device.activities.set(Self.report)
        await engine.activitiesChanged()
        #expect(device.activities.ended == [[7]])
        #expect(reports.isEmpty)
    }

    @Test("a new start of the app reports what the process before could not")
    func relaunch() async throws {
        let first = try await device.signedIn()
        await first.stop()
        device.activities.set(Self.report)
        _ = try await device.launch()
        #expect(await eventually { reports == [Self.report] })
    }
}
