import ClarionTesting
import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPService

@Suite("Connections that a stopping server drops")
struct DroppedConnectionTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test("a connection that is dropped before it began stays whole until it closes, and is let go then", arguments: [1, 2])
    func dropped(version: Int) throws {
        let allowance = ConnectionAllowance(limit: 1, clock: ManualClock(), logger: Self.logger)
        let channel = EmbeddedChannel()
        if version == 1 {
            let server = GuardedHTTP1Channel(responder: { _, _, _ in }, limits: ConnectionLimits(), allowance: allowance)
            _ = try server.setup(channel: channel, logger: Self.logger).wait()
        } else {
            let server = GuardedHTTP2Channel(responder: { _, _, _ in }, limits: ConnectionLimits(), allowance: allowance)
            _ = try server.setup(channel: channel, logger: Self.logger).wait()
        }
        // NIO would end the process here.
        channel.pipeline.fireChannelActive()
        #expect(!allowance.admit())
        _ = try channel.finish(acceptAlreadyClosed: true)
        #expect(allowance.admit())
    }
}
