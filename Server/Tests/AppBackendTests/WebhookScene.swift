import Foundation
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess
import Synchronization

@testable import AppBackend

/// A receiver of webhooks in memory, which answers as a test says.
final class ScriptedReceiver: WebhookTransport, WebhookConnection {
    struct Request: Sendable {
        var headers: [String: String]
        var body: String

        var id: String { headers["webhook-id"] ?? "" }
        var data: WebhookData? {
            struct Event: Decodable { var data: WebhookData }
            return try? JSONDecoder().decode(Event.self, from: Data(body.utf8)).data
        }
    }

    private struct State {
        var requests: [Request] = []
        var addresses: [String] = []
        var answer: @Sendable (Request) -> WebhookReply = { _ in .status(200, retryAfter: nil, text: "ok") }
        var during: (@Sendable () async -> Void)?
        var isBusy = false
    }

    private let state = Mutex(State())

    var requests: [Request] { state.withLock { $0.requests } }
    var addresses: [String] { state.withLock { $0.addresses } }

    func answer(_ answer: @escaping @Sendable (Request) -> WebhookReply) { state.withLock { $0.answer = answer } }
    func answer(status: Int, retryAfter: Int? = nil, text: String = "") {
        answer { _ in .status(status, retryAfter: retryAfter, text: text) }
    }

    /// Does something during the next request, whose answer those beside it wait for.
    func duringNext(_ work: @escaping @Sendable () async -> Void) { state.withLock { $0.during = work } }

    func connect(to address: OutboundAddress) async -> any WebhookConnection {
        state.withLock { $0.addresses.append(address.url) }
        return self
    }

    func post(_ message: WebhookMessage) async -> WebhookReply {
        let request = Request(
            headers: Dictionary(message.headers.map { ($0.name, $0.value) }) { $1 },
            body: String(decoding: message.body, as: UTF8.self))
        let (answer, during) = state.withLock { state in
            state.requests.append(request)
            defer { state.during = nil }
            if state.during != nil { state.isBusy = true }
            return (state.answer, state.during)
        }
        if let during {
            await during()
            state.withLock { $0.isBusy = false }
        }
        while state.withLock({ $0.isBusy }) { await Task.yield() }
        return answer(request)
    }

    func close() async {}
}

/// A backend, an administrator, a receiver and what delivers to it.
struct WebhookScene {
    let test: TestBackend
    let root: Principal
    let ann: Principal
    let receiver = ScriptedReceiver()
    let dispatcher: WebhookDispatcher

    init(_ change: (inout BackendSettings) -> Void = { _ in }) async throws {
        test = try await TestBackend(change)
        root = try await test.user("root", .admin)
        ann = try await test.user("ann")
        dispatcher = WebhookDispatcher(of: test.backend, owner: "node", transport: receiver)
    }

    func create(
        _ events: String..., url: String = "https://example.org/hook"
    ) async throws -> WebhookAnswer {
        try await test.backend.createWebhook(WebhookRequest(url: url, events: events), by: root)
    }

    /// Delivers what is due, so many times with so much time in between.
    func deliver(times: Int = 1, every pause: Duration = .seconds(60)) async throws {
        for number in 0..<times {
            if number > 0 { test.clock.advance(by: pause) }
            try await dispatcher.deliverDue()
        }
    }

    func deliveries(_ webhook: WebhookAnswer, _ state: String? = nil) async throws -> [WebhookDeliveryAnswer] {
        try await test.backend.deliveries(of: webhook.id, state: state).deliveries
    }
}
