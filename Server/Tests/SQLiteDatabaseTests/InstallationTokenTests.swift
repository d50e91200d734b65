import ClarionTesting
import RichPushModel
import ServiceErrors
import StorageConformance
import TagExpressions
import Testing

@testable import PushHub

@Suite("Other tokens of an installation")
struct InstallationTokenTests {
    private static let token = HubBench.handle(77)
    private static let kind = InstallationToken.Kind.activity(id: "12")

    private func register(_ bench: HubBench, tags: [String] = ["news"], tokens: [InstallationToken]) async throws {
        var request = DeviceUpsert(
            id: RecordID("phone")!, kind: .installation, handle: HubBench.handle(1), tags: tags.compactMap(Tag.init))
        request.tokens = tokens
        _ = try await bench.hub.upsert(request)
    }

    private func token(_ bench: HubBench, _ kind: InstallationToken.Kind = kind) -> InstallationToken {
        InstallationToken(kind, handle: Self.token, reportedAt: bench.clock.now)
    }

    private func send(_ bench: HubBench, to audience: String, _ kind: InstallationToken.Kind = kind) async throws -> SendReceipt {
        var command = SendCommand(
            message: PushMessage(body: Array(#"{"aps":{"event":"update"}}"#.utf8), pushType: "liveactivity"),
            audience: try TagExpression(parsing: audience))
        command.format = .native(kind.platform)
        return try await bench.hub.send(command)
    }

    @Test("a send of their kind reaches them by the tags of the installation, and no send of another kind does")
    func kinds() async throws {
        let bench = try await HubBench()
        try await register(bench, tokens: [token(bench)])
        let dispatcher = bench.dispatcher()
        let own = try await bench.settle(try await send(bench, to: "news"), dispatcher)
        #expect(own.platformOutcomes == [Self.kind.platform: [.accepted: 1]])
        #expect(bench.transport.outcomes.keys.map(\.text) == [Self.token.text])
        let other = try await bench.settle(try await send(bench, to: "news", .widgets), dispatcher)
        #expect(other.outcomes.isEmpty)
        let app = try await bench.settle(try await bench.send(to: "news"), dispatcher)
        #expect(app.outcomes == [.accepted: 1])
        #expect(bench.transport.outcomes[HubBench.handle(1)] == [.accepted])
    }

    @Test("one that stays keeps its place in the order of sends when its installation registers again")
    func order() async throws {
        let bench = try await HubBench()
        try await register(bench, tokens: [token(bench)])
        let receipt = try await send(bench, to: "clarion-activity:12")
        try await register(bench, tokens: [token(bench)])
        #expect(try await bench.settle(receipt, bench.dispatcher()).outcomes == [.accepted: 1])
    }

    @Test("one that is not named any more goes, and with the installation all of them")
    func removal() async throws {
        let bench = try await HubBench()
        try await register(bench, tokens: [token(bench), token(bench, .widgets)])
        try await register(bench, tokens: [token(bench, .widgets)])
        #expect(try await bench.hub.sample(nil, format: .native(Self.kind.platform)).isEmpty)
        let widgets = InstallationToken.Kind.widgets.platform
        #expect(try await bench.hub.sample(nil, format: .native(widgets)).count == 1)
        _ = try await bench.hub.removeDevice(RecordID("phone")!)
        #expect(try await bench.hub.sample(nil, format: .native(widgets)).isEmpty)
    }

    @Test("a tag of a client that looks like an activity's does not reach its tokens")
    func forgedTag() async throws {
        let bench = try await HubBench()
        try await register(bench, tags: ["clarion-activity:99"], tokens: [token(bench)])
        #expect(try await bench.settle(try await send(bench, to: "clarion-activity:99"), bench.dispatcher()).outcomes.isEmpty)
        #expect(
            try await bench.settle(try await send(bench, to: "clarion-activity:12"), bench.dispatcher()).outcomes == [
                .accepted: 1
            ])
    }

    @Test("a dead one goes alone, and no feedback says that a device is gone")
    func dead() async throws {
        let bench = try await HubBench { target, _ in
            target.handle == Self.token ? .gone(since: Timestamp(milliseconds: .max)) : .accepted
        }
        try await register(bench, tokens: [token(bench)])
        #expect(try await bench.settle(try await send(bench, to: "news"), bench.dispatcher()).outcomes == [.gone: 1])
        #expect(try await bench.settle(try await send(bench, to: "news"), bench.dispatcher()).outcomes.isEmpty)
        #expect(try await bench.settle(try await bench.send(to: "news"), bench.dispatcher()).outcomes == [.accepted: 1])
    }

    @Test("no list of clients shows them")
    func lists() async throws {
        let bench = try await HubBench()
        try await register(bench, tokens: [token(bench)])
        for selection in [
            DeviceListRequest.Selection.all, .tag(try #require(Tag("news"))),
            .handles([Self.token, HubBench.handle(1)], platform: nil),
        ] {
            let page = try await bench.hub.devices(DeviceListRequest(selection))
            #expect(page.records.map(\.platform) == [.apns])
        }
    }

    @Test("a registration has none, and two of one name are refused")
    func refusals() async throws {
        let bench = try await HubBench()
        let token = token(bench)
        await #expect(throws: ServiceError.self) {
            var registration = DeviceUpsert(id: RecordID("r")!, kind: .registration, handle: HubBench.handle(2))
            registration.tokens = [token]
            _ = try await bench.hub.upsert(registration)
        }
        await #expect(throws: ServiceError.self) { try await register(bench, tokens: [token, token]) }
    }
}
