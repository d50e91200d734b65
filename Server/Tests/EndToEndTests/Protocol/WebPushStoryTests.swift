import AsyncHTTPClient
import ClarionTesting
import Foundation
import Logging
import NIOCore
import NIOPosix
import Testing
import WebPushEmulation
import WebPushProtocol
import WireText

/// Browsers that a client of the hub protocol registers, as at Azure's service, at a push service that is as strict as Mozilla's.
struct WebPushStoryTests {
    @Test("a browser reads what is sent to it, also after the server was killed, and one that left is forgotten")
    func story() async throws {
        let service = LocalWebPush(
            clock: .system, group: .singletonMultiThreadedEventLoopGroup,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let port = try await service.start().port
        try await TemporaryFolder.use { folder in
            let key = VAPIDKey()
            let environment = [
                "CLARION_WEB_PUSH_KEYS": key.privateText, "CLARION_WEB_PUSH_SUBJECT": "mailto:push@example.com",
                "CLARION_WEB_PUSH_NETWORKS": "127.0.0.0/8", "CLARION_WEB_PUSH_HOSTS": "127.0.0.1",
            ]
            let server = try await HubServer.start(in: folder, hubs: ["web"], environment: environment)
            let alice = try await ConnectedBrowser(port, key), bob = try await ConnectedBrowser(port, key)
            for browser in [alice, bob] { try await register(browser.subscription, at: server) }
            try await send("one", at: server)
            for browser in [alice, bob] { #expect(await browser.next() == "one") }

            service.inject(.unavailable(retryAfter: 1), times: 2)
            try await send("two", at: server)
            _ = try await eventually("both pushes were refused for now") { service.waitingFaults == 0 ? true : nil }
            server.process.kill()
            await server.process.waitUntilGone()
            let next = try await server.restarted(shared: environment)
            for browser in [alice, bob] { #expect(await browser.next() == "two") }

            service.endSubscription(channelID: bob.session.browser.channelIDs[0], of: try #require(bob.session.browser.uaid))
            try await send("three", at: next)
            #expect(await alice.next() == "three")
            _ = try await eventually("the browser that left is forgotten") {
                let list = try await call("GET", "/web/registrations?api-version=2020-06", at: next)
                let endpoints = [alice, bob].map(\.subscription.endpoint.url)
                return list.contains(endpoints[0]) && !list.contains(endpoints[1]) ? true : nil
            }
            #expect(await next.process.terminate() == 0)
        }
        await service.shutdown()
    }

    /// Registers a browser, and finds it by its endpoint alone.
    private func register(_ subscription: WebPushSubscription, at server: HubServer) async throws {
        let elements = [
            ("Endpoint", subscription.endpoint.url), ("P256DH", Base64URL.text(of: subscription.publicKey)),
            ("Auth", Base64URL.text(of: subscription.secret)),
        ].map { "<\($0)>\($1)</\($0)>" }
        let description = """
            <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><BrowserRegistrationDescription \
            xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">\(elements.joined())\
            </BrowserRegistrationDescription></content></entry>
            """
        let answer = try await call("POST", "/web/registrations?api-version=2020-06", at: server, body: description)
        for element in elements { #expect(answer.contains(element)) }
        let endpoint = subscription.endpoint.url.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let filter = "$filter=Endpoint%20eq%20'\(endpoint)'"
        let found = try await call("GET", "/web/registrations?api-version=2020-06&\(filter)", at: server)
        #expect(found.contains(elements[0]))
    }

    private func send(_ body: String, at server: HubServer) async throws {
        _ = try await call(
            "POST", "/web/messages?api-version=2020-06", at: server,
            [("ServiceBusNotification-Format", "browser"), ("Content-Type", "application/json")], body: body)
    }

    private func call(
        _ method: String, _ target: String, at server: HubServer, _ headers: [(String, String)] = [], body: String = ""
    ) async throws -> String {
        var request = HTTPClientRequest(url: server.url(target))
        request.method = .RAW(value: method)
        request.headers.add(name: "Authorization", value: server.token("web", path: "web"))
        request.headers.add(contentsOf: headers)
        if !body.isEmpty { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
        let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
        #expect((200..<300).contains(response.status.code), "\(method) \(target): \(text)")
        return text
    }
}

/// A simulated browser with one subscription.
private struct ConnectedBrowser {
    let session: BrowserSession
    let subscription: WebPushSubscription

    init(_ port: Int, _ key: VAPIDKey) async throws {
        session = try await BrowserSession.connect(
            SimulatedBrowser(), host: "127.0.0.1", port: port, group: .singletonMultiThreadedEventLoopGroup)
        subscription = try await session.subscribe(serverKey: key.publicText)
    }

    /// The next message, once; `nil` when none comes within a minute.
    func next() async -> String? {
        await withTaskGroup(of: String?.self) { group in
            group.addTask {
                for await push in session.pushes where push.outcome != .repeated {
                    return push.message.map { String(decoding: $0, as: UTF8.self) }
                }
                return nil
            }
            group.addTask {
                try? await Task.sleep(for: .seconds(60))
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }
}
