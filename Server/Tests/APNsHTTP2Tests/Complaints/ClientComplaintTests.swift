import Dispatch
import APNsProtocol
import ClarionTesting
import Crypto
import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import APNsHTTP2

/// What users of other clients complain of, as promises of the client as callers see it, on a loop whose time the test moves.
@Suite("Complaints about the client's defaults")
struct ClientComplaintTests {
    private struct Unreachable: APNsConnector {
        struct Failure: Error {}

        let loop: any EventLoop

        func connect(_ handler: APNsConnectionHandler) -> EventLoopFuture<any Channel> { loop.makeFailedFuture(Failure()) }
    }

    private func client(
        on loop: NIOAsyncTestingEventLoop, limits: APNsClientLimits = APNsClientLimits(),
        timing: APNsClientTiming = APNsClientTiming()
    ) throws -> APNsClient {
        let key = try ProviderTokenKey(privateKey: P256.Signing.PrivateKey(), keyID: "KEY4567890", teamID: "TEAM567890")
        let configuration = APNsClientConfiguration(
            environment: .production, credential: .token(ProviderTokenCache(key: key, clock: ManualClock())),
            transport: .cleartext, limits: limits, timing: timing)
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        return APNsClient(
            configuration: configuration,
            shards: [
                APNsClientShard(
                    eventLoop: loop, pool: APNsPoolConfiguration(configuration, observer: nil, logger: logger),
                    connector: Unreachable(loop: loop))
            ])
    }

    @Test("complaint 2: there is a deadline without asking for one")
    func defaultDeadline() async throws {
        let loop = NIOAsyncTestingEventLoop()
        let client = try client(on: loop)
        let sending = Task { await client.send(Pushes.push()) }
        for _ in 0..<10_000 where client.metrics.queued == 0 {
            await Task.yield()
            await loop.run()
        }
        await loop.advanceTime(by: .seconds(29))
        #expect(client.metrics.queued == 1)
        await loop.advanceTime(by: .seconds(2))
        #expect(client.metrics.notSent == 1)
        #expect(client.metrics.queued == 0)
        // Ends the push also where the deadline was forgotten.
        sending.cancel()
        await loop.run()
        #expect(await sending.value == .notSent(.unreachable))
        await loop.shutdownGracefully()
    }

    @Test("complaint 16: calls that an event loop does not take are bounded, and one more fails at once")
    func boundedInbox() async throws {
        let loop = NIOAsyncTestingEventLoop()
        let client = try client(on: loop, limits: APNsClientLimits(queuedPushes: 2))
        // What is handed over from outside runs at once, unless the event loop has something else to do.
        let busy = DispatchSemaphore(value: 0)
        loop.execute { busy.wait() }
        let waiting = (0..<2).map { _ in PushSubmission(push: Pushes.push(), timeLimit: .seconds(30)) }
        for submission in waiting { client.shards[0].submit(submission) }
        #expect(await client.send(Pushes.push()) == .notSent(.queueFull))
        #expect(await client.send([Pushes.push(), Pushes.push()]) == [.notSent(.queueFull), .notSent(.queueFull)])
        #expect(client.metrics.notSent == 3)
        busy.signal()
        await loop.run()
        #expect(client.metrics.queued == 2)
        await loop.advanceTime(by: .seconds(31))
        #expect(waiting.allSatisfy { $0.outcome(0) == .notSent(.unreachable) })
        #expect(client.metrics.notSent == 5)
        await loop.shutdownGracefully()
    }

    @Test(
        "complaint 2: the deadline is the longest wait, from the call on and whenever the client looks", arguments: [3, 30, 300])
    func longestWait(seconds: Int64) async throws {
        var timing = APNsClientTiming()
        timing.pushDeadline = .seconds(seconds)
        let loop = NIOAsyncTestingEventLoop()
        let client = try client(on: loop, timing: timing)
        let limit = TimeAmount.seconds(seconds)
        // One call begins to look, and the other is handed over just after each look could have been.
        let submissions = [TimeAmount.zero, .nanoseconds(1)].map { _ in
            PushSubmission(push: Pushes.push(), timeLimit: client.timeLimit, shard: client.shards[0])
        }
        client.shards[0].submit(submissions[0])
        await loop.run()
        await loop.advanceTime(by: .nanoseconds(1))
        client.shards[0].submit(submissions[1])
        // The event loop has something else to do for a while.
        await loop.advanceTime(by: limit - .nanoseconds(1))
        #expect(client.metrics.notSent == 1 || client.metrics.notSent == 2)
        await loop.advanceTime(by: .nanoseconds(1))
        #expect(client.metrics.notSent == 2)
        await loop.shutdownGracefully()
    }
}
