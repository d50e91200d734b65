import ClarionTesting
import Foundation
import RichPushModel
import Testing
import WebPushProtocol
import WireText

@testable import WebPushEmulation

@Suite("The simulated browser")
struct SimulatedBrowserTests {
    private static let declared = #"{"web_push":8030,"notification":{"title":"Hi","navigate":"https://example.com"}"#

    /// A browser with one subscription.
    private func subscribed(_ behaviour: SimulatedBrowser.Behaviour = .init()) -> (SimulatedBrowser, channel: String) {
        var browser = SimulatedBrowser(behaviour: behaviour, random: SeededGenerator(seed: 2))
        _ = browser.receive(ServiceText.hello(uaid: "00000000000000000000000000000001"))
        let channel = browser.subscribe(serverKey: nil).channelID
        let answer = ServiceText.registered(channelID: channel, status: 200, endpoint: "https://push.example.net/wpush/v1/x")
        _ = browser.receive(answer)
        return (browser, channel)
    }

    private func text(
        _ message: String, id: String = "m1", to channel: String, of browser: SimulatedBrowser
    ) throws -> String {
        let subscription = try #require(browser.subscription(channel))
        let body = try WebPushEncryption.body(of: Array(message.utf8), for: subscription)
        return Self.text(body, id: id, to: channel)
    }

    private static func text(_ body: [UInt8], id: String = "m1", to channel: String) -> String {
        ServiceText.notification(
            WaitingMessage(
                id: id, channelID: channel, topic: nil, body: body, expiresAt: Timestamp(seconds: 0), isForNowOnly: false))
    }

    private func codes(_ reaction: SimulatedBrowser.Reaction) -> [Int] {
        reaction.replies.compactMap(BrowserMessage.init).flatMap { message in
            switch message {
            case .ack(let updates): updates.map(\.code)
            case .unregister(_, let code): [code]
            default: [Int]()
            }
        }
    }

    @Test("one seed makes one browser")
    func seed() {
        let (first, second) = (subscribed(), subscribed())
        #expect(first.channel == second.channel)
        #expect(first.0.subscription(first.channel) == second.0.subscription(second.channel))
        #expect(PushText.isChannelID(first.channel))
    }

    @Test("what it says is what the service understands")
    func vocabulary() {
        var browser = SimulatedBrowser(random: SeededGenerator(seed: 2))
        #expect(BrowserMessage(browser.hello()) == .hello(uaid: nil))
        let key = TestSender().publicText
        let (channel, text) = browser.subscribe(serverKey: key)
        #expect(BrowserMessage(text) == .register(channelID: channel, key: key + "="))
        #expect(browser.withdrawPermission().compactMap(BrowserMessage.init) == [.unregister(channelID: channel, code: 202)])
    }

    @Test("an ordinary push goes to the service worker, which gets the clear text")
    func ordinary() throws {
        var (browser, channel) = subscribed()
        browser.behaviour.worker = { .shows(title: String(decoding: $0 ?? [], as: UTF8.self)) }
        let reaction = browser.receive(try text("hello", to: channel, of: browser))
        #expect(reaction.pushes.map(\.outcome) == [.shownByWorker(title: "hello")])
        #expect(codes(reaction) == [100])
    }

    @Test("a push without a body reaches the service worker without data")
    func empty() {
        var (browser, channel) = subscribed()
        browser.behaviour.worker = { .shows(title: $0 == nil ? "nothing" : "something") }
        #expect(browser.receive(Self.text([], to: channel)).pushes.map(\.outcome) == [.shownByWorker(title: "nothing")])
    }

    @Test("a declared notification is shown without the service worker and sets the badge")
    func declarative() throws {
        var (browser, channel) = subscribed()
        browser.behaviour.worker = { _ in .showsNothing }
        let reaction = browser.receive(try text(Self.declared + #","app_badge":4}"#, to: channel, of: browser))
        guard case .declared(let push)? = reaction.pushes.first?.outcome else {
            Issue.record("\(reaction.pushes)")
            return
        }
        #expect(push.title == "Hi")
        #expect(browser.appBadge == 4)
        #expect(browser.silentPushes(channel) == 0)
    }

    @Test("a service worker may replace a mutable declaration, which stands in for one that fails")
    func mutable() throws {
        var (browser, channel) = subscribed()
        let message = Self.declared + #","mutable":true}"#
        let shown = browser.receive(try text(message, id: "1", to: channel, of: browser))
        #expect(shown.pushes.map(\.outcome) == [.shownByWorker(title: "Stock text")])
        for (id, reaction) in [("2", WorkerReaction.fails), ("3", .showsNothing)] {
            browser.behaviour.worker = { _ in reaction }
            let received = browser.receive(try text(message, id: id, to: channel, of: browser))
            #expect(received.pushes.map(\.outcome) == [.declared(try DeclarativePush(Array(message.utf8)))])
        }
    }

    @Test("a browser without the feature gives the same payload to its service worker")
    func withoutFeature() throws {
        var behaviour = SimulatedBrowser.Behaviour()
        behaviour.readsDeclarations = false
        var (browser, channel) = subscribed(behaviour)
        let reaction = browser.receive(try text(Self.declared + "}", to: channel, of: browser))
        #expect(reaction.pushes.map(\.outcome) == [.shownByWorker(title: "Stock text")])
    }

    @Test("after three pushes that show nothing the subscription is revoked, and by a switch it is not")
    func silent() throws {
        for limit in [3, nil] {
            var behaviour = SimulatedBrowser.Behaviour()
            behaviour.silentPushLimit = limit
            behaviour.worker = { _ in .showsNothing }
            var (browser, channel) = subscribed(behaviour)
            var last: [Int] = []
            for id in 1...3 { last = codes(browser.receive(try text("x", id: "\(id)", to: channel, of: browser))) }
            #expect(last == (limit == nil ? [100] : [100, 201]))
            #expect(browser.channelIDs.isEmpty == (limit != nil))
        }
    }

    @Test("a message that comes again is dropped and acknowledged")
    func repeats() throws {
        var (browser, channel) = subscribed()
        let text = try text("x", to: channel, of: browser)
        #expect(codes(browser.receive(text)) == [100])
        let again = browser.receive(text)
        #expect(again.pushes.map(\.outcome) == [.repeated])
        #expect(codes(again) == [102])
    }

    @Test("a body for another browser is acknowledged as one that cannot be decrypted")
    func foreign() throws {
        var (browser, channel) = subscribed()
        let reaction = browser.receive(Self.text(try TestSender().body("x"), to: channel))
        #expect(reaction.pushes.map(\.outcome) == [.unreadable(.notForThisKey)])
        #expect(codes(reaction) == [101])
    }

    @Test("a message for a subscription that ended is not wanted")
    func ended() throws {
        var (browser, channel) = subscribed()
        let text = try text("x", to: channel, of: browser)
        _ = browser.unsubscribe(channel)
        #expect(codes(browser.receive(text)) == [102])
    }

    @Test("another id from the service ends every subscription, as in Firefox")
    func forgotten() {
        var (browser, channel) = subscribed()
        _ = browser.receive(ServiceText.hello(uaid: "00000000000000000000000000000001"))
        #expect(browser.channelIDs == [channel])
        _ = browser.receive(ServiceText.hello(uaid: "00000000000000000000000000000002"))
        #expect(browser.channelIDs.isEmpty)
        #expect(BrowserMessage(browser.hello()) == .hello(uaid: nil))
    }
}
