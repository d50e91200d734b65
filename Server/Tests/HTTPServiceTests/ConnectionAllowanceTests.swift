import ClarionTesting
import Logging
import NIOCore
import NIOEmbedded
import ServerObservability
import Testing

@testable import HTTPService

@Suite("The number of connections")
struct ConnectionAllowanceTests {
    private let clock = ManualClock()
    private let log = LogNotes()
    private let metrics = PrometheusMetrics()

    private func allowance(_ limit: Int) -> ConnectionAllowance {
        let log = log
        return ConnectionAllowance(
            limit: limit, clock: clock, logger: log.logger,
            metrics: metrics)
    }

    @Test("never exceeds its limit, and one that ends makes room for another")
    func limit() {
        let allowance = allowance(2)
        #expect(allowance.admit())
        #expect(allowance.admit())
        #expect(!allowance.admit())
        #expect(metrics.render().contains("clarion_http_connections 2"))
        allowance.release()
        #expect(allowance.admit())
        #expect(!allowance.admit())
        #expect(metrics.render().contains("clarion_http_connections_refused_total 2"))
    }

    @Test("is logged at the first refusal, then every ten seconds at most, with the number of refusals")
    func lines() {
        let allowance = allowance(0)
        for _ in 1...5 { #expect(!allowance.admit()) }
        #expect(log.lines.map { $0.metadata["count"] } == ["1"])
        clock.advance(by: .seconds(10))
        #expect(!allowance.admit())
        #expect(log.lines.map { $0.metadata["count"] } == ["1", "5"])
        #expect(log.lines.allSatisfy { $0.level == .warning && $0.metadata["limit"] == "0" })
    }

    @Test("is answered 503 with a time to come back, when there is one too many")
    func refusal() throws {
        let channel = EmbeddedChannel(handler: ConnectionRefusal())
        try channel.connect(to: .init(ipAddress: "127.0.0.1", port: 1)).wait()
        let answer = try #require(try channel.readOutbound(as: ByteBuffer.self))
        #expect(String(buffer: answer).hasPrefix("HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nConnection: close\r\n"))
        #expect(!channel.isActive)
    }
}
