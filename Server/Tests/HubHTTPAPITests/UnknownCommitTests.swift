import NIOConcurrencyHelpers
import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions
import Testing

/// A commit with an unknown outcome: the connection to the database broke during it.
private struct BrokenCommitStore: IntakeStore {
    let base: any IntakeStore
    /// Whether it was written before the connection broke.
    let isWritten: Bool
    /// How many commits break.
    let left = NIOLockedValueBox(1)

    func accept(_ send: AcceptedSend) async throws -> IntakeAnswer {
        let breaks = left.withLockedValue { left in
            left -= 1
            return left >= 0
        }
        guard breaks else { return try await base.accept(send) }
        if isWritten { _ = try await base.accept(send) }
        throw ServiceError(.outcomeUnknown, "the connection broke")
    }

    func compile(
        _ audience: TagExpression?, in hub: HubID, limit: Int, counting entries: [String]
    ) async throws -> CompiledAudience {
        try await base.compile(audience, in: hub, limit: limit, counting: entries)
    }

    func targets(
        of query: AudienceQuery, as formats: [SendFormat], in hub: HubID, at now: Timestamp
    ) async throws -> Int {
        try await base.targets(of: query, as: formats, in: hub, at: now)
    }

    func timeZones(of audience: TagExpression?, in hub: HubID, limit: Int) async throws -> Set<String> {
        try await base.timeZones(of: audience, in: hub, limit: limit)
    }

    func deviceCounts(ofZones zones: Set<String>, in hub: HubID, limit: Int) async throws -> [String: Int] {
        try await base.deviceCounts(ofZones: zones, in: hub, limit: limit)
    }

    func earlier(_ idempotency: AcceptedSend.Idempotency, in hub: HubID) async throws -> IntakeAnswer? {
        try await base.earlier(idempotency, in: hub)
    }

    func take(
        _ key: TestSendKey, abandonedBefore moment: Timestamp, in hub: HubID, at now: Timestamp
    ) async throws -> TestSendTaking {
        try await base.take(key, abandonedBefore: moment, in: hub, at: now)
    }

    func keep(_ answer: [UInt8], for key: TestSendKey, in hub: HubID) async throws {
        try await base.keep(answer, for: key, in: hub)
    }

    func note(_ send: EndedTestSend) async throws { try await base.note(send) }

    func notification(key: String, in hub: HubID) async throws -> NotificationID? {
        try await base.notification(key: key, in: hub)
    }

    func cancel(_ id: NotificationID, in hub: HubID, at now: Timestamp) async throws -> Bool {
        try await base.cancel(id, in: hub, at: now)
    }

    func cancel(key: String, in hub: HubID, at now: Timestamp) async throws -> NotificationID? {
        try await base.cancel(key: key, in: hub, at: now)
    }
}

@Suite("A send whose commit broke")
struct UnknownCommitTests {
    private func request(named id: String?) -> ClientRequest {
        let client = HubClient.javaScript
        let request = ClientRequest(
            "POST", client.messages(), client.sendHeaders(format: "apple", tags: "red"), body: #"{"aps":{"alert":"x"}}"#)
        return id.map { request.adding("x-ms-client-request-id", $0) } ?? request
    }

    private func isQueued(_ answer: ClientAnswer, _ hub: HubUnderTest) async throws -> Bool {
        let id = try answer.location().split(separator: "/").last?.prefix { $0 != "?" } ?? ""
        return try await hub.call(.javaScript, ClientRequest("GET", "/demo/messages/\(id)?api-version=2020-06")).status == 200
    }

    @Test("what was queued is answered with 201, whether the client named its request or not", arguments: ["a-name", nil])
    func queued(id: String?) async throws {
        let hub = try await HubUnderTest(intake: { BrokenCommitStore(base: $0, isWritten: true) })
        let answer = try await hub.call(.javaScript, request(named: id))
        #expect(answer.status == 201, "\(answer.body)")
        #expect(try await isQueued(answer, hub))
        guard id != nil else { return }
        #expect(try await hub.call(.javaScript, request(named: id)).location() == answer.location())
    }

    @Test("what was not queued is 503, and sent again it is one send")
    func notQueued() async throws {
        let hub = try await HubUnderTest(intake: { BrokenCommitStore(base: $0, isWritten: false) })
        #expect(try await hub.call(.javaScript, request(named: "a-name")).status == 503)
        let answer = try await hub.call(.javaScript, request(named: "a-name"))
        #expect(answer.status == 201)
        #expect(try await isQueued(answer, hub))
        #expect(try await hub.call(.javaScript, request(named: "a-name")).location() == answer.location())
    }
}
