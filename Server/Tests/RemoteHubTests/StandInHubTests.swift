import HTTPTypes
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore
import RichPushModel
import Testing

@testable import HubProtocol
@testable import RemoteHub

/// A server in this process that answers golden bodies and keeps what it was asked: the real connections of the client.
private struct StandIn: Sendable {
    struct Asked: Sendable, Hashable {
        var method: String
        var target: String
        var headers: HeaderList
        var body: String
    }

    let asked = NIOLockedValueBox<[Asked]>([])
    private let statuses: NIOLockedValueBox<[Int]>

    /// The statuses before the first success.
    init(failing statuses: [Int] = []) { self.statuses = NIOLockedValueBox(statuses) }

    func use(_ body: @escaping @Sendable (RemoteHub) async throws -> Void) async throws {
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let responder = CallbackResponder<BasicRequestContext> { request, _ in try await answer(request) }
        let application = Application(
            responder: responder, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in port.yield(channel.localAddress?.port ?? 0) }, logger: quiet)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            group.addTask {
                for await port in ports {
                    let hub = try RemoteHub(
                        "Endpoint=http://127.0.0.1:\(port)/;SharedAccessKeyName=n;SharedAccessKey=k=", hub: "Demo",
                        options: RemoteHubOptions(firstPause: .milliseconds(1), answerBytes: 4096), logger: quiet)
                    do { try await body(hub) } catch {
                        try? await hub.shutDown()
                        throw error
                    }
                    try await hub.shutDown()
                    break
                }
            }
            defer { group.cancelAll() }
            try await group.next()
            group.cancelAll()
            while (try? await group.next()) != nil {}
        }
    }

    private func answer(_ request: Request) async throws -> Response {
        let body = try await request.body.collect(upTo: 1 << 20)
        let headers = HeaderList(request.headers.map { HeaderField($0.name.rawName, $0.value) })
        asked.withLockedValue {
            $0.append(
                Asked(method: request.method.rawValue, target: request.uri.string, headers: headers, body: String(buffer: body)))
        }
        if let status = statuses.withLockedValue({ $0.isEmpty ? nil : $0.removeFirst() }) {
            return Response(status: .init(code: status), headers: [.retryAfter: "0"])
        }
        guard case .route(let route) = HubRoute.match(method: request.method.rawValue, path: request.uri.path) else {
            return Response(status: .notFound)
        }
        return golden(route, request)
    }

    private func golden(_ route: HubRoute, _ request: Request) -> Response {
        let location = LocationHeader(
            authority: request.head.authority, fallback: "f", route: route,
            apiVersion: HubQuery(request.uri.query).apiVersion)
        var answer = Response(status: .init(code: route.operation.successStatus))
        switch route.operation {
        case .send, .sendBatch, .schedule: answer.headers[.location] = location.member("n-0-1")
        case .createRegistrationID: answer.headers[.location] = location.member("7-8-2")
        case .telemetry:
            answer.body = ResponseBody(
                byteBuffer: ByteBuffer(string: NotificationDetails(id: route.id ?? "", state: .completed).answer()))
        case .installation: answer.body = ResponseBody(byteBuffer: ByteBuffer(repeating: 0x20, count: 8192))
        default: break
        }
        return answer
    }
}

@Suite("A hub elsewhere over real connections")
struct StandInHubTests {
    @Test("sends, ids, telemetry and removal cross the wire as they were meant")
    func calls() async throws {
        let standIn = StandIn()
        try await standIn.use { hub in
            #expect(try await hub.send(.apple(#"{"aps":{}}"#, tags: "a || b"), requestID: "r").id == "n-0-1")
            #expect(try await hub.send(.apple("{}"), to: ["AB", "CD"]).id == "n-0-1")
            #expect(try await hub.createRegistrationID() == "7-8-2")
            #expect(try await hub.details(of: "n-0-1")?.state == .completed)
            try await hub.deleteInstallation("i")
        }
        let asked = standIn.asked.withLockedValue { $0 }
        #expect(
            asked.map { "\($0.method) \($0.target)" } == [
                "POST /Demo/messages?api-version=2020-06", "POST /Demo/messages/$batch?api-version=2020-06&direct=true",
                "POST /Demo/registrationIDs?api-version=2020-06", "GET /Demo/messages/n-0-1?api-version=2020-06",
                "DELETE /Demo/installations/i?api-version=2020-06",
            ])
        #expect(asked[0].body == #"{"aps":{}}"#)
        #expect(asked[0].headers["ServiceBusNotification-Tags"] == "a || b")
        #expect(asked[0].headers["x-ms-client-request-id"] == "r")
        #expect(asked[0].headers["Authorization"]?.hasPrefix("SharedAccessSignature sr=http%3a%2f%2f127.0.0.1%3a") == true)
        let batch = try BatchSendBody(contentType: asked[1].headers["Content-Type"], body: asked[1].body.utf8)
        #expect(batch.handles == ["AB", "CD"])
    }

    @Test("what a hub refuses for now is sent again, the same to the byte")
    func repeated() async throws {
        let standIn = StandIn(failing: [503, 500, 429])
        try await standIn.use { hub in
            let receipt = try await hub.send(.apple("{}"))
            #expect(receipt.id == "n-0-1")
        }
        let asked = standIn.asked.withLockedValue { $0 }
        #expect(asked.count == 4)
        #expect(Set(asked.map(\.body)) == ["{}"])
        #expect(Set(asked.compactMap { $0.headers["x-ms-client-request-id"] }).count == 1)
    }

    @Test("an answer larger than allowed is not read")
    func tooLarge() async throws {
        try await StandIn().use { hub in
            do {
                _ = try await hub.installation("i")
                Issue.record("it was read")
            } catch let error as RemoteHubError { #expect(error.reason == .unexpectedAnswer) }
        }
    }

    @Test("without a listener, nothing was done")
    func noListener() async throws {
        let hub = try RemoteHub(
            "Endpoint=http://127.0.0.1:1/;SharedAccessKeyName=n;SharedAccessKey=k=", hub: "demo",
            options: RemoteHubOptions(retries: 1, firstPause: .milliseconds(1)))
        do {
            try await hub.send(.apple("{}"))
            Issue.record("it was sent")
        } catch let error as RemoteHubError {
            #expect(error.reason == .unreachable)
            #expect(error.fate == .nothingDone)
        }
        try await hub.shutDown()
    }
}
