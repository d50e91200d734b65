import PushHub
import RichPushModel
import SQLStorage
import ServiceErrors
import Testing

@testable import AppBackend

@Suite("Sends that count against a frequency cap")
struct FrequencyCapTests {
    private static func backend() async throws -> TestBackend {
        let caps = try ["marketing=1/7d", "news=10/1d"].map { try #require(FrequencyCap($0)) }
        return try await TestBackend { $0.frequencyCaps = caps }
    }

    @Test("the hub gets the cap of the settings that the send names, and no other")
    func named() async throws {
        let test = try await Self.backend()
        let sender = try await test.user("sender")
        _ = try await test.send(sender, to: "news") { $0.frequencyCap = "marketing" }
        #expect(test.hub.sends.last?.command.cap == FrequencyCap("marketing=1/7d"))
        _ = try await test.send(sender, to: "news")
        #expect(test.hub.sends.last?.command.cap == nil)
        _ = try await test.send(sender, to: "news") {
            $0.frequencyCap = "marketing"
            $0.transactional = true
        }
        #expect(test.hub.sends.last?.command.cap == nil)
    }

    @Test("a name that the settings do not have is refused, with those that they have")
    func unknown() async throws {
        let test = try await Self.backend()
        let sender = try await test.user("sender")
        for name in ["offers", "", "Marketing", "marketing=1/7d"] {
            await #expect {
                _ = try await test.send(sender, to: "news") { $0.frequencyCap = name }
            } throws: { error in
                let error = error as? ServiceError
                return error?.code == .invalidField && error?.detail?.contains("marketing, news") == true
            }
        }
        #expect(test.hub.sends.isEmpty)
        let plain = try await TestBackend()
        let other = try await plain.user("sender")
        await #expect {
            _ = try await plain.send(other, to: "news") { $0.frequencyCap = "marketing" }
        } throws: { ($0 as? ServiceError)?.detail == "frequencyCap: the setting frequency-caps has none" }
    }

    @Test("a hub elsewhere that cannot count refuses the send")
    func elsewhere() async throws {
        let test = try await Self.backend()
        test.hub.decidesNoMore()
        let sender = try await test.user("sender")
        await #expect {
            _ = try await test.send(sender, to: "news") { $0.frequencyCap = "marketing" }
        } throws: { ($0 as? ServiceError)?.code == .conflict }
        _ = try await test.send(sender, to: "news")
    }

    @Test("each occurrence of a schedule counts, also if the template names the cap")
    func schedules() async throws {
        let test = try await Self.backend()
        let sender = try await test.user("sender", .admin)
        var base = SendRequest(message: "Sale")
        base.frequencyCap = "marketing"
        _ = try await test.backend.putMessageTemplate("sale", MessageTemplateRequest(base), for: sender)
        var notification = SendRequest(message: "")
        notification.audience = "news"
        notification.template = TemplateUse(name: "sale")
        var request = ScheduleRequest(notification)
        request.sendAt = test.clock.now + .seconds(60)
        var wrong = request
        wrong.notification.frequencyCap = "offers"
        #expect(await code { _ = try await test.backend.schedule(wrong, for: sender) } == .invalidField)
        _ = try await test.backend.schedule(request, for: sender)
        test.clock.advance(by: .seconds(61))
        try await test.upkeep.work()
        #expect(test.hub.sends.last?.command.cap?.name == "marketing")
    }

    @Test("a retry gets the first answer also when the settings have no such cap any more")
    func retry() async throws {
        let test = try await Self.backend()
        let sender = try await test.user("sender")
        let first = try await test.send(sender, to: "news", key: "k") { $0.frequencyCap = "marketing" }
        var parts = test.backend.parts
        parts.settings.frequencyCaps = []
        var request = SendRequest(message: "Hello")
        (request.audience, request.frequencyCap) = ("news", "marketing")
        let later = RichPushBackend(parts: parts)
        #expect(try await later.send(request, idempotencyKey: "k", for: sender).id == first)
        await #expect {
            _ = try await later.send(request, idempotencyKey: "other", for: sender)
        } throws: { ($0 as? ServiceError)?.code == .invalidField }
    }

    @Test("explain asks the hub whether a cap held a device back")
    func explained() async throws {
        let test = try await Self.backend()
        try await test.phone("ann", 1, zone: nil)
        let sender = try await test.user("sender")
        let id = try await test.send(sender, to: "news") { $0.frequencyCap = "marketing" }
        let cap = try #require(FrequencyCap("marketing=1/7d"))
        test.hub.holdBack(CapCount(cap: cap, isCounted: false, others: 1))
        test.hub.completeAll(order: try await test.order())
        let found = try await test.backend.explain(id, toUser: "ann", for: try await test.admin())
        #expect(found.finding.cause == "frequency-cap")
        #expect(
            found.finding.sentence == "It was held back: the user had reached the limit of 1 sends of the kind marketing in 7d.")
    }
}
