import APNsEmulation
import APNsHTTP2
import APNsProtocol
import Foundation
import Logging
import NIOPosix
import Testing

@Suite("Channels and broadcasts", .timeLimit(.minutes(10)))
struct ChannelTests {
    private func run(_ body: (LocalService, APNsChannelClient) async throws -> Void) async throws {
        try await LocalService.run(managesChannels: true, strictness: .apple) { service in
            let port = try #require(service.address.managementPort)
            var configuration = service.configuration
            configuration.management = .init(host: service.address.host, port: port, serverName: "localhost")
            let channels = try APNsChannelClient(
                configuration: configuration, eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
            try await body(service, channels)
            await channels.shutdown(within: .seconds(2))
        }
    }

    private let update = Array(#"{"aps":{"timestamp":1,"event":"update","content-state":{"score":3}}}"#.utf8)

    @Test("channels are created, read, listed and deleted")
    func management() async throws {
        try await run { _, channels in
            let app = LocalService.topic
            let first = try await channels.create(in: app, storing: .mostRecentMessage)
            let second = try await channels.create(in: app, storing: .none)
            #expect(first.id != second.id)
            #expect(try await channels.channel(first.id, in: app) == first)
            #expect(try await channels.channel(second.id, in: app) == second)
            #expect(Set(try await channels.channels(in: app)) == [first.id, second.id])
            try await channels.delete(first.id, in: app)
            #expect(try await channels.channels(in: app) == [second.id])
            await #expect(throws: APNsChannelError.self) { try await channels.channel(first.id, in: app) }
        }
    }

    @Test("what APNs refuses is a typed error with its reason")
    func refusals() async throws {
        try await run { _, channels in
            do throws(APNsChannelError) {
                try await channels.delete(APNsChannel.ID(rawValue: "bm90aGluZw=="), in: LocalService.topic)
                Issue.record("deleted what was never there")
            } catch {
                guard case .rejected(let rejection) = error else {
                    Issue.record("\(error)")
                    return
                }
                #expect(rejection.reason == .channelNotRegistered)
                #expect(rejection.disposition == .drop)
            }
        }
    }

    @Test("a broadcast is accepted for a channel that exists, and refused for one that does not")
    func broadcast() async throws {
        try await run { service, channels in
            let channel = try await channels.create(in: LocalService.topic, storing: .mostRecentMessage)
            let broadcast = APNsBroadcast(app: LocalService.topic, channel: channel.id, payload: update, requestID: UUID())
            let outcome = await service.client.send(broadcast)
            #expect(outcome.isAccepted, "\(outcome)")
            var lost = broadcast
            lost.channel = APNsChannel.ID(rawValue: "bm90aGluZw==")
            #expect(await service.client.send(lost).reason == .channelNotRegistered)
            // Pushes to devices go on over the same connection.
            #expect(await service.client.send(service.pushes(20)).filter(\.isAccepted).count == 20)
        }
    }
}
