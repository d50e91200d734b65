import ClarionTesting
import RichPushModel
import ServiceErrors
import Testing

@testable import AppBackend

@Suite("Message templates")
struct MessageTemplateTests {
    private static func order(_ change: (inout SendRequest) -> Void = { _ in }) -> MessageTemplateRequest {
        var notification = SendRequest(message: "{{name}}, order {{ order }} is on its way.")
        notification.title = "Order {{order}}"
        notification.preview = .open
        change(&notification)
        return MessageTemplateRequest(notification, defaults: ["name": "Hello"])
    }

    private func texts(_ test: TestBackend, of id: RichID, for principal: Principal) async throws -> String {
        let entry = try await test.backend.details(of: id, for: principal)
        return "\(entry.title ?? "-"): \(entry.message)"
    }

    @Test("a template comes back with its version, its places and who made it")
    func reads() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let made = try await test.backend.putMessageTemplate("order", Self.order(), for: ann)
        #expect(made.version == 1 && made.placeholders == ["name", "order"] && made.author == "user ann")
        var again = Self.order { $0.title = nil }
        again.replaces = 1
        _ = try await test.backend.putMessageTemplate("order", again, for: ann)
        let found = try await test.backend.messageTemplate("order", for: ann)
        #expect(found.version == 2 && found.versions == [2, 1] && found.notification == again.notification)
        #expect(try await test.backend.messageTemplate("order", version: 1, for: ann).notification.title == "Order {{order}}")
        #expect(try await test.backend.messageTemplates(for: ann).templates.map(\.name) == ["order"])
        #expect(await code { _ = try await test.backend.putMessageTemplate("order", again, for: ann) } == .conflict)
    }

    @Test("a send takes what it leaves out from the template, with its values in their places")
    func sends() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        _ = try await test.backend.putMessageTemplate("order", Self.order { $0.sound = "bell.caf" }, for: ann)
        func send(_ values: [String: String], _ change: (inout SendRequest) -> Void = { _ in }) async throws -> RichID {
            var request = SendRequest(message: "")
            request.template = TemplateUse(name: "order", values: values)
            change(&request)
            return try await test.backend.send(request, idempotencyKey: nil, for: ann).id
        }
        let first = try await send(["order": "4711"])
        #expect(try await texts(test, of: first, for: ann) == "Order 4711: Hello, order 4711 is on its way.")
        let body = String(decoding: try #require(test.hub.sends.last?.command.message.body), as: UTF8.self)
        #expect(body.contains(#""sound":"bell.caf""#) && body.contains("Order 4711"))
        let second = try await send(["order": "12", "name": "Zoë"]) { ($0.title, $0.sound) = ("Own", "own.caf") }
        #expect(try await texts(test, of: second, for: ann) == "Own: Zoë, order 12 is on its way.")
        let other = String(decoding: try #require(test.hub.sends.last).command.message.body, as: UTF8.self)
        #expect(other.contains("own.caf"))
    }

    @Test("values in links are escaped, and translations have places too")
    func places() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let request = Self.order {
            $0.link = "https://example.org/orders/{{order}}"
            $0.translations = [SendTranslation(language: "sv", message: "Order {{order}} till {{city}} är på väg.")]
        }
        let made = try await test.backend.putMessageTemplate("order", request, for: ann)
        #expect(made.placeholders == ["city", "name", "order"])
        let use = TemplateUse(name: "order", values: ["order": "4/7 1&x", "city": "Växjö"])
        let shown = try await test.backend.preview(use, for: ann)
        #expect(shown.link == "https://example.org/orders/4%2F7%201%26x")
        #expect(shown.translations?.first.flatMap(\.message) == "Order 4/7 1&x till Växjö är på väg.")
        #expect(shown.title == "Order 4/7 1&x")
    }

    @Test("each mistake is named")
    func mistakes() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        func detail(_ name: String = "a", _ change: @escaping (inout MessageTemplateRequest) -> Void) async -> String? {
            var request = Self.order()
            change(&request)
            let asked = request
            return await refusal { _ = try await test.backend.putMessageTemplate(name, asked, for: ann) }?.detail
        }
        for name in ["", "-a", "A", "a b", String(repeating: "a", count: 65)] {
            #expect(await detail(name) { _ in }?.hasPrefix("name: it has 1 to 64") == true, "\(name)")
        }
        for text in ["{{", "{{}}", "{{a b c", "{{a-b}}", "{{\(String(repeating: "a", count: 33))}}"] {
            #expect(await detail { $0.notification.message = text }?.hasPrefix("{{ begins a place") == true, "\(text)")
        }
        #expect(await detail { $0.notification.audience = "all" }?.hasPrefix("notification: a template has no audience") == true)
        #expect(await detail { $0.defaults = ["other": "x"] } == "defaults: there is no place for 'other'")
        #expect(await detail { $0.defaults = ["name": "\u{7}"] }?.hasPrefix("defaults: 'name' must be") == true)
        #expect(await detail { $0.notification.title = "" }?.hasPrefix("title:") == true)
        #expect(await detail { $0.notification.link = "{{order}}" }?.hasPrefix("link:") == true)
        #expect(await detail { $0.replaces = 3 }?.hasPrefix("replaces:") == true)
        _ = try await test.backend.putMessageTemplate("a", Self.order(), for: ann)
        func fault(_ values: [String: String], version: Int? = nil) async -> String? {
            await refusal {
                var request = SendRequest(message: "")
                request.template = TemplateUse(name: "a", version: version, values: values)
                _ = try await test.backend.send(request, idempotencyKey: nil, for: ann)
            }?.detail
        }
        #expect(await fault([:]) == "template: the value 'order' is missing")
        #expect(await fault(["order": "1", "x": "2"]) == "template.values: there is no place for 'x'")
        #expect(await fault(["order": String(repeating: "x", count: 501)])?.contains("1 to 500 characters") == true)
        #expect(await fault(["order": "1"], version: 2)?.hasPrefix("there is no such message template") == true)
        #expect(try await test.rows(of: "rich_notifications") == 0)
    }

    @Test("a picture of a template is the app's: every sender sends a copy, also when who made it is gone, and recalls it alone")
    func contents() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let own = try await test.store(Sample.png(byteCount: 700), ann)
        _ = try await test.backend.putMessageTemplate(
            "offer",
            MessageTemplateRequest(
                {
                    var one = SendRequest(message: "Look"); one.contentID = own; return one
                }()), for: ann)
        try await test.backend.eraseUser(name: "ann")
        test.clock.advance(by: .seconds(30 * 3600))
        try await test.upkeep.work()
        var request = SendRequest(message: "")
        request.template = TemplateUse(name: "offer")
        let first = try await test.backend.send(request, idempotencyKey: nil, for: bob).id
        let second = try await test.backend.send(request, idempotencyKey: nil, for: bob).id
        #expect(try await test.content(of: first, for: bob).count == 700)
        try await test.backend.recall(first, for: bob)
        #expect(try await test.content(of: second, for: bob).count == 700)
        let found = try await test.backend.messageTemplate("offer", for: bob)
        #expect(found.author == "user" && found.notification.contentID != own)
        try await test.backend.removeMessageTemplate("offer", for: bob)
        #expect(try await test.content(of: second, for: bob).count == 700, "what was sent keeps its copy")
        #expect(try await test.rows(of: "content_claims WHERE holder LIKE 'template%'") == 0)
    }

    @Test("a repeat under the key gets the first answer, also when the template has changed since")
    func repeats() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        _ = try await test.backend.putMessageTemplate("order", Self.order(), for: ann)
        var request = SendRequest(message: "")
        request.template = TemplateUse(name: "order", values: ["order": "1"])
        let first = try await test.backend.send(request, idempotencyKey: "k", for: ann).id
        _ = try await test.backend.putMessageTemplate("order", Self.order { $0.title = "New {{order}}" }, for: ann)
        #expect(try await test.backend.send(request, idempotencyKey: "k", for: ann).id == first)
        try await test.backend.removeMessageTemplate("order", for: ann)
        #expect(try await test.backend.send(request, idempotencyKey: "k", for: ann).id == first)
        let (one, same, another) = (
            try await test.store(Sample.png, ann), try await test.store(Sample.png, ann),
            try await test.store(Sample.png(byteCount: 700), ann)
        )
        _ = try await test.backend.putMessageTemplate("order", Self.order(), for: ann)
        func sent(_ content: String) async throws -> RichID {
            var request = request
            request.contentID = content
            return try await test.backend.send(request, idempotencyKey: "picture", for: ann).id
        }
        #expect(try await sent(one) == (try await sent(same)), "the same bytes once more")
        #expect(await code { _ = try await sent(another) } == .idempotencyMismatch)
        request.template?.values = ["order": "2"]
        let other = request
        #expect(await code { _ = try await test.backend.send(other, idempotencyKey: "k", for: ann) } == .idempotencyMismatch)
    }

    @Test("a schedule has the template as it was when it was made")
    func schedules() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        _ = try await test.backend.putMessageTemplate("order", Self.order(), for: ann)
        var notification = SendRequest(message: "")
        notification.template = TemplateUse(name: "order", values: ["order": "1"])
        let asked = ScheduleRequest(notification, at: test.clock.now + .seconds(3600))
        let schedule = try await test.backend.schedule(asked, idempotencyKey: "k", for: ann)
        #expect(schedule.request.notification.title == "Order 1")
        _ = try await test.backend.putMessageTemplate("order", Self.order { $0.title = "New {{order}}" }, for: ann)
        test.clock.advance(by: .seconds(3600))
        try await test.upkeep.work()
        let id = try #require(try await test.backend.schedule(schedule.id, for: ann).lastSend)
        #expect(try await texts(test, of: id, for: ann) == "Order 1: Hello, order 1 is on its way.")
        #expect(try await test.backend.schedule(asked, idempotencyKey: "k", for: ann).id == schedule.id)
    }

    @Test("senders and administrators change templates, auditors and keys to send read them, users do neither")
    func access() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        _ = try await test.backend.putMessageTemplate("order", Self.order(), for: ann)
        let key = try await test.signIn(with: try await test.key("shop", "send"))
        var request = SendRequest(message: "")
        (request.audience, request.template) = ("news", TemplateUse(name: "order", values: ["order": "1"]))
        _ = try await test.backend.send(request, idempotencyKey: nil, for: key)
        #expect(await code { _ = try await test.backend.putMessageTemplate("order", Self.order(), for: key) } == .forbidden)
        let (user, auditor) = (try await test.user("zoe", .user), try await test.user("eve", .auditor))
        #expect(await code { _ = try await test.backend.messageTemplates(for: user) } == .forbidden)
        var own = request
        own.audience = nil
        let asked = own
        #expect(await code { _ = try await test.backend.send(asked, idempotencyKey: nil, for: user) } == .forbidden)
        #expect(try await test.backend.messageTemplates(for: auditor).templates.count == 1)
        #expect(await code { try await test.backend.removeMessageTemplate("order", for: auditor) } == .forbidden)
        let actions = try await test.audit().map(\.action)
        #expect(actions.contains("template.changed"))
    }
}
