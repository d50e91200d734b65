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

    private static let report = said(activities: [.init(id: 7, state: "active", token: "CD", revision: 2)])

    /// With the version of the system, which the engine adds.
    private static func said(activities: [ActivityReport.Entry]) -> ActivityReport {
        var report = ActivityReport(startTokens: ["Trip": "AB"], activities: activities)
        report.systemVersion = "iOS 18.2"
        return report
    }

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

    @Test("an update of the system is reported with start tokens that did not change")
    func updatedSystem() async throws {
        let engine = try await device.signedIn()
        device.activities.set(Self.report)
        await engine.activitiesChanged()
        await device.environment.set(systemVersion: "iOS 27.0")
        await engine.activitiesChanged()
        #expect(reports.map(\.systemVersion) == ["iOS 18.2", "iOS 27.0"])
        #expect(reports.map(\.startTokens) == [["Trip": "AB"], ["Trip": "AB"]])
    }

    @Test("before the first unlock after a restart nothing ends, and the report follows the unlock", arguments: [true, false])
    func firstUnlock(isKeyChain: Bool) async throws {
        let before = try await device.signedIn()
        await before.stop()
        device.activities.set(Self.report)
        let lock = isKeyChain ? device.isLocked : device.storeIsLocked
        lock.with { $0 = true }
        let engine = try await device.launch()
        await engine.activitiesChanged()
        #expect(reports.isEmpty)
        lock.with { $0 = false }
        await engine.didUnlock()
        #expect(await eventually { reports == [Self.report] })
        #expect(device.activities.ended.isEmpty)
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

    @Test("a sign-out ends every activity on the device, also those that are over and still shown")
    func signOut() async throws {
        let engine = try await device.signedIn()
        device.activities.set(Self.report)
        await engine.activitiesChanged()
        try await engine.signOut()
        #expect(device.activities.ended == [nil])
    }

    @Test("an activity that starts when no user is signed in is ended")
    func withoutUser() async throws {
        let engine = try await device.signedIn()
        try await engine.signOut()
        device.activities.set(Self.report)
        await engine.activitiesChanged()
        #expect(device.activities.ended == [nil, nil])
        #expect(reports.isEmpty)
    }

    private func shared(_ number: Int32) -> Data? {
        try? Data(contentsOf: FileContentCache.sharedPicture(of: id(number), in: device.folder.appendingPathComponent("content")))
    }

    @Test("the picture that an activity names is fetched in its small form, and lies where widgets find it while it is named")
    func pictures() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7, bytes: Samples.png(3), thumb: Samples.png(4))
        device.backend.store(8, bytes: Samples.png(5))
        device.activities.set(Self.report)
        device.activities.name([id(7), id(8)])
        await engine.activitiesChanged()
        #expect(shared(7) == Samples.png(4))
        #expect(shared(8) == Samples.png(5), "it has no small form")
        device.activities.name([id(8)])
        await engine.activitiesChanged()
        #expect(shared(7) == nil)
        #expect(shared(8) == Samples.png(5))
    }

    @Test("a picture that is there already is not fetched again")
    func pictureOnce() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7, bytes: Samples.png(3))
        device.activities.name([id(7)])
        await engine.activitiesChanged()
        let count = device.backend.requests.count
        await engine.activitiesChanged()
        #expect(device.backend.requests.count == count)
    }

    @Test("what is no picture, or not for this user, is asked for once, and the others still come")
    func noPicture() async throws {
        let engine = try await device.signedIn()
        var entry = Samples.entry(7, kind: .file, bytes: Data("%PDF-1.7".utf8), mediaType: "application/pdf")
        entry.thumb = nil
        device.backend.state.with { $0.stored[id(7)] = ScriptedBackend.Stored(entry: entry, bytes: Data("%PDF-1.7".utf8)) }
        device.backend.store(9, bytes: Samples.png(5))
        device.activities.name([id(7), id(8), id(9)])
        await engine.activitiesChanged()
        #expect(shared(7) == nil && shared(8) == nil)
        #expect(shared(9) == Samples.png(5))
        await engine.activitiesChanged()
        #expect(device.log.all.filter { $0.kind == .fetchFailed }.map(\.richID) == [id(7), id(8)])
    }

    @Test("the picture of a notification that is recalled leaves the card")
    func recalledPicture() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7, bytes: Samples.png(3))
        _ = try await engine.refresh()
        device.activities.name([id(7)])
        await engine.activitiesChanged()
        #expect(shared(7) != nil)
        device.backend.state.with { $0.stored[id(7)] = nil }
        _ = try await engine.refresh()
        await engine.activitiesChanged()
        #expect(shared(7) == nil)
    }

    @Test("a background push that wakes the app brings the picture that an activity has named since")
    func pictureAfterPush() async throws {
        let engine = try await device.signedIn()
        // The report of the sign-in is over before the name comes.
        await engine.activitiesChanged()
        device.backend.store(7, bytes: Samples.png(3))
        device.activities.name([id(7)])
        #expect(await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30)) == .newData)
        #expect(shared(7) == Samples.png(3))
    }

    @Test("a sign-out takes the pictures away")
    func picturesAfterSignOut() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7, bytes: Samples.png(3))
        device.activities.name([id(7)])
        await engine.activitiesChanged()
        #expect(shared(7) != nil)
        try await engine.signOut()
        #expect(shared(7) == nil)
    }

    @Test("a new start of the app reports what the process before could not")
    func relaunch() async throws {
        let first = try await device.signedIn()
        await first.stop()
        device.activities.set(Self.report)
        _ = try await device.launch()
        #expect(await eventually { reports == [Self.report] })
    }

    @Test("an activity that ended while the app did not run is missing in the report of its next launch")
    func endedMeanwhile() async throws {
        let first = try await device.signedIn()
        device.activities.set(Self.report)
        await first.activitiesChanged()
        await first.stop()
        let rest = Self.said(activities: [])
        device.activities.set(rest)
        _ = try await device.launch()
        #expect(await eventually { reports == [Self.report, rest] })
    }
}
