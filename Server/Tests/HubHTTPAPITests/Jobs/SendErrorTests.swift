import ClarionTesting
import Foundation
import HTTPTypes
import HubProtocol
import Hummingbird
import Logging
import RichPushModel
import SQLStorage
import Testing

@testable import PushHub

/// The file behind `PnsErrorDetailsUri`, read as Microsoft's sample for feedback reads it (Reference/AzureNotificationHubs.md#2-9, #2-11).
@Suite("The errors of a send as a file")
struct SendErrorTests {
    /// Sends to all devices of a format and lets the dispatcher work; the id of the send.
    private func send(_ bench: JobBench, format: String = "apple", answers: [String: PushOutcome] = [:]) async throws -> String {
        var headers = HTTPFields()
        headers[try #require(HTTPField.Name("ServiceBusNotification-Format"))] = format
        headers[.contentType] = "application/json"
        let answer = try await bench.call(
            .post, "/demo/messages?api-version=2020-06", #"{"aps":{"alert":"Hello"}}"#, headers: headers)
        #expect(answer.status == .created, "\(String(buffer: answer.body))")
        let location = try #require(answer.headers[.location])
        let path = location.prefix { $0 != "?" }
        let dispatcher = Dispatcher(
            queue: SQLSliceQueue(bench.database), transport: AnswersByHandle(answers: answers), clock: bench.clock,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        while await dispatcher.pass() > 0 {}
        return String(try #require(path.split(separator: "/").last))
    }

    private func register(_ bench: JobBench, _ kind: String, _ element: String, _ handle: String) async throws -> String {
        let answer = try await bench.call(
            .post, "/demo/registrations?api-version=2020-06",
            """
            <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><\(kind)RegistrationDescription \
            xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">\
            <\(element)>\(handle)</\(element)></\(kind)RegistrationDescription></content></entry>
            """)
        #expect(answer.status == .ok, "\(String(buffer: answer.body))")
        let parts = String(buffer: answer.body).split(separator: "RegistrationId>")
        return String(try #require(parts.first { $0.hasSuffix("</") }).dropLast(2))
    }

    private func details(_ bench: JobBench, _ id: String, as caller: JobBench.Caller = .full) async throws -> NotificationDetails
    {
        let answer = try await bench.call(.get, "/demo/messages/\(id)?api-version=2020-06", as: caller)
        #expect(answer.status == .ok)
        return try NotificationDetails.read(Array(answer.body.readableBytesView))
    }

    private func errorsURL(_ bench: JobBench, _ id: String) async throws -> String? {
        try await details(bench, id).errorDetailsURL
    }

    /// The sample's steps: the file without a header, cut at line ends, each line parsed, its elements read by name.
    private func parsed(_ bench: JobBench, _ url: String) async throws -> [[String: String]] {
        let answer = try await bench.call(.get, JobBench.target(url), as: .anonymous)
        #expect(answer.status == .ok)
        let lines = String(buffer: answer.body).split { $0 == "\r" || $0 == "\n" || $0 == "\r\n" }
        return try lines.map { line in
            // A parser of characters, as the sample's, does not care for the encoding in the declaration; one of bytes does.
            let root = try XMLTree.read(String(line).replacing("utf-16", with: "utf-8"))
            #expect(root.name == "PnsFeedback")
            #expect(root.attributes["xmlns"] == "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect")
            return Dictionary(root.children.map { ($0.name, $0.text) }, uniquingKeysWith: { $1 })
        }
    }

    private func token(_ digits: String) -> String { String(repeating: digits, count: 32) }

    @Test("every failed device of a send to Apple is one line with the elements that the sample reads")
    func apple() async throws {
        let bench = try await JobBench()
        let now = bench.clock.now
        var ids: [String: String] = [:]
        for digits in ["A1", "B2", "C3", "D4"] {
            ids[digits] = try await register(bench, "Apple", "DeviceToken", token(digits))
        }
        bench.clock.advance(by: .seconds(9))
        let id = try await send(
            bench,
            answers: [
                token("B2"): .gone(since: now + .seconds(5)), token("C3"): .badToken,
                token("D4"): .rejected(reason: "BadTopic"),
            ])
        let url = try #require(try await errorsURL(bench, id))
        let found = try await parsed(bench, url)
        let errors = ["B2": "ExpiredChannel", "C3": "WrongToken", "D4": "PnsInterfaceError"]
        #expect(found.count == errors.count)
        for (digits, error) in errors {
            let line = try #require(found.first { $0["PnsHandle"] == token(digits) })
            #expect(line["NotificationSystemError"] == error && line["Platform"] == "apple")
            #expect(line["NotificationId"] == id && line["RegistrationId"] == ids[digits])
            let time = try #require(line["FeedbackTime"])
            #expect(time.contains("T"))
            #expect(time.hasSuffix("Z"))
        }
    }

    @Test("a send to a platform that nothing sends to says so for each device")
    func otherPlatform() async throws {
        let bench = try await JobBench()
        _ = try await register(bench, "Adm", "AdmRegistrationId", "kept")
        let id = try await send(bench, format: "adm")
        let found = try await parsed(bench, try #require(try await errorsURL(bench, id)))
        #expect(found.map { $0["NotificationSystemError"] } == ["Skipped"])
        #expect(found.map { $0["PnsHandle"] } == ["kept"] && found.map { $0["Platform"] } == ["adm"])
    }

    @Test("telemetry has the link for a key with Manage; a Send key reads the same numbers without it")
    func rights() async throws {
        let bench = try await JobBench()
        _ = try await register(bench, "Apple", "DeviceToken", token("A1"))
        let id = try await send(bench, answers: [token("A1"): .badToken])
        let (managed, sent) = (try await details(bench, id, as: .manage), try await details(bench, id, as: .send))
        #expect(managed.errorDetailsURL != nil)
        #expect(sent.errorDetailsURL == nil)
        #expect(sent.outcomes == managed.outcomes)
        #expect(!sent.outcomes.isEmpty)
    }

    @Test("a send without a failure has no such link")
    func none() async throws {
        let bench = try await JobBench()
        _ = try await register(bench, "Apple", "DeviceToken", token("A1"))
        #expect(try await errorsURL(bench, try await send(bench)) == nil)
    }

    @Test("more errors than a page are all in the file, each once")
    func pages() async throws {
        let bench = try await JobBench()
        _ = try await register(bench, "Apple", "DeviceToken", token("A1"))
        let id = try await send(bench, answers: [token("A1"): .badToken])
        try await bench.database.write { connection in
            for number in 1...2_100 {
                try connection.run(
                    SQLStatement(
                        """
                        INSERT INTO feedback (hub_id, platform, handle, notification_id, reason, noted_at)
                        VALUES ($1, 'apns', $2, $3, 'gone', $4)
                        """),
                    [
                        .integer(bench.hub.id.number), .text("AB\(number)\nline"), .text(id),
                        .integer(bench.clock.now.milliseconds),
                    ])
            }
        }
        let found = try await parsed(bench, try #require(try await errorsURL(bench, id)))
        #expect(found.count == 2_101 && Set(found.map { $0["PnsHandle"] }).count == 2_101)
    }

    @Test("a link opens the errors of its send alone, for five days")
    func link() async throws {
        let bench = try await JobBench()
        _ = try await register(bench, "Apple", "DeviceToken", token("A1"))
        _ = try await register(bench, "Apple", "DeviceToken", token("B2"))
        let (one, two) = (
            try await send(bench, answers: [token("A1"): .badToken]), try await send(bench, answers: [token("B2"): .badToken])
        )
        let url = try #require(try await errorsURL(bench, one))
        #expect(url.contains("/$containers.demo/send-errors/\(one).xml?sig="), "\(url)")
        let target = JobBench.target(url)
        #expect(try await bench.call(.get, target.replacing(one, with: two), as: .anonymous).status == .unauthorized)
        #expect(
            try await bench.call(.get, target.replacing("send-errors", with: "feedback"), as: .anonymous).status == .unauthorized)
        #expect(try await bench.call(.get, "/$containers.demo/send-errors/\(one).xml", as: .full).status == .unauthorized)
        #expect(try await bench.call(.put, target, "x", as: .anonymous).status == .methodNotAllowed)
        bench.clock.advance(by: .seconds(5 * 86_400 - 1))
        #expect(try await bench.call(.get, target, as: .anonymous).status == .ok)
        bench.clock.advance(by: .seconds(1))
        #expect(try await bench.call(.get, target, as: .anonymous).status == .unauthorized)
    }
}

/// A push service with a scripted answer for each handle; it accepts all others.
private struct AnswersByHandle: PushTransport {
    let answers: [String: PushOutcome]

    func send(_ batch: PushBatch) async -> PushOutcomes {
        PushOutcomes(batch.targets.map { answers[$0.handle.text] ?? .accepted })
    }
}
