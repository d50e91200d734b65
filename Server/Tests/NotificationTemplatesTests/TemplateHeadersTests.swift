import RichPushModel
import Testing

@testable import NotificationTemplates

@Suite("Headers, expiry and priority of templates")
struct TemplateHeadersTests {
    private static let windows = Platform(rawValue: "wns")

    private func render(_ headers: [(String, String)], _ properties: [String: String]) throws -> [String] {
        let headers = try TemplateHeaders(headers.map { (name: $0.0, value: $0.1) }, platform: .apns)
        return try headers.render(TemplateProperties(properties)).map { "\($0.name)=\($0.value)" }
    }

    @Test("headers keep their order and spelling, expressions are filled, empty ones are left out")
    func filling() throws {
        let headers = [
            ("apns-priority", "10"), ("Apns-Collapse-Id", "{'c-' + $(id)}"), ("apns-topic", "$(topic)"),
            ("apns-expiration", "#(until)"),
        ]
        #expect(
            try render(headers, ["id": "7", "until": "1900000000"])
                == ["apns-priority=10", "Apns-Collapse-Id=c-7", "apns-expiration=1900000000"])
    }

    @Test(
        "no property can end a header or give it a value that it cannot have",
        arguments: [
            ("apns-topic", "a\r\nauthorization: x"), ("apns-topic", "ü"), ("apns-topic", "\u{0}"), ("apns-priority", "high"),
            ("apns-priority", "256"), ("apns-expiration", "tomorrow"), ("apns-expiration", "-1"),
        ])
    func injection(_ name: String, _ value: String) throws {
        #expect(throws: TemplateRenderingError.malformedHeader(name)) { try render([(name, "$(p)")], ["p": value]) }
        #expect(throws: TemplateError.self) { try render([(name, value)], [:]) }
    }

    @Test(
        "headers that a template cannot have say which and why",
        arguments: [
            ([("x-custom", "1")], Platform.apns, TemplateError.Reason.foreignHeaderName, "x-custom", 0),
            ([("apns-a b", "1")], .apns, .malformedHeaderName, "", 0), ([("", "1")], .apns, .malformedHeaderName, "", 0),
            ([("apns-x:", "1")], .apns, .malformedHeaderName, "", 0),
            ([("apns-a", "1"), ("APNS-A", "2")], .apns, .duplicateHeader, "APNS-A", 0),
            ([("apns-a", "$5")], .apns, .expectedParenthesis, "apns-a", 2),
            ([("apns-a", "12\n")], .apns, .malformedHeaderValue, "apns-a", 3),
            ([("apns-priority", "")], .apns, .malformedHeaderValue, "apns-priority", 1),
            ([("X-WNS-Tag", "a")], windows, .missingHeader, "X-WNS-Type", 0),
            ([("X-WNS-Type", "toast")], windows, .malformedHeaderValue, "X-WNS-Type", 1),
            ([("x-wns-type", "wns/raw"), ("X-WNS-Tag", " ")], windows, .malformedHeaderValue, "X-WNS-Tag", 1),
        ] as [([(String, String)], Platform, TemplateError.Reason, String, Int)])
    func mistakes(
        _ headers: [(String, String)], _ platform: Platform, _ reason: TemplateError.Reason, _ name: String, _ position: Int
    ) {
        #expect(throws: TemplateError(reason, in: .header(name), at: position)) {
            try TemplateHeaders(headers.map { (name: $0.0, value: $0.1) }, platform: platform)
        }
    }

    @Test("the number of headers and their size are bounded")
    func bounds() throws {
        func many(_ count: Int) -> [(name: String, value: String)] { (0..<count).map { ("apns-\($0)", "x") } }
        #expect(try TemplateHeaders(many(32), platform: .apns).fields.count == 32)
        #expect(throws: TemplateError(.tooManyHeaders(limit: 32), in: .header(""), at: 0)) {
            try TemplateHeaders(many(33), platform: .apns)
        }
        #expect(throws: TemplateError(.tooLarge(limit: 4096), in: .header("apns-a"), at: 0)) {
            try render([("apns-a", String(repeating: "x", count: 4097))], [:])
        }
        let large = String(repeating: "x", count: 4097)
        #expect(throws: TemplateRenderingError.tooLarge(limit: 4096)) { try render([("apns-a", "$(p)")], ["p": large]) }
    }

    @Test(
        "an expiry is 0 or a date-time in W3C format or as .NET writes one",
        arguments: [
            ("0", 0), ("1970-01-02", 86_400), ("2026", 1_767_225_600), ("2026-03", 1_772_323_200),
            ("2026-03-01T10:00+01:00", 1_772_355_600),
            ("2026-03-01T10:00:00Z", 1_772_359_200), ("2026-03-01T10:00:00.9999999Z", 1_772_359_200),
            ("2026-03-01 10:00:00", 1_772_359_200),
            ("2026-03-01T10:00-0530", 1_772_379_000), ("2024-02-29T00:00Z", 1_709_164_800), ("2000-02-29", 951_782_400),
            ("03/01/2026 10:00:00", 1_772_359_200), ("3/1/2026 10:00:00 AM", 1_772_359_200),
            ("3/1/2026 12:00:00 PM", 1_772_366_400),
            ("3/1/2026 12:30 AM", 1_772_325_000), ("9999-12-31T23:59:59.999Z", 253_402_300_799), ("0001-01-01T00:00:00Z", 1),
        ])
    func expiries(_ text: String, _ seconds: Int64) throws {
        #expect(try TemplateExpiry(text).render(TemplateProperties([:]))?.seconds == seconds)
        #expect(try TemplateExpiry("$(p)").render(TemplateProperties(["p": text]))?.seconds == seconds)
    }

    @Test(
        "anything else is no expiry",
        arguments: [
            "tomorrow", "1", "-1", "00", "2026-13-01", "2026-02-29", "1900-02-29", "2026-03-01T24:00Z", "2026-03-01T10:60Z",
            "2026-03-01T10Z",
            "2026-03-01T10:00:60Z", "2026-03-01T10:00:00.Z", "2026-03-01T10:00+25:00", "2026-03-01T10:00Z ", "26-03-01",
            "13/01/2026 10:00:00",
            "3/1/2026 13:00:00 PM", "3/1/2026 0:00:00 AM", "2026-00-10", "2026-01-00", "2026-03-01TZ", "١/١/2026",
        ])
    func noExpiries(_ text: String) throws {
        #expect(throws: TemplateError(.malformedExpiry, in: .expiry, at: 1)) { try TemplateExpiry(text) }
        #expect(throws: TemplateRenderingError.malformedExpiry) {
            try TemplateExpiry("$(p)").render(TemplateProperties(["p": text]))
        }
    }

    @Test("a priority is a number from 0 to 255")
    func priorities() throws {
        for (text, number) in [("0", UInt8(0)), ("5", 5), ("10", 10), ("255", 255)] {
            #expect(try TemplatePriority(text).render(TemplateProperties([:])) == number)
            #expect(try TemplatePriority("#(p)").render(TemplateProperties(["p": text])) == number)
        }
        for text in ["256", "-1", "+5", "5.0", "high", " 5"] {
            #expect(throws: TemplateError(.malformedPriority, in: .priority, at: 1)) { try TemplatePriority(text) }
            #expect(throws: TemplateRenderingError.malformedPriority) {
                try TemplatePriority("$(p)").render(TemplateProperties(["p": text]))
            }
        }
    }

    @Test("an expression without a value means neither expiry nor priority; an empty text is a mistake")
    func absence() throws {
        let nothing = try TemplateProperties([:])
        #expect(try TemplateExpiry("$(until)").render(nothing) == nil && TemplatePriority("#(p)").render(nothing) == nil)
        #expect(throws: TemplateError(.empty, in: .expiry, at: 0)) { try TemplateExpiry("") }
        #expect(throws: TemplateError(.empty, in: .priority, at: 0)) { try TemplatePriority("") }
        #expect(throws: TemplateError(.expectedParenthesis, in: .expiry, at: 2)) { try TemplateExpiry("$x") }
    }
}
