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

    @Test("complaint 2: there is a deadline without asking for one")
    func defaultDeadline() async throws {
        let loop = NIOAsyncTestingEventLoop()
        let key = try ProviderTokenKey(privateKey: P256.Signing.PrivateKey(), keyID: "KEY4567890", teamID: "TEAM567890")
        let configuration = APNsClientConfiguration(
            environment: .production, credential: .token(ProviderTokenCache(key: key, clock: ManualClock())),
            transport: .cleartext)
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let client = APNsClient(
            configuration: configuration,
            shards: [
                APNsClientShard(
                    eventLoop: loop, pool: APNsPoolConfiguration(configuration, observer: nil, logger: logger),
                    connector: Unreachable(loop: loop))
            ])
        let sending = Task { await client.send(Pushes.push()) }
        for _ in 0..<10_000 where client.metrics.queued == 0 {
            await Task.yield()
            await loop.run()
        }
        await loop.advanceTime(by: .seconds(29))
        #expect(client.metrics.queued == 1)
        await loop.advanceTime(by: .seconds(2))
        #expect(client.metrics.notSent == 1 && client.metrics.queued == 0)
        // Ends the push also where the deadline was forgotten.
        sending.cancel()
        await loop.run()
        #expect(await sending.value == .notSent(.unreachable))
        await loop.shutdownGracefully()
    }
}
