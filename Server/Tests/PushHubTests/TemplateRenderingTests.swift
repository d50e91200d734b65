import NotificationTemplates
import RichPushModel
import Testing

@testable import PushHub

@Suite("What a template makes of a send")
struct TemplateRenderingTests {
    private static let notification = NotificationID()

    private func message(_ change: (inout AcceptedMessage) -> Void = { _ in }) -> AcceptedMessage {
        var message = AcceptedMessage(
            body: Array(#"{"text":"Hello","n":"3","empty":""}"#.utf8), pushType: "", priority: 0, format: .template,
            collapseID: Self.notification.text)
        change(&message)
        return message
    }

    private func render(
        _ body: String = #"{"aps":{"alert":"$(text)"}}"#, _ headers: [(String, String)] = [], expiry: String? = nil,
        priority: String? = nil, name: String? = "t", message: AcceptedMessage? = nil
    ) throws -> TemplateRendering {
        let template = DeviceTemplate(
            name: name, body: body, headers: headers.map { .init(name: $0.0, value: $0.1) }, expiry: expiry, priority: priority)
        let message = message ?? self.message()
        let properties = try TemplateProperties(json: String(decoding: message.body, as: UTF8.self))
        return TemplateRendering(try CompiledTemplate(template, platform: .apns), properties, message, of: Self.notification)
    }

    private func push(_ rendering: TemplateRendering) throws -> RenderedPush {
        guard case .push(let push) = rendering else {
            Issue.record("\(rendering)")
            throw TemplateRenderingError.malformedPriority
        }
        return push
    }

    @Test("without headers the body says what the push is")
    func derived() throws {
        let alert = try push(render())
        #expect(alert.pushType == "alert")
        #expect(alert.priority == 10)
        #expect(alert.expiration == nil)
        #expect(alert.topic == nil)
        #expect(String(decoding: alert.body, as: UTF8.self) == #"{"aps":{"alert":"Hello"}}"#)
        let silent = try push(render(#"{"aps":{"content-available":1,"sound":"$(empty)"}}"#))
        #expect(silent.pushType == "background")
        #expect(silent.priority == 5)
        #expect(silent.collapseID == nil)
    }

    @Test("a template of a browser is filled as it is, and its push has no push type of Apple's")
    func browser() throws {
        let template = DeviceTemplate(name: "t", body: #"{"title":"$(text)"}"#, expiry: nil, priority: "5")
        let message = message { $0.templatePlatform = .browser }
        let properties = try TemplateProperties(json: String(decoding: message.body, as: UTF8.self))
        let compiled = try CompiledTemplate(template, platform: .browser)
        let push = try push(TemplateRendering(compiled, properties, message, of: Self.notification))
        #expect(String(decoding: push.body, as: UTF8.self) == #"{"title":"Hello"}"#)
        #expect(push.pushType == "" && push.priority == 5 && push.topic == nil)
        #expect(push.collapseID == "\(Self.notification.text).\(compiled.mark)")
    }

    @Test("headers say more than the template's own words, and those more than the send")
    func precedence() throws {
        let headers = [
            ("APNS-Push-Type", "voip"), ("apns-priority", "$(n)"), ("apns-expiration", "7"), ("apns-collapse-id", "$(text)"),
            ("apns-topic", "com.example.app.voip"), ("apns-id", "x"),
        ]
        let expiring = message {
            $0.expiresAt = Timestamp(seconds: 99); $0.body = Array(#"{"text":"a","n":"1"}"#.utf8)
        }
        let all = try push(render(#"{"aps":{}}"#, headers, expiry: "2030-01-01T00:00:00Z", priority: "10", message: expiring))
        #expect(all.pushType == "voip")
        #expect(all.priority == 1)
        #expect(all.expiration == 7)
        #expect(all.collapseID == "a")
        #expect(all.topic == "com.example.app.voip")
        let own = try push(render(expiry: "2030-01-01T00:00:00Z", priority: "5", message: expiring))
        #expect(own.expiration == 1_893_456_000)
        #expect(own.priority == 5)
        #expect(try push(render(expiry: "0", message: expiring)).expiration == 0)
        #expect(try push(render(message: expiring)).expiration == 99)
        #expect(try push(render(expiry: "$(missing)", message: expiring)).expiration == 99)
    }

    @Test("what the send says counts where the template says nothing")
    func ofTheSend() throws {
        let said = message { ($0.pushType, $0.priority, $0.collapseID) = ("voip", 5, "score") }
        let plain = try push(render(message: said))
        #expect(plain.pushType == "voip")
        #expect(plain.priority == 5)
        #expect(plain.collapseID == "score")
        let headers = [("apns-push-type", "alert"), ("apns-priority", "10"), ("apns-collapse-id", "own")]
        let own = try push(render(#"{"aps":{"alert":"x"}}"#, headers, message: said))
        #expect(own.pushType == "alert")
        #expect(own.priority == 10)
        #expect(own.collapseID == "own")
        #expect(try push(render(priority: "1", message: said)).priority == 1)
        let silent = #"{"aps":{"content-available":1}}"#
        // A chosen collapse id is for silent pushes as well, and 10 is lowered for them.
        let chosen = try push(render(silent, message: message { ($0.priority, $0.collapseID) = (10, "score") }))
        #expect(chosen.pushType == "background")
        #expect(chosen.priority == 5)
        #expect(chosen.collapseID == "score")
        #expect(try render(message: message { $0.pushType = "background" }) == .failed(.invalidFormat))
        #expect(try render(#"{"aps":{"alert":"x"}}"#, [("apns-push-type", "background")]) == .failed(.invalidFormat))
        #expect(try push(render(silent, message: message { $0.pushType = "background" })).pushType == "background")
    }

    @Test("a background push never has priority 10")
    func background() throws {
        #expect(try push(render(#"{"aps":{"content-available":1}}"#, priority: "10")).priority == 5)
    }

    @Test("an alert that may not stack has a collapse id of send and template, within what a header takes")
    func collapse() throws {
        let ids = try ["a", "b", nil].map { try push(render(name: $0)).collapseID ?? "" }
        #expect(Set(ids).count == 3)
        #expect(ids.allSatisfy { $0.hasPrefix(Self.notification.text) && $0.utf8.count <= 64 })
        #expect(try push(render(message: message { $0.collapseID = nil })).collapseID == nil)
    }

    @Test("what is too large or cannot be a push is its own outcome")
    func failures() throws {
        let long = message { $0.body = Array(#"{"text":"\#(String(repeating: "x", count: 4100))","n":"7","type":"no"}"#.utf8) }
        #expect(try render(message: long) == .failed(.tooLarge))
        #expect(try push(render(#"{"t":"$(text)"}"#, [("apns-push-type", "voip")], message: long)).body.count > 4096)
        #expect(try render("{}", priority: "$(n)", message: long) == .failed(.invalidFormat))
        #expect(try render("{}", [("apns-push-type", "$(type)")], message: long) == .failed(.invalidFormat))
        #expect(
            try render("{}", [("apns-topic", "$(bad)")], message: message { $0.body = Array(#"{"bad":"a b"}"#.utf8) })
                == .failed(.invalidFormat))
        let wide = message { $0.body = Array(#"{"text":"\#(String(repeating: "x", count: 65))"}"#.utf8) }
        #expect(try render("{}", [("apns-collapse-id", "$(text)")], message: wide) == .failed(.invalidFormat))
    }

    @Test("a push whose time is over is known as such; 0 means now or never")
    func over() throws {
        let now = Timestamp(seconds: 100)
        for (expiration, isOver) in [(nil, false), (0, false), (99, true), (100, true), (101, false)] as [(Int64?, Bool)] {
            let push = RenderedPush(body: [], pushType: "alert", priority: 10, expiration: expiration)
            #expect(push.isOver(at: now) == isOver)
        }
    }

    @Test("each template is filled once, and only those of pages that have them")
    func filling() throws {
        var filling = TemplateFilling()
        var page = SlicePage(state: .dispatching, message: message(), work: .wait, pendingCount: 0, nextPendingAt: nil)
        page.templates = [
            TemplateID(1): DeviceTemplate(name: "a", body: "{}"), TemplateID(2): DeviceTemplate(name: "b", body: "{"),
        ]
        let first = filling.fill(page, of: Self.notification)
        #expect(first.count == 2 && first[TemplateID(2)] == .failed(.invalidFormat))
        // Another content under a known id is not rendered: the id identifies the content.
        page.templates = [TemplateID(1): DeviceTemplate(name: "a", body: #"{"x":1}"#)]
        #expect(filling.fill(page, of: Self.notification)[TemplateID(1)] == first[TemplateID(1)])
        page.message.format = .native(.apns)
        #expect(filling.fill(page, of: Self.notification).isEmpty)
    }
}
