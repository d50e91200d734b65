import Foundation
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess
import Synchronization
import Testing

@testable import AppBackend

@Suite("Webhooks")
struct WebhookTests {
    @Test("a request is what Standard Webhooks says, and a receiver can verify it")
    func signed() async throws {
        let scene = try await WebhookScene()
        let webhook = try await scene.create("send.accepted")
        let id = try await scene.test.send(scene.ann)
        try await scene.deliver()
        let request = try #require(scene.receiver.requests.first)
        #expect(scene.receiver.requests.count == 1)
        #expect(request.headers["content-type"] == "application/json")
        let seconds = try #require(request.headers["webhook-timestamp"].flatMap { Int64($0) })
        #expect(seconds == scene.test.clock.now.seconds)
        let secret = try #require(webhook.secret.flatMap { WebhookSecret(text: $0) })
        #expect(
            request.headers["webhook-signature"]
                == secret.signature(id: request.id, seconds: seconds, body: Array(request.body.utf8)))
        struct Event: Decodable {
            var type: String
            var timestamp: String
            var data: [String: String]
        }
        let event = try JSONDecoder().decode(Event.self, from: Data(request.body.utf8))
        #expect(event.type == "send.accepted" && event.data == ["send": "\(id)"])
        #expect(
            try Date(event.timestamp, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)).timeIntervalSince1970
                == Double(scene.test.clock.now.milliseconds) / 1000)
        #expect(try await scene.test.backend.webhook(webhook.id).secret == nil)
    }

    @Test("a webhook gets events when a send is accepted, ends with its counts, or is recalled")
    func sends() async throws {
        let scene = try await WebhookScene()
        _ = try await scene.create("*")
        let (_, phone) = try await scene.test.install(scene.ann, "phone", handle: 1)
        let id = try await scene.test.send(scene.ann)
        try await scene.test.upkeep.work()
        scene.test.hub.completeAll()
        scene.test.clock.advance(by: .seconds(120))
        try await scene.test.upkeep.work()
        let other = try await scene.test.send(scene.ann)
        try await scene.test.backend.recall(other, for: scene.ann)
        try await scene.deliver()
        let told = scene.receiver.requests.compactMap(\.data)
        #expect(!phone.isEmpty)
        #expect(told.filter { $0.send == "\(id)" }.count == 2)
        let end = try #require(told.first { $0.send == "\(id)" && $0.state != nil })
        #expect(end.state == "completed" && end.targets == 1 && end.outcomes?.values.reduce(0, +) == 1)
        #expect(told.contains { $0.installation == "phone" && $0.user == "ann" })
        #expect(scene.receiver.requests.contains { $0.body.contains("send.recalled") && $0.data?.send == "\(other)" })
    }

    @Test("what becomes of each device comes in batches, before the end of the send, under one id however often it is read")
    func outcomes() async throws {
        let scene = try await WebhookScene()
        _ = try await scene.create("send.outcomes", "send.ended")
        _ = try await scene.test.install(scene.ann, "phone", handle: 1)
        let id = try await scene.test.send(scene.ann)
        #expect(scene.test.hub.sends.last?.command.reportsOutcomes == true)
        let phone = try #require(RecordID("phone"))
        let reports = (1...30).map { number in
            OutcomeReport(
                number: number, notedAt: scene.test.clock.now,
                groups: [OutcomeReport.Group(outcome: .rejected, reason: "TopicDisallowed", devices: [phone])])
        }
        for _ in 0..<2 {
            scene.test.hub.report(reports)
            scene.test.clock.advance(by: .seconds(2))
            try await scene.test.upkeep.work()
        }
        scene.test.hub.completeAll()
        scene.test.clock.advance(by: .seconds(120))
        try await scene.test.upkeep.work()
        try await scene.deliver(times: 40)
        let requests = scene.receiver.requests
        #expect(requests.count == 31 && Set(requests.map(\.id)).count == 31)
        #expect(requests.last?.body.contains("send.ended") == true)
        let batch = try #require(requests.first?.data)
        #expect(batch.send == "\(id)")
        #expect(
            batch.devices == [WebhookData.Outcome(outcome: "rejected", reason: "TopicDisallowed", installations: ["phone"])])
    }

    @Test("what a send has brought until it is recalled comes before its end")
    func outcomesOfRecall() async throws {
        let scene = try await WebhookScene()
        _ = try await scene.create("send.outcomes", "send.ended")
        let id = try await scene.test.send(scene.ann)
        let group = OutcomeReport.Group(outcome: .accepted, devices: [try #require(RecordID("phone"))])
        scene.test.hub.report([OutcomeReport(number: 1, notedAt: scene.test.clock.now, groups: [group])])
        try await scene.test.backend.recall(id, for: scene.ann)
        try await scene.deliver(times: 3)
        #expect(scene.receiver.requests.map { $0.data?.devices != nil } == [true, false])
    }

    @Test("a webhook hears of a send that waits for approval, and of no other schedule that begins")
    func proposals() async throws {
        let scene = try await WebhookScene()
        _ = try await scene.create("schedule.proposed")
        var request = ScheduleRequest(SendRequest(message: "Sale"))
        request.sendAt = scene.test.clock.now + .seconds(600)
        _ = try await scene.test.backend.schedule(request, for: scene.ann)
        (request.approval, request.sendAt) = (true, nil)
        let made = try await scene.test.backend.schedule(request, for: scene.ann)
        try await scene.deliver()
        #expect(scene.receiver.requests.map { $0.data?.schedule } == ["\(made.id)"])
    }

    @Test("outcomes of devices are for webhooks that name them, and not where the hub is elsewhere")
    func outcomesAreNamed() async throws {
        let scene = try await WebhookScene()
        let webhook = try await scene.create("*")
        #expect(!webhook.events.contains("send.outcomes") && webhook.events.contains("send.ended"))
        _ = try await scene.test.send(scene.ann)
        #expect(scene.test.hub.sends.last?.command.reportsOutcomes == false)
        scene.test.hub.decidesNoMore()
        #expect(await code { _ = try await scene.create("send.outcomes") } == .conflict)
    }

    @Test("nothing of a content, a title or a device token is in a request, nor in the audit")
    func thin() async throws {
        let scene = try await WebhookScene()
        _ = try await scene.create("*", url: "https://example.org/hook?token=hush")
        let (phone, _) = try await scene.test.install(scene.ann, "phone", handle: 0xABCDEF)
        let id = try await scene.test.send(scene.ann) {
            $0.title = "Confidential"
            $0.message = "Nothing for others"
        }
        try await scene.test.backend.record(
            ReceiptBatch(receipts: [Receipt(richID: id, kind: .opened, at: scene.test.clock.now)]), for: phone)
        try await scene.test.backend.unregister(try #require(RecordID("phone")), for: phone)
        try await scene.deliver(times: 3)
        let bodies = scene.receiver.requests.map(\.body).joined()
        #expect(scene.receiver.requests.count == 4)
        for secret in ["Confidential", "Nothing for", "ABCDEF"] { #expect(!bodies.contains(secret)) }
        let audit = try await scene.test.audit().map { "\($0)" }.joined()
        #expect(audit.contains("webhook.created") && !audit.contains("hush"))
    }

    @Test("an event is tried again later and later, under one id, and given up after three days")
    func retried() async throws {
        let scene = try await WebhookScene()
        let webhook = try await scene.create("send.accepted")
        scene.receiver.answer(status: 500, text: String(repeating: "x", count: 3))
        _ = try await scene.test.send(scene.ann)
        var moments: [Timestamp] = []
        for _ in 0..<(6 * 24 * 60) {
            let before = scene.receiver.requests.count
            try await scene.deliver()
            if scene.receiver.requests.count > before { moments.append(scene.test.clock.now) }
            scene.test.clock.advance(by: .seconds(60))
        }
        #expect(moments.count == WebhookPace.attempts)
        #expect(Set(scene.receiver.requests.map(\.id)).count == 1)
        let span = try #require(moments.last) - moments[0]
        #expect(span > .seconds(66 * 3600) && span < .seconds(90 * 3600))
        let gaps = zip(moments.dropFirst(), moments).map { $0 - $1 }
        #expect(gaps.allSatisfy { $0 <= WebhookPace.longestPause * 5 / 4 + .seconds(60) })
        let failed = try #require(try await scene.deliveries(webhook, "failed").first)
        #expect(failed.attempts == WebhookPace.attempts && failed.lastStatus == 500 && failed.lastAnswer == "xxx")
    }

    @Test("events of a device stay in order while its first one fails, and others are not held up")
    func ordered() async throws {
        let scene = try await WebhookScene()
        _ = try await scene.create("receipts.recorded")
        let id = try await scene.test.send(scene.ann)
        let phones = [
            try await scene.test.install(scene.ann, "one", handle: 1).principal,
            try await scene.test.install(scene.ann, "two", handle: 2).principal,
        ]
        let failing = Mutex(2)
        scene.receiver.answer { request in
            guard request.data?.installation == "one",
                failing.withLock({ left in
                    left -= 1
                    return left >= 0
                })
            else { return .status(204, retryAfter: nil, text: "") }
            return .status(500, retryAfter: nil, text: "")
        }
        for kind in [Receipt.Kind.delivered, .fetched, .opened] {
            for phone in phones {
                try await scene.test.backend.record(
                    ReceiptBatch(receipts: [Receipt(richID: id, kind: kind, at: scene.test.clock.now)]), for: phone)
            }
        }
        try await scene.deliver()
        func told(_ installation: String) -> [String] {
            scene.receiver.requests.compactMap(\.data).filter { $0.installation == installation }
                .compactMap { $0.receipts?.first?.kind }
        }
        #expect(told("two") == ["delivered", "fetched", "opened"])
        #expect(told("one") == ["delivered"])
        try await scene.deliver(times: 3)
        #expect(told("one") == ["delivered", "delivered", "delivered", "fetched", "opened"])
    }

    @Test("a receiver that answers nothing well rests, costs events no attempts meanwhile, and gets all when it is back")
    func rests() async throws {
        let scene = try await WebhookScene()
        let webhook = try await scene.create("send.accepted")
        scene.receiver.answer { _ in .unreachable("nothing answers at the address") }
        for _ in 0..<30 { _ = try await scene.test.send(scene.ann) }
        try await scene.deliver()
        let first = scene.receiver.requests.count
        #expect(first >= WebhookPace.streak && first <= WebhookPace.streak + WebhookDispatcher.width)
        try await scene.deliver(times: 600)
        let probes = scene.receiver.requests.count - first
        #expect(probes > 90 && probes < 140)
        let waiting = try await scene.deliveries(webhook, "waiting")
        #expect(waiting.count == 30 && waiting.allSatisfy { $0.attempts <= 2 })
        #expect(waiting.contains { $0.lastAnswer == "nothing answers at the address" })
        scene.receiver.answer(status: 200)
        try await scene.deliver(times: 30)
        #expect(try await scene.deliveries(webhook, "delivered").count == 30)
    }

    @Test("a receiver that is dead for days is disabled, says why, and gets what waited when it is enabled")
    func disabled() async throws {
        let scene = try await WebhookScene()
        let webhook = try await scene.create("send.accepted")
        scene.receiver.answer(status: 502)
        for _ in 0..<20 { _ = try await scene.test.send(scene.ann) }
        var hours = 0
        while try await scene.test.backend.webhook(webhook.id).enabled {
            try await scene.deliver(times: 12, every: .seconds(400))
            hours += 1
            try #require(hours < 24 * 10)
        }
        #expect(hours > 24 * 4)
        #expect(try await scene.test.backend.webhook(webhook.id).fault == "no attempt has succeeded for days")
        #expect(try await scene.test.audit().filter { $0.action == "webhook.disabled" }.map(\.object) == ["\(webhook.id)"])
        _ = try await scene.test.send(scene.ann)
        #expect(try await scene.deliveries(webhook, "waiting").count == 20)
        scene.receiver.answer(status: 200)
        _ = try await scene.test.backend.changeWebhook(
            webhook.id, to: WebhookRequest(url: "https://example.org/new", events: ["send.accepted"]), by: scene.root)
        try await scene.deliver(times: 10)
        #expect(try await scene.deliveries(webhook, "delivered").count == 20)
        #expect(scene.receiver.addresses.last == "https://example.org/new")
    }

    @Test("a webhook that is created disabled gets only what happens after it is enabled")
    func createdDisabled() async throws {
        let scene = try await WebhookScene()
        var request = WebhookRequest(url: "https://example.org/hook", events: ["send.accepted"], enabled: false)
        let webhook = try await scene.test.backend.createWebhook(request, by: scene.root)
        #expect(!webhook.enabled && webhook.fault == nil)
        _ = try await scene.test.send(scene.ann)
        request.enabled = nil
        _ = try await scene.test.backend.changeWebhook(webhook.id, to: request, by: scene.root)
        let id = try await scene.test.send(scene.ann)
        try await scene.deliver()
        #expect(scene.receiver.requests.compactMap(\.data).map(\.send) == ["\(id)"])
    }

    @Test("410 disables a webhook at once")
    func gone() async throws {
        let scene = try await WebhookScene()
        let webhook = try await scene.create("send.accepted")
        scene.receiver.answer(status: 410)
        _ = try await scene.test.send(scene.ann)
        try await scene.deliver()
        let found = try await scene.test.backend.webhook(webhook.id)
        #expect(!found.enabled && found.fault == "the receiver answered 410 Gone")
    }

    @Test("what a receiver asks for with Retry-After is kept, up to an hour")
    func wished() async throws {
        let scene = try await WebhookScene()
        let webhook = try await scene.create("send.accepted")
        scene.receiver.answer(status: 429, retryAfter: 90)
        for _ in 0..<2 { _ = try await scene.test.send(scene.ann) }
        try await scene.deliver()
        let first = scene.receiver.requests.count
        scene.receiver.answer(status: 503, retryAfter: 1_000_000)
        try await scene.deliver(times: 9, every: .seconds(10))
        #expect(scene.receiver.requests.count == first)
        scene.test.clock.advance(by: .seconds(10))
        try await scene.deliver()
        #expect(scene.receiver.requests.count > first)
        scene.receiver.answer(status: 200)
        try await scene.deliver(times: 2, every: .seconds(3_601))
        #expect(try await scene.deliveries(webhook, "delivered").count == 2)
    }

    @Test("after a roll requests carry both signatures until the old secret ends")
    func rolled() async throws {
        let scene = try await WebhookScene()
        let webhook = try await scene.create("send.accepted")
        let rolled = try await scene.test.backend.rollWebhookSecret(webhook.id, overlap: .seconds(600), by: scene.root)
        #expect(rolled.secret != webhook.secret && rolled.formerSecretUntil == scene.test.clock.now + .seconds(600))
        #expect(
            await code {
                _ = try await scene.test.backend.rollWebhookSecret(webhook.id, overlap: .zero, by: scene.root)
            } == .conflict)
        func signatures() async throws -> [String] {
            let id = try await scene.test.backend.pingWebhook(webhook.id).event
            try await scene.deliver()
            let request = try #require(scene.receiver.requests.last)
            #expect(request.id == id && request.body.contains("webhook.ping"))
            let seconds = try #require(request.headers["webhook-timestamp"].flatMap { Int64($0) })
            let expected = try [rolled, webhook].map { answer in
                try #require(answer.secret.flatMap { WebhookSecret(text: $0) })
                    .signature(id: id, seconds: seconds, body: Array(request.body.utf8))
            }
            return (request.headers["webhook-signature"] ?? "").split(separator: " ").map { signature in
                expected.firstIndex(of: String(signature)).map { ["new", "old"][$0] } ?? "unknown"
            }
        }
        #expect(try await signatures() == ["new", "old"])
        scene.test.clock.advance(by: .seconds(600))
        #expect(try await signatures() == ["new"])
    }

    @Test("one that was changed, disabled or removed meanwhile gets nothing more as it was")
    func changed() async throws {
        let scene = try await WebhookScene()
        let webhook = try await scene.create("send.accepted")
        for _ in 0..<100 { _ = try await scene.test.send(scene.ann) }
        scene.receiver.duringNext {
            _ = try? await scene.test.backend.changeWebhook(
                webhook.id, to: WebhookRequest(url: "https://example.org/new", events: ["send.accepted"]), by: scene.root)
            // As the node does twice a second: it sees what has changed.
            try? await scene.dispatcher.deliverDue()
        }
        try await scene.deliver()
        #expect(scene.receiver.requests.count <= WebhookDispatcher.width)
        scene.receiver.duringNext {
            try? await scene.test.backend.removeWebhook(webhook.id, by: scene.root)
            try? await scene.dispatcher.deliverDue()
        }
        try await scene.deliver(times: 2)
        #expect(scene.receiver.addresses == ["https://example.org/hook", "https://example.org/new"])
        #expect(scene.receiver.requests.count <= 2 * WebhookDispatcher.width)
        #expect(await code { _ = try await scene.test.backend.webhook(webhook.id) } == .notFound)
        try await scene.test.upkeep.sweep()
        #expect(try await scene.test.rows(of: "webhook_deliveries") == 0)
        #expect(try await scene.test.rows(of: "webhooks") == 0)
    }

    @Test("deliveries are replayed with the ids that they had")
    func replayed() async throws {
        let scene = try await WebhookScene()
        let webhook = try await scene.create("send.accepted")
        for _ in 0..<3 { _ = try await scene.test.send(scene.ann) }
        try await scene.deliver()
        let ids = Set(scene.receiver.requests.map(\.id))
        let since = scene.test.clock.now - .seconds(1)
        let answer = try await scene.test.backend.replay(WebhookReplayRequest(since: since), of: webhook.id, by: scene.root)
        #expect(answer.queued == 3)
        let one = try #require(ids.first)
        #expect(
            await code {
                _ = try await scene.test.backend.replay(WebhookReplayRequest(event: one), of: webhook.id, by: scene.root)
            } == .notFound)
        try await scene.deliver()
        #expect(scene.receiver.requests.count == 6 && Set(scene.receiver.requests.map(\.id)) == ids)
        _ = try await scene.test.backend.replay(WebhookReplayRequest(event: one), of: webhook.id, by: scene.root)
        try await scene.deliver()
        #expect(scene.receiver.requests.last?.id == one && scene.receiver.requests.count == 7)
        for wrong in [
            WebhookReplayRequest(), WebhookReplayRequest(event: one, since: since),
            WebhookReplayRequest(event: one, failedOnly: true),
            WebhookReplayRequest(failedOnly: true),
        ] {
            #expect(
                await code { _ = try await scene.test.backend.replay(wrong, of: webhook.id, by: scene.root) } == .invalidField)
        }
    }

    @Test(
        "an address that no webhook may have is refused with the reason",
        arguments: [
            "", "example.org/hook", "ftp://example.org/", "https://", "https://user@example.org/", "https://u:p@example.org/",
            "https://example.org/#part", "http://example.org/", "https://127.0.0.1/", "https://[::1]/", "https://localhost/",
            "https://10.0.0.7:8443/x", "https://[::ffff:169.254.169.254]/", "https://169.254.169.254/latest",
            "https://ex ample.org/",
            "https://example.org:0/", "https://example.org:65536/", "https://example.org/\u{7f}",
        ])
    func refused(_ url: String) async throws {
        let scene = try await WebhookScene()
        let error = await #expect(throws: ServiceError.self) { _ = try await scene.create("*", url: url) }
        #expect(error?.code == .invalidField && error?.detail?.hasPrefix("url: ") == true)
    }

    @Test("a network that the operator allows may have receivers, also by http, and its neighbours may not")
    func allowed() async throws {
        let scene = try await WebhookScene {
            $0.webhookRule = OutboundRule(
                networks: ["127.0.0.0/8", "10.1.0.0/16"].compactMap { AddressRange($0) }, setting: "webhook-networks")
        }
        for url in [
            "http://127.0.0.1:9000/", "https://10.1.2.3/", "http://localhost/", "http://shop.internal/", "https://example.org/",
        ] {
            _ = try await scene.create("*", url: url)
        }
        for url in ["http://10.2.0.1/", "https://192.168.0.1/", "http://8.8.8.8/"] {
            #expect(await code { _ = try await scene.create("*", url: url) } == .invalidField)
        }
        let address = try #require(OutboundAddress("http://shop.internal/"))
        let none = OutboundRule(networks: [], setting: "webhook-networks")
        let rule = OutboundRule(networks: [try #require(AddressRange("10.1.0.0/16"))], setting: "webhook-networks")
        #expect(rule.refusal(of: "10.1.9.9", for: address) == nil)
        #expect(none.refusal(of: "8.8.8.8", for: address) != nil)
        #expect(none.refusal(of: "8.8.8.8", for: try #require(OutboundAddress("https://shop.internal/"))) == nil)
    }

    @Test(
        "types that do not exist, or twice, are refused, and a long description",
        arguments: [[], ["*", "send.ended"], ["send.lost"], ["webhook.ping"], ["send.ended", "send.ended"]])
    func types(_ events: [String]) async throws {
        let scene = try await WebhookScene()
        let error = await #expect(throws: ServiceError.self) {
            _ = try await scene.test.backend.createWebhook(
                WebhookRequest(url: "https://example.org/", events: events), by: scene.root)
        }
        #expect(error?.code == .invalidField && error?.detail?.hasPrefix("events: ") == true)
    }

    @Test("a node that was shut down begins nothing, and gives its webhooks up")
    func shutDown() async throws {
        let scene = try await WebhookScene()
        _ = try await scene.create("send.accepted")
        _ = try await scene.test.send(scene.ann)
        let other = WebhookDispatcher(of: scene.test.backend, owner: "other", transport: scene.receiver)
        scene.dispatcher.shutDown()
        try await scene.deliver()
        #expect(scene.receiver.requests.isEmpty)
        try await other.deliverDue()
        #expect(scene.receiver.requests.isEmpty)
        await scene.dispatcher.run()
        try await other.deliverDue()
        #expect(scene.receiver.requests.count == 1)
    }
}
