import APNsEmulation
import APNsHTTP2
import APNsProtocol
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing

@Suite("Ways to the local APNs", .timeLimit(.minutes(10)))
struct ConnectingTests {
    private var quickTiming: APNsClientTiming {
        var timing = APNsClientTiming()
        timing.pushDeadline = .seconds(60)
        timing.initialBackOff = .milliseconds(10)
        timing.maximumBackOff = .milliseconds(50)
        return timing
    }

    @Test("through a proxy everything arrives, and the proxy gets the name to resolve")
    func proxy() async throws {
        try await LocalService.run(timing: quickTiming) { service in
            let proxy = try await TunnelProxy(to: service.address.port)
            let client = try service.otherClient { configuration in
                configuration.endpoint = .init(host: "localhost", port: 443)
                configuration.proxy = APNsProxy(
                    host: "127.0.0.1", port: proxy.port, credentials: .init(user: "clarion", password: "secret"))
            }
            #expect(await client.send(service.pushes(300)).filter(\.isAccepted).count == 300)
            #expect(proxy.requests.allSatisfy { $0.hasPrefix("CONNECT localhost:443 HTTP/1.1\r\n") })
            #expect(proxy.requests.first?.contains("Proxy-Authorization: Basic Y2xhcmlvbjpzZWNyZXQ=") == true)
            await client.shutdown(within: .seconds(2))
            await proxy.shutdown()
        }
    }

    @Test(
        "a proxy that refuses is named as the cause, and nothing was sent",
        arguments: [("407 Proxy Authentication Required", APNsFailure.proxyUnauthorized), ("403 Forbidden", .proxyRefused)])
    func refusal(answer: String, failure: APNsFailure) async throws {
        var timing = quickTiming
        timing.pushDeadline = .seconds(15)
        try await LocalService.run(timing: timing) { service in
            let proxy = try await TunnelProxy(to: service.address.port) { _ in "HTTP/1.1 \(answer)\r\n\r\n" }
            let client = try service.otherClient { $0.proxy = APNsProxy(host: "127.0.0.1", port: proxy.port) }
            #expect(await client.send(service.pushes(1)) == [.notSent(failure)])
            await client.shutdown(within: .seconds(1))
            await proxy.shutdown()
        }
    }

    @Test("the name is resolved before each connection, and the whole set of addresses is tried")
    func resolution() async throws {
        try await LocalService.run(timing: quickTiming) { service in
            // No server listens at the first address; the second is the service.
            let resolver = ScriptedResolver(["127.0.0.99", "127.0.0.1"])
            let client = try service.otherClient(resolver: resolver) { $0.endpoint.host = "apns.test" }
            #expect(await client.send(service.pushes(1)).first?.isAccepted == true)
            #expect(client.metrics.connectFailures == 0)
            await service.apns.goAway(reason: .shutdown)
            #expect(await client.send(service.pushes(200)).filter(\.isAccepted).count == 200)
            #expect(resolver.questions.withLockedValue { $0 } >= 2)
            await client.shutdown(within: .seconds(2))
        }
    }

    @Test("a name without addresses is named as the cause, within the deadline")
    func noAddress() async throws {
        var timing = quickTiming
        timing.pushDeadline = .seconds(5)
        try await LocalService.run(timing: timing) { service in
            let client = try service.otherClient(resolver: ScriptedResolver([])) { $0.endpoint.host = "apns.test" }
            #expect(await client.send(service.pushes(1)) == [.notSent(.nameNotResolved)])
            await client.shutdown(within: .seconds(1))
        }
    }
}

/// Answers every question with the same addresses, and counts the questions.
final class ScriptedResolver: APNsNameResolver {
    let addresses: [String]
    let questions = NIOLockedValueBox(0)

    init(_ addresses: [String]) { self.addresses = addresses }

    func addresses(of host: String, port: Int, on eventLoop: any EventLoop) -> EventLoopFuture<[SocketAddress]> {
        questions.withLockedValue { $0 += 1 }
        return eventLoop.makeCompletedFuture { try addresses.map { try SocketAddress(ipAddress: $0, port: port) } }
    }
}
