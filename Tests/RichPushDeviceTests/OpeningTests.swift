import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice

@Suite("Opening a notification")
struct OpeningTests {
    let device: TestDevice

    init() throws { device = try TestDevice() }

    private func respond(_ number: Int32, _ action: NotificationResponse.Action) -> NotificationResponse {
        NotificationResponse(identifier: "rich-\(number)", richID: id(number), action: action)
    }

    @Test("in a new process opens the right picture, offline, from what the background push fetched")
    func coldStart() async throws {
        device.backend.store(7, bytes: Samples.png(7))
        device.backend.store(8, bytes: Samples.png(8))
        let first = try await device.signedIn()
        for number: Int32 in [7, 8] { _ = await first.handleBackgroundPush(Samples.silent(number), budget: .seconds(30)) }
        await first.stop()
        device.backend.setOffline(true)
        let engine = try await device.launch()
        await engine.didRespond(respond(7, .open))
        let shown = await device.router.shown
        #expect(shown.map(\.state) == [.ready])
        #expect(try Data(contentsOf: try #require(shown.first?.content?.file)) == Samples.png(7))
    }

    @Test("fetches what is not on the device and shows a loading screen until then")
    func fetches() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        await engine.didRespond(respond(7, .button("richPushMore")))
        #expect(await device.router.shown.map(\.state) == [.loading, .ready])
        #expect(await eventually { device.receipts(.action) == [id(7)] && device.receipts(.opened) == [id(7)] })
        #expect(device.backend.receipts.first { $0.kind == .action }?.action == "richPushMore")
    }

    @Test("that is not on the device says so when there is no network, and works with a retry")
    func notDownloadedYet() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        device.backend.setOffline(true)
        await engine.show(id(7))
        #expect(await device.router.shown.last?.state == .missing(.offline))
        device.backend.setOffline(false)
        await engine.show(id(7))
        #expect(await device.router.shown.last?.state == .ready)
    }

    @Test("of which nothing could be seen leaves it unread, and its notification where it is")
    func nothingSeen() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        device.backend.setOffline(true)
        _ = await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30))
        #expect(await engine.open(id(7)).state == .missing(.offline))
        #expect(await device.notifications.removed.isEmpty)
        device.backend.setOffline(false)
        #expect(try await engine.refresh().unread == 1)
        #expect(device.backend.state.with { $0.reads }.isEmpty)
        #expect(device.receipts(.opened) == [id(7)])
    }

    @Test("in a session that the server ended says so")
    func rejected() async throws {
        let engine = try await device.signedIn()
        device.backend.state.with { state in
            state.credentials = []
            state.passwords = [:]
        }
        await #expect(throws: RichPushError.credentialRejected) { try await engine.refresh() }
        await engine.didRespond(respond(7, .open))
        #expect(await device.router.shown.map(\.state) == [.failed(.credentialRejected)])
    }

    @Test("that this user never had does not claim that it existed; it may be another user's")
    func unknown() async throws {
        let engine = try await device.signedIn()
        #expect(await engine.open(id(7)).state == .failed(.notFound))
        #expect(try await engine.inbox().entries.isEmpty)
    }

    @Test("that was recalled says that it is gone")
    func recalled() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        try await engine.refresh()
        device.backend.state.with { $0.stored = [:] }
        #expect(await engine.open(id(7)).state == .failed(.recalled))
        #expect(try await engine.inbox().entries.isEmpty)
    }

    @Test("marks it as read, here at once and on the server")
    func read() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        #expect(try await engine.refresh().unread == 1)
        device.backend.setOffline(true)
        device.backend.script {
            $0.url.path.hasSuffix("/notifications/7") && $0.method == "GET"
                ? .success(.init(status: 200, body: Samples.png(1))) : nil
        }
        _ = await engine.open(id(7))
        #expect(try await engine.inbox().unread == 0)
        #expect(await device.notifications.badge == 0)
        device.backend.setOffline(false)
        #expect(try await engine.refresh().unread == 0)
        #expect(device.backend.state.with { $0.reads } == [id(7)])
    }

    @Test("removes its notifications, shown by the app or by the system")
    func removesNotifications() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        _ = await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30))
        _ = await engine.open(id(7))
        #expect(await device.notifications.removed == ["rich-7"])
    }

    @Test("of kind coupon and url reads their small contents")
    func smallContents() async throws {
        let engine = try await device.signedIn()
        let coupon = Coupon(code: "A", headline: "B")
        device.backend.store(7, kind: .coupon, bytes: try JSONEncoder().encode(coupon), mediaType: "application/json")
        device.backend.store(8, kind: .link, bytes: Data("https://a.example/x".utf8), mediaType: "text/uri-list")
        device.backend.store(9, kind: .link, bytes: Data("javascript:alert(1)".utf8), mediaType: "text/uri-list")
        #expect(await engine.open(id(7)).coupon == coupon)
        #expect(await engine.open(id(8)).link?.absoluteString == "https://a.example/x")
        #expect(await engine.open(id(9)).state == .failed(.badAnswer))
    }

    @Test("shares the download with a push that is under way")
    func sharesDownload() async throws {
        let engine = try await device.signedIn()
        let entry = device.backend.store(7)
        let gate = Gate()
        device.backend.state.with { $0.gates["notifications/7"] = gate }
        try NotificationRecords(store: device.ports().store, limits: DeviceLimits()).keep(
            entry, of: try #require(await engine.session).id)
        async let first = engine.open(id(7))
        async let second = engine.open(id(7))
        #expect(await eventually { device.backend.count("GET", "/notifications/7") == 1 })
        await gate.open()
        #expect(await [first.state, second.state] == [.ready, .ready])
        #expect(device.backend.count("GET", "/notifications/7") == 1)
    }

    @Test("is offered while the user looks at the app: to the list, and OK / More")
    func willPresent() async throws {
        let engine = try await device.signedIn()
        let notice = ForegroundNotification(
            identifier: "x", richID: id(7), content: NotificationContent(title: "T", subtitle: "S", body: "B"))
        #expect(await engine.willPresent(notice) == [.list])
        #expect(await device.router.offers == [ContentOffer(richID: id(7), title: "T", subtitle: "S", message: "B")])
        let other = ForegroundNotification(identifier: "y", richID: nil, content: NotificationContent(body: "B"))
        #expect(await engine.willPresent(other) == [.banner, .list, .sound])
        try await engine.signOut()
        #expect(await engine.willPresent(notice) == [])
    }

    @Test("is listed, and not asked about, in a session that the server has ended")
    func endedSession() async throws {
        let engine = try await device.signedIn()
        device.backend.state.with { ($0.credentials, $0.passwords) = ([], [:]) }
        await #expect(throws: RichPushError.credentialRejected) { try await engine.refresh() }
        let notice = ForegroundNotification(identifier: "x", richID: id(7), content: NotificationContent(body: "B"))
        #expect(await engine.willPresent(notice) == [.list])
        #expect(await device.router.offers.isEmpty)
    }

    @Test("says all that the sender said: title, subtitle, text and the name of the file")
    func words() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        device.backend.state.with {
            $0.stored[id(7)]?.entry.subtitle = "Subtitle"
            $0.stored[id(7)]?.entry.content?.fileName = "timetable.png"
        }
        let opened = await engine.open(id(7))
        #expect([opened.title, opened.subtitle, opened.message] == ["Title", "Subtitle", "Words"])
        #expect(opened.fileName == "timetable.png")
    }

    @Test("is not what a dismissal does")
    func dismissed() async throws {
        let engine = try await device.signedIn()
        await engine.didRespond(respond(7, .dismiss))
        #expect(await eventually { device.receipts(.dismissed) == [id(7)] })
        #expect(await device.router.shown.isEmpty)
    }
}
