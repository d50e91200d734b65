import ClarionTesting
import Foundation
import RichPushModel
import Testing

@testable import DeviceSimulation
import FCMEmulation

@Suite("An Android phone over time", .timeLimit(.minutes(2)))
struct AndroidLifeTests {
    let fixture: AndroidFixture

    init() throws { fixture = try AndroidFixture { $0.quotas.waitingMessages = 3 } }

    private var ids: [Int32?] { get async { await fixture.notices.map(\.richID?.number) } }

    @Test("in Doze gets high priority at once, and normal priority when it is taken up")
    func doze() async throws {
        try await fixture.signInAndLeave()
        for number in [7, 8] as [Int32] { fixture.store(number) }
        try await fixture.phone.perform(.setDoze(on: true))
        #expect(await fixture.phone.snapshot.dozing)
        try fixture.push(7, android: ["priority": "NORMAL"])
        try fixture.push(8)
        #expect(await fixture.answered())
        #expect(await ids == [8])
        #expect(fixture.device.waitingMessages.count == 1)
        try await fixture.phone.perform(.unlock)
        #expect(await fixture.answered(2))
        #expect(await ids == [7, 8])
        #expect(await !fixture.phone.snapshot.dozing)
    }

    @Test("with a stopped app shows nothing, and has everything after the user opened the app")
    func forceStop() async throws {
        try await fixture.signIn()
        for number in [7, 8] as [Int32] { fixture.store(number) }
        try await fixture.phone.perform(.terminate)
        try fixture.push(7, android: ["ttl": "60s"])
        try fixture.push(8)
        #expect(await fixture.notices.isEmpty)
        #expect(await fixture.phone.snapshot.process == .forceQuit)
        fixture.clock.advance(by: .seconds(61))
        try await fixture.phone.perform(.openApp)
        #expect(await fixture.phone.snapshot.inbox.map(\.id.number) == [8, 7])
        #expect(await fixture.answered())
        #expect(await ids == [8])
    }

    @Test("takes away what a stopped app had shown")
    func stoppedNotices() async throws {
        try await fixture.signInAndLeave()
        fixture.store(7)
        try fixture.push(7)
        #expect(await fixture.answered())
        try await fixture.phone.perform(.terminate)
        #expect(await fixture.notices.isEmpty)
    }

    @Test("that is away gets the newest of messages with one collapse key")
    func collapse() async throws {
        try await fixture.signInAndLeave()
        for number in [7, 8] as [Int32] {
            fixture.store(number)
            if number == 7 { try await fixture.phone.perform(.setNetwork(offline: true)) }
            try fixture.push(number, android: ["collapse_key": "news"])
        }
        #expect(fixture.device.waitingMessages.count == 1)
        try await fixture.phone.perform(.setNetwork(offline: false))
        #expect(await fixture.answered())
        #expect(await ids == [8])
        #expect(fixture.steps(.delivered).count == 1)
    }

    @Test("that is away does not get what has expired")
    func expiry() async throws {
        try await fixture.signInAndLeave()
        for number in [7, 8] as [Int32] { fixture.store(number) }
        try await fixture.phone.perform(.setNetwork(offline: true))
        try fixture.push(7, android: ["ttl": "60s"])
        try fixture.push(8)
        fixture.clock.advance(by: .seconds(61))
        try await fixture.phone.perform(.setConnection(.online))
        #expect(await fixture.answered())
        #expect(await ids == [8])
    }

    @Test("registers again with a new token, also from a process that was not there", arguments: [false, true])
    func newToken(isRunning: Bool) async throws {
        try await fixture.signInAndLeave()
        if !isRunning { try await fixture.phone.perform(.endApp) }
        let before = try #require(fixture.device.token)
        try fixture.device.act(.renewToken)
        let token = try #require(fixture.device.token)
        #expect(token != before)
        #expect(await eventually { fixture.server.updates.last?.handle == token })
        #expect(fixture.server.updates.last?.platform == "fcmv1")
        #expect(await fixture.phone.snapshot.process == .background)
    }

    @Test("asks for the inbox when FCM has dropped messages")
    func deletedMessages() async throws {
        try await fixture.signInAndLeave()
        try await fixture.phone.perform(.setNetwork(offline: true))
        for number in 1...4 as ClosedRange<Int32> {
            fixture.store(number)
            try fixture.push(number)
        }
        #expect(fixture.device.waitingMessages.isEmpty)
        let before = fixture.server.count("GET", "/notifications")
        try await fixture.phone.perform(.setNetwork(offline: false))
        #expect(await fixture.reached(.woken, "asked for its inbox"))
        #expect(fixture.server.count("GET", "/notifications") == before + 1)
        #expect(await eventually { await fixture.phone.snapshot.inbox.map(\.id.number) == [4, 3, 2, 1] })
        #expect(fixture.steps(.delivered).isEmpty)
    }

    @Test("after a sign-out has nothing of the user, and shows nothing more")
    func signOut() async throws {
        try await fixture.signIn()
        fixture.store(7)
        try fixture.push(7)
        #expect(await fixture.answered())
        try await fixture.phone.perform(.signOut)
        let snapshot = await fixture.phone.snapshot
        #expect(snapshot.notifications.isEmpty)
        #expect(snapshot.inbox.isEmpty)
        #expect(snapshot.user == nil)
        #expect(snapshot.screen == .signIn)
        #expect(fixture.server.state.withLockedValue { $0.requests.contains { $0.method == "DELETE" } })
        try fixture.push(7)
        #expect(await fixture.answered(2))
        #expect(await fixture.notices.isEmpty)
    }

    @Test("whose app is killed between receiving and reporting shows once, and reports when it runs again")
    func killedBeforeReceipt() async throws {
        try await fixture.signInAndLeave()
        fixture.store(7)
        fixture.server.receiptGate.close()
        try fixture.push(7)
        await fixture.server.receiptGate.holds(1)
        #expect(await eventually { await ids == [7] })
        try await fixture.phone.perform(.endApp)
        #expect(fixture.receipts(.delivered).isEmpty)
        fixture.server.receiptGate.open()
        try await fixture.phone.perform(.openApp)
        #expect(await eventually { fixture.receipts(.delivered).contains(7) && fixture.receipts(.fetched).contains(7) })
        #expect(await ids == [7])
    }

    @Test("whose app is killed while it fetches can take the next message")
    func killedWhileFetching() async throws {
        try await fixture.signInAndLeave()
        for number in [7, 8] as [Int32] { fixture.store(number) }
        fixture.server.receiptGate.close()
        try fixture.push(7)
        await fixture.server.receiptGate.holds(1)
        try await fixture.phone.perform(.endApp)
        #expect(await fixture.reached(.held, "ended before it was done"))
        fixture.server.receiptGate.open()
        try fixture.push(8)
        #expect(await fixture.answered())
        #expect(await ids.contains(8))
    }

    @Test("gets nothing between a restart and the first unlock, and all of it then")
    func restart() async throws {
        try await fixture.signInAndLeave()
        fixture.store(7)
        try await fixture.phone.perform(.restart)
        try fixture.push(7)
        #expect(fixture.device.waitingMessages.count == 1)
        #expect(await fixture.phone.snapshot.beforeFirstUnlock)
        try await fixture.phone.perform(.unlock)
        #expect(await fixture.answered())
        #expect(await ids == [7])
        #expect(await fixture.phone.snapshot.user == "alice")
    }

    @Test("without the app has a dead token, and installed anew another token and installation")
    func replacement() async throws {
        try await fixture.signIn()
        let (before, installation) = (try #require(fixture.device.token), try #require(fixture.installations.last))
        try await fixture.phone.perform(.removeApp)
        #expect(try fixture.send(["data": ["richId": "7"]], to: before) == 404)
        #expect(await fixture.phone.snapshot.installed == false)
        await #expect(throws: PhoneActionError.self) { try await fixture.phone.perform(.openApp) }
        try await fixture.phone.perform(.installApp)
        try await fixture.phone.perform(.openApp)
        #expect(await fixture.phone.snapshot.screen == .signIn)
        try await fixture.phone.perform(.signIn(user: "bob", password: "bob"))
        #expect(fixture.server.updates.last?.handle == fixture.device.token)
        #expect(fixture.device.token != before)
        #expect(fixture.installations.last != installation)
    }

    @Test("sends a push as its user")
    func send() async throws {
        try await fixture.signIn()
        try await fixture.phone.perform(.sendPush(.init(message: "Hi")))
        #expect(fixture.server.count("POST", APIRoute.notifications) == 1)
        #expect(await fixture.phone.snapshot.sending.error == nil)
        #expect(fixture.steps(.accepted).count == 1)
    }

    @Test("replies to a notification from the background")
    func reply() async throws {
        try await fixture.signInAndLeave()
        fixture.store(7)
        try fixture.push(7)
        #expect(await fixture.answered())
        try await fixture.phone.perform(.replyNotification(id: "rich-7", text: "Yes"))
        #expect(await fixture.notices.isEmpty)
        #expect(await eventually { fixture.server.count("POST", "/7/replies") == 1 })
        #expect(await fixture.phone.snapshot.process == .background)
    }

    @Test("an observer of FCM hears of a request before what it led to")
    func news() async throws {
        var news = fixture.fcm.news.makeAsyncIterator()
        try fixture.push(7)
        guard case .exchange(let exchange)? = await news.next(), case .delivery(let delivery)? = await news.next() else {
            return #expect(Bool(false), "something else happened")
        }
        #expect(exchange.status == 200)
        #expect(exchange.device == "a1")
        #expect(delivery.messageID == exchange.messageID)
        #expect(delivery.state == .stored)
    }

    @Test("refuses what only an iPhone has", arguments: [PhoneAction.alertOK, .restoreBackup, .setFocus(on: true)])
    func foreign(action: PhoneAction) async throws {
        try await fixture.signIn()
        await #expect(throws: PhoneActionError.self) { try await fixture.phone.perform(action) }
    }

    @Test("keeps its notifications and its user over a restart of this program")
    func kept() async throws {
        try await fixture.signInAndLeave()
        fixture.store(7)
        try fixture.push(7)
        #expect(await fixture.answered())
        await fixture.phone.stop()
        fixture.store(8)
        try fixture.device.act(.renewToken)
        try fixture.push(8)
        #expect(fixture.device.waitingMessages.count == 1)
        let again = try fixture.phoneAgain()
        #expect(await again.snapshot.notifications.map(\.richID?.number) == [7])
        #expect(await again.snapshot.user == "alice")
        await again.start()
        #expect(await eventually { await again.snapshot.notifications.map(\.richID?.number) == [8, 7] })
        #expect(await eventually { fixture.server.updates.last?.handle == fixture.device.token })
    }
}

extension AndroidFixture {
    /// The paths under which installations registered, oldest first.
    var installations: [String] { server.state.withLockedValue { $0.requests.filter { $0.method == "PUT" }.map(\.url.path) } }
}
