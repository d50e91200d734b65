import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice

@Suite("A background push")
struct BackgroundPushTests {
    let device: TestDevice

    init() throws { device = try TestDevice() }

    @Test("is fetched with the narrow credential and shown as a local notification with its picture")
    func shown() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7, bytes: Samples.png(9))
        #expect(await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30)) == .newData)
        let notice = try #require(await device.notifications.presented.first)
        #expect(notice.content.title == "Title")
        #expect(notice.content.body == "Words")
        #expect(notice.content.category == "richPush")
        #expect(await device.notifications.attached == [Samples.png(9)])
        let fetch = try #require(device.backend.requests.first { $0.url.path.hasSuffix("/notifications/7") })
        #expect(fetch.headers["authorization"] == "Bearer credential-1")
    }

    @Test("is answered when no user is signed in, and nothing is fetched")
    func signedOut() async throws {
        let engine = try await device.launch()
        #expect(await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30)) == .noData)
        #expect(device.backend.requests.isEmpty)
    }

    @Test(
        "is answered for every kind, not only for pictures",
        arguments: ContentKind.known.filter { $0 != .sealed } + [ContentKind(rawValue: "hologram")])
    func everyKind(kind: ContentKind) async throws {
        let engine = try await device.signedIn()
        device.backend.store(7, kind: kind, bytes: kind == .text ? nil : Data("words".utf8), mediaType: "text/plain")
        #expect(await engine.handleBackgroundPush(Samples.silent(7, kind: kind), budget: .seconds(30)) == .newData)
        #expect(await device.notifications.presented.count == 1)
    }

    @Test("is answered on every failure of the server", arguments: [400, 401, 403, 404, 410, 429, 500, 503, 200, 302])
    func everyStatus(status: Int) async throws {
        let engine = try await device.signedIn()
        device.backend.script { $0.url.path.hasSuffix("/details") ? .success(ScriptedBackend.problem(status)) : nil }
        let result = await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30))
        #expect(result == ([404, 410].contains(status) ? .noData : .failed))
    }

    @Test("that cannot be fetched shows its own text and is honest about it")
    func offline() async throws {
        let engine = try await device.signedIn()
        device.backend.setOffline(true)
        #expect(await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30)) == .failed)
        let notice = try #require(await device.notifications.presented.first)
        #expect(notice.content.body == "Push words")
        #expect(notice.content.category == "richPush")
    }

    @Test("that is not for this user shows nothing")
    func notOurs() async throws {
        let engine = try await device.signedIn()
        #expect(await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30)) == .noData)
        #expect(await device.notifications.presented.isEmpty)
    }

    @Test("is answered within its budget although the network is stuck and deaf")
    func stuck() async throws {
        let engine = try await device.signedIn()
        let gate = Gate()
        device.backend.state.with { $0.gates["details"] = gate }
        let before = device.clock.sleeperCount
        async let result = engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30))
        #expect(await eventually { device.clock.sleeperCount > before && device.backend.count("GET", "/details") == 1 })
        device.clock.advance(by: .seconds(28))
        #expect(await result == .failed)
        #expect(await device.notifications.presented.count == 1)
        await gate.open()
    }

    @Test("that comes twice at once is fetched and shown once")
    func twiceAtOnce() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        let gate = Gate()
        device.backend.state.with { $0.gates["details"] = gate }
        async let first = engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30))
        #expect(await eventually { device.backend.count("GET", "/details") == 1 })
        async let second = engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30))
        #expect(await eventually { device.log.kinds.contains(.repeated) })
        await gate.open()
        let results = await [first, second]
        #expect(results == [.newData, .newData])
        #expect(device.backend.count("GET", "/notifications/7") == 1)
        #expect(await device.notifications.presented.count == 1)
    }

    @Test("that arrives again later, even in a new process, is neither fetched nor shown again")
    func duplicate() async throws {
        device.backend.store(7)
        _ = await (try await device.signedIn()).handleBackgroundPush(Samples.silent(7), budget: .seconds(30))
        let engine = try await device.launch()
        #expect(await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30)) == .noData)
        #expect(device.backend.count("GET", "/notifications/7") == 1)
        #expect(await device.notifications.presented.count == 1)
    }

    @Test("does not overwrite another: each opens its own picture")
    func twoPushes() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7, bytes: Samples.png(7))
        device.backend.store(8, bytes: Samples.png(8))
        async let first = engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30))
        async let second = engine.handleBackgroundPush(Samples.silent(8), budget: .seconds(30))
        #expect(await [first, second] == [.newData, .newData])
        for number: Int32 in [7, 8] {
            let file = try #require(await engine.open(id(number)).content?.file)
            #expect(try Data(contentsOf: file) == Samples.png(UInt8(number)))
        }
    }

    @Test("that the system shows itself is never shown by the app too, and its content is there for the tap")
    func alertStyle() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        #expect(await engine.handleBackgroundPush(Samples.visible(7), budget: .seconds(30)) == .newData)
        #expect(await device.notifications.presented.isEmpty)
        #expect(await engine.isDownloaded(id(7)))
        device.backend.setOffline(true)
        #expect(await engine.handleBackgroundPush(Samples.visible(8), budget: .seconds(30)) == .failed)
        #expect(await device.notifications.presented.isEmpty)
    }

    @Test("offers OK / More while the user looks at the app, instead of a notification")
    func foreground() async throws {
        let engine = try await device.signedIn()
        await device.environment.set(.active)
        device.backend.store(7)
        #expect(await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30)) == .newData)
        #expect(await device.notifications.presented.isEmpty)
        #expect(await device.router.offers == [ContentOffer(richID: id(7), title: "Title", message: "Words")])
        await engine.didAnswerOffer(of: id(7), more: true)
        #expect(await device.router.shown.last?.state == .ready)
    }

    @Test("before the first unlock fails and deletes nothing")
    func beforeFirstUnlock() async throws {
        let engine = try await device.signedIn()
        let before = device.files
        device.isLocked.with { $0 = true }
        #expect(await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30)) == .failed)
        #expect(Set(before).isSubset(of: device.files))
        #expect(device.secrets.with { $0[.credential] } != nil)
    }

    @Test("whose picture the system refuses is shown without it")
    func refusedAttachment() async throws {
        let engine = try await device.signedIn()
        await device.notifications.refuseAttachments()
        device.backend.store(7)
        #expect(await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30)) == .newData)
        #expect(await device.notifications.presented.map(\.content.attachment) == [nil])
    }

    @Test("leaves the fetch to another process that has taken it, and still shows its text")
    func claimed() async throws {
        let engine = try await device.signedIn()
        let session = try #require(await engine.session)
        let store = try device.ports().store
        let now = device.clock.now
        #expect(try store.claim(RecordKey(.claims, "7", of: session.id), until: now + .seconds(30), now: now) != nil)
        device.backend.store(7)
        #expect(await engine.handleBackgroundPush(Samples.visible(7), budget: .seconds(30)) == .noData)
        #expect(await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30)) == .failed)
        #expect(device.backend.count("GET", "/details") == 0)
        #expect(await device.notifications.presented.map(\.content.body) == ["Push words"])
    }
}
