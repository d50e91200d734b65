import ClarionTesting
import Logging
import RichPushModel
import ServiceErrors
import StorageConformance
import Synchronization
import TagExpressions
import Testing

@testable import PushHub

@Suite("Sends of every kind on real storage")
struct DispatcherKindTests {
    private func template(_ name: String, _ body: String, headers: [DeviceTemplate.Header] = []) -> InstallationUpsert.Template {
        .init(DeviceTemplate(name: name, body: body, headers: headers))
    }

    private func phone(_ number: Int, _ templates: [InstallationUpsert.Template]) throws -> InstallationUpsert {
        var result = InstallationUpsert(
            id: try #require(RecordID("phone-\(number)")), handle: HubBench.handle(number), tags: [try #require(Tag("all"))])
        for template in templates { result.templates[template.template.name ?? ""] = template }
        return result
    }

    private func send(
        _ bench: HubBench, _ body: String, _ format: SendFormat, _ recipients: SendRecipients = .everyone
    ) async throws -> NotificationTelemetry {
        let receipt = try await bench.hub.send(
            SendCommand(message: PushMessage(body: Array(body.utf8)), format: format, recipients: recipients))
        return try await bench.settle(receipt, bench.dispatcher())
    }

    @Test("a template send fills each device's templates and leaves native targets alone")
    func templates() async throws {
        let bench = try await HubBench()
        let alert = template("alert", #"{"aps":{"alert":"{$(greeting) + ', ' + $(name)}"}}"#)
        let silent = template("silent", #"{"aps":{"content-available":1},"id":"$(id)"}"#)
        for number in 0..<1100 { try await bench.hub.put(try phone(number, number < 5 ? [alert, silent] : [alert])) }
        try await bench.register(2000..<2003)
        let end = try await send(bench, #"{"greeting":"Hello","name":"Ann","id":7}"#, .template)
        #expect(end.state == .completed)
        #expect(end.outcomes == [.accepted: 1105])
        #expect(end.platformOutcomes == [.apns: end.outcomes])
        let batches = bench.transport.batches
        #expect(batches.allSatisfy { $0.bodies.count <= 2 && $0.headers.count <= 2 })
        var texts: [String: Int] = [:]
        for batch in batches {
            for target in batch.targets { texts[String(decoding: batch.bodies[target.body], as: UTF8.self), default: 0] += 1 }
        }
        #expect(texts == [#"{"aps":{"alert":"Hello, Ann"}}"#: 1100, #"{"aps":{"content-available":1},"id":"7"}"#: 5])
        for batch in batches {
            for target in batch.targets {
                let isAlert = String(decoding: batch.bodies[target.body], as: UTF8.self).contains("alert")
                let headers = batch.headers[target.headers]
                #expect(headers.pushType == (isAlert ? "alert" : "background"))
                #expect(headers.priority == (isAlert ? 10 : 5))
                #expect(isAlert == (headers.collapseID?.hasPrefix(end.id.text) == true))
            }
        }
        // Two pushes to one device are two: each has its own id.
        #expect(Set(batches.flatMap(\.targets).map(\.pushID)).count == 1105)
    }

    @Test("a template's own name is an audience")
    func byName() async throws {
        let bench = try await HubBench()
        try await bench.hub.put(
            try phone(1, [template("a", #"{"aps":{"alert":"a"}}"#), template("b", #"{"aps":{"alert":"b"}}"#)]))
        let end = try await send(bench, "{}", .template, .matching(try TagExpression(parsing: "b && all")))
        #expect(end.outcomes == [.accepted: 1])
        #expect(
            bench.transport.batches.map { $0.bodies.map { String(decoding: $0, as: UTF8.self) } } == [[#"{"aps":{"alert":"b"}}"#]]
        )
    }

    @Test("what a template makes that cannot be sent is that target's outcome alone")
    func bad() async throws {
        let bench = try await HubBench()
        try await bench.hub.put(
            try phone(
                1,
                [
                    template("good", #"{"aps":{"alert":"$(text)"}}"#),
                    template("large", #"{"aps":{"alert":"{$(text) + $(text)}"}}"#),
                    template("type", #"{"aps":{"alert":"x"}}"#, headers: [.init(name: "apns-push-type", value: "$(type)")]),
                    template("over", #"{"aps":{"alert":"x"}}"#, headers: [.init(name: "apns-expiration", value: "$(until)")]),
                ]))
        let text = String(repeating: "x", count: 3000)
        let end = try await send(bench, #"{"text":"\#(text)","type":"no such type","until":"1"}"#, .template)
        #expect(end.outcomes == [.accepted: 1, .tooLarge: 1, .invalidFormat: 1, .expired: 1])
    }

    @Test("platforms without a transport count as such, under their own name")
    func otherPlatforms() async throws {
        let bench = try await HubBench()
        for (number, platform) in [Platform.adm, .adm, .wns].enumerated() {
            let id = try #require(RecordID("r\(number)"))
            let template = number == 1 ? DeviceTemplate(name: "t", body: #"{"data":{"a":"$(b)"}}"#) : nil
            _ = try await bench.hub.upsert(
                DeviceUpsert(
                    id: id, kind: .registration, platform: platform, handle: DeviceToken(canonical: "h\(number)"),
                    template: template))
        }
        let adm = try await send(bench, #"{"data":{}}"#, .native(.adm))
        #expect(adm.state == .completed)
        #expect(adm.outcomes == [.noTransport: 1])
        #expect(adm.platformOutcomes == [.adm: [.noTransport: 1]])
        let xml = try await send(bench, "<toast/>", .native(.wns))
        #expect(xml.platformOutcomes == [.wns: [.noTransport: 1]])
        #expect(String(decoding: xml.body, as: UTF8.self) == "<toast/>")
        let filled = try await send(bench, #"{"b":"c"}"#, .template)
        #expect(filled.platformOutcomes == [.adm: [.noTransport: 1]])
        let empty = try await send(bench, "{}", .native(.baidu))
        #expect(empty.state == .completed)
        #expect(empty.outcomes == [:])
        #expect(empty.platformOutcomes == [.baidu: [:]])
        #expect(bench.transport.batches.isEmpty)
    }

    @Test("a send to handles reaches each once, registered or not, and tries again")
    func direct() async throws {
        let bench = try await HubBench { target, attempt in
            attempt == 1 && HubBench.number(target.handle).isMultiple(of: 100)
                ? .retry(after: .seconds(1), reason: "429") : .accepted
        }
        try await bench.register(1)
        let handles = (0..<1000).map(HubBench.handle)
        let end = try await send(
            bench, #"{"aps":{"alert":"a"}}"#, .native(.apns), .handles(handles + [HubBench.handle(5)].prefix(0)))
        #expect(end.outcomes == [.accepted: 1000])
        #expect(end.isDirect)
        #expect(Set(bench.transport.outcomes.keys) == Set(handles))
        let twice = try await send(bench, #"{"aps":{"alert":"a"}}"#, .native(.apns), .handles([handles[1], handles[1]]))
        #expect(twice.outcomes == [.accepted: 1])
    }

    @Test("recipients that no send can have are refused", arguments: [0, 1001])
    func badHandles(count: Int) async throws {
        let bench = try await HubBench()
        let handles = (0..<count).map(HubBench.handle)
        let error = await #expect(throws: ServiceError.self) {
            try await send(bench, #"{"aps":{}}"#, .native(.apns), .handles(handles))
        }
        #expect(error?.code == .invalidField)
        let template = await #expect(throws: ServiceError.self) {
            try await send(bench, "{}", .template, .handles([HubBench.handle(1)]))
        }
        #expect(template?.code == .invalidField)
        let foreign = try await send(
            bench, #"{"aps":{}}"#, .native(.apns), .handles([DeviceToken(canonical: "no token"), HubBench.handle(1)]))
        #expect(foreign.state == .completed)
        #expect(foreign.outcomes == [.badToken: 1, .accepted: 1])
        #expect(Set(bench.transport.outcomes.keys) == [HubBench.handle(1)])
    }

    @Test("dead and bad tokens leave feedback, direct sends too, and take an installation as a whole")
    func feedback() async throws {
        let bench = try await HubBench { target, _ in
            switch HubBench.number(target.handle) {
            case 1, 9: .gone(since: Timestamp(seconds: 4_000_000_000))
            case 2: .badToken
            default: .accepted
            }
        }
        for number in 1...3 { try await bench.hub.put(try phone(number, [template("t", #"{"aps":{"alert":"a"}}"#)])) }
        let end = try await send(bench, "{}", .template)
        #expect(end.outcomes == [.gone: 1, .badToken: 1, .accepted: 1])
        _ = try await send(bench, #"{"aps":{"alert":"a"}}"#, .native(.apns), .handles([HubBench.handle(9)]))
        let rows = try await bench.hub.feedback()
        #expect(
            Set(rows.map { "\(HubBench.number($0.handle)) \($0.reason) \($0.installation?.text ?? "-")" }) == [
                "1 gone phone-1", "2 badToken phone-2", "9 gone -",
            ])
        #expect(try await bench.hub.installation(try #require(RecordID("phone-1"))) == nil)
        #expect(try await bench.hub.installation(try #require(RecordID("phone-2")))?.isHandleExpired == true)
        let native = try await send(bench, #"{"aps":{"alert":"a"}}"#, .native(.apns))
        #expect(native.outcomes == [.accepted: 1])
    }

    @Test("a test send says of each device what became of it, is known to telemetry, and dispatches nothing")
    func testSend() async throws {
        let bench = try await HubBench { target, _ in
            HubBench.number(target.handle) == 3 ? .rejected(reason: "TopicDisallowed") : .accepted
        }
        for number in 0..<4 { try await bench.hub.put(try phone(number, [template("t", #"{"aps":{"alert":"$(a)"}}"#)])) }
        try await bench.register(100..<150)
        let message = PushMessage(body: Array(#"{"a":"b"}"#.utf8))
        let report = try await bench.hub.test(
            SendCommand(message: message, format: .template, recipients: .everyone), through: bench.transport)
        #expect(report.results.count == 4)
        #expect(report.successes == 3)
        #expect(report.results.filter { $0.outcome == .rejected }.map(\.reason) == ["TopicDisallowed"])
        let all = try await bench.hub.test(
            SendCommand(message: PushMessage(body: Array(#"{"aps":{"alert":"a"}}"#.utf8)), audience: nil),
            through: bench.transport)
        #expect(all.results.count == 10)
        let telemetry = try #require(try await bench.hub.telemetry(of: report.id))
        #expect(
            telemetry.state == .completed && telemetry.outcomes == [.accepted: 3, .rejected: 1] && telemetry.format == .template)
        #expect(telemetry.platformOutcomes == [.apns: telemetry.outcomes])
        #expect(telemetry.body == message.body)
        #expect(telemetry.endedAt != nil)
        #expect(await bench.dispatcher().pass() == 0)
        #expect(try await bench.hub.feedback().isEmpty)
    }

    @Test("pushes that cannot leave are logged once a minute, however many sends wait")
    func delays() async throws {
        let notes = LogNotes()
        let bench = try await HubBench { _, _ in .notSent(reason: "nothing answers") }
        try await bench.register(0..<3)
        let dispatcher = Dispatcher(
            queue: bench.store.hub.queue, transport: bench.transport, clock: bench.clock, logger: notes.logger)
        for _ in 0..<4 {
            _ = try await bench.hub.send(
                SendCommand(message: PushMessage(body: Array(#"{"aps":{"alert":"a"}}"#.utf8)), audience: nil))
        }
        func passes(_ seconds: Int) async {
            for _ in 0..<seconds {
                _ = await dispatcher.pass()
                bench.clock.advance(by: .seconds(1))
            }
        }
        func logged() -> [String?] { notes.lines.filter { $0.level == .warning }.map { $0.metadata["platform"] } }
        await passes(50)
        #expect(bench.transport.batches.count > 8)
        #expect(logged() == ["apns"])
        await passes(30)
        #expect(logged() == ["apns", "apns"])
    }

    @Test("a send that met only platforms without a transport is logged once for each hub and platform")
    func unreached() async throws {
        let notes = LogNotes()
        let bench = try await HubBench()
        for (number, platform) in [Platform.adm, .adm, .wns].enumerated() {
            let id = try #require(RecordID("other-\(number)"))
            let handle = try #require(DeviceToken("https://push.example.test/\(number)", platform: platform))
            try await bench.hub.put(InstallationUpsert(id: id, platform: platform, handle: handle))
        }
        let dispatcher = Dispatcher(
            queue: bench.store.hub.queue, transport: bench.transport, clock: bench.clock, logger: notes.logger)
        for format in [SendFormat.native(.adm), .native(.adm), .native(.wns)] {
            let command = SendCommand(
                message: PushMessage(body: Array(#"{"data":{}}"#.utf8)), format: format, recipients: .everyone)
            _ = try await bench.settle(try await bench.hub.send(command), dispatcher)
        }
        func logged() -> [String] {
            notes.lines.filter { $0.level == .warning }.compactMap { line in
                guard let platform = line.metadata["platform"], let hub = line.metadata["hub_id"] else { return nil }
                return "hub=\(hub) platform=\(platform)"
            }
        }
        let hub = bench.hubID.number
        #expect(logged() == ["hub=\(hub) platform=adm", "hub=\(hub) platform=wns"])
        // A send that reaches a device logs nothing.
        try await bench.register(1..<2)
        _ = try await bench.settle(
            try await bench.hub.send(
                SendCommand(message: PushMessage(body: Array(#"{"aps":{"alert":"a"}}"#.utf8)), audience: nil)),
            dispatcher)
        #expect(logged().count == 2)
    }
}
