import RichPushModel
import ServiceErrors
import Testing

import struct RichPushModel.Tag

@testable import PushHub

@Suite("Checks on an installation and on what the hub protocol sends")
struct InstallationCheckTests {
    private let now = Timestamp(milliseconds: 1_800_000_000_000)

    private func installation(_ change: (inout InstallationUpsert) -> Void = { _ in }) throws -> InstallationUpsert {
        var result = InstallationUpsert(
            id: try #require(RecordID("phone")), handle: DeviceToken("ab12", platform: .apns),
            templates: ["t": .init(DeviceTemplate(name: "other", body: "{}"))])
        change(&result)
        return result
    }

    private func refusal(_ change: (inout InstallationUpsert) -> Void) throws -> ServiceErrorCode? {
        do {
            _ = try installation(change).checked()
            return nil
        } catch let error as ServiceError {
            return error.code
        }
    }

    @Test("a template has the name under which it stands")
    func names() throws {
        #expect(try installation().checked().templates["t"]?.template.name == "t")
    }

    @Test("what a hub does not keep is refused")
    func refused() throws {
        let tag = try #require(Tag.addressing("$UserId:{ann}"))
        let many = (0..<101).map { ("t\($0)", InstallationUpsert.Template(DeviceTemplate(name: nil, body: "{}"))) }
        let changes: [(inout InstallationUpsert) -> Void] = [
            { $0.tags = [tag] }, { $0.templates["t"]?.tags = [tag] }, { $0.handle = DeviceToken(canonical: "xyz") },
            { $0.platform = Platform(rawValue: "template") }, { $0.userID = "" }, { $0.userID = "a}b" }, { $0.userID = "a\n" },
            { $0.id = RecordID("a}b")! },
            { $0.templates["t"]?.template.body = "{" }, { $0.templates["t"]?.template.body = "" },
            { $0.templates["t"]?.template.body = #"{"a":"$5 off"}"# },
            { $0.templates["t"]?.template.headers = [.init(name: "x-other", value: "1")] },
            { $0.templates[""] = $0.templates["t"] }, { $0.templates[String(repeating: "x", count: 201)] = $0.templates["t"] },
            { $0.templates = Dictionary(uniqueKeysWithValues: many) },
            { $0.pushVariables = ["a": String(repeating: "x", count: 9_000)] },
            { $0.details = Dictionary(uniqueKeysWithValues: (0..<65).map { ("d\($0)", "") }) },
        ]
        for (index, change) in changes.enumerated() { #expect(try refusal(change) == .invalidField, "\(index)") }
        #expect(try refusal { _ in } == nil)
    }

    @Test("the names of an installation's own records are refused for others")
    func derivedNames() throws {
        let phone = try #require(RecordID("phone"))
        let names = [
            RecordID.derived(from: phone, tile: nil, template: "a"), .derived(from: phone, tile: "a", template: nil),
            .derived(from: phone, tile: "a", template: "a"),
            .derived(from: try #require(RecordID("phonea")), tile: nil, template: ""),
        ]
        #expect(Set(names).count == 4)
        #expect(names.allSatisfy { $0.isDerived })
        #expect(!phone.isDerived)
        #expect(names[0] == .derived(from: phone, tile: nil, template: "a"))
        #expect(try refusal { $0.id = names[0] } == .conflict)
    }

    @Test("an expiry in the past is taken as it is")
    func expiry() throws {
        let past = now + .seconds(-5)
        #expect(try installation { $0.expiresAt = past }.checked().expiresAt == past)
    }

    @Test("a continuation token reads back, and nothing else does")
    func tokens() {
        for number in [Int64.min, -1, 0, 1, .max] {
            let token = SliceKey(number).token
            #expect(token.utf8.count == 16)
            #expect(SliceKey(token: token) == SliceKey(number))
        }
        for text in ["", "0", "+00000000000000f", "00000000000000000", "000000000000000g", "%3000000000000000"] {
            #expect(SliceKey(token: text) == nil)
        }
    }

    @Test("what a send of another kind says is checked by its kind")
    func formats() throws {
        let check = MessageCheck(now: now, dueAt: now, fillsCollapseID: true)
        func code(_ format: SendFormat, _ body: String) -> ServiceErrorCode? {
            do {
                _ = try check.accepted(PushMessage(body: Array(body.utf8)), as: format, id: NotificationID())
                return nil
            } catch { return (error as? ServiceError)?.code }
        }
        #expect(code(.native(.wns), "<toast/>") == nil)
        #expect(code(.native(.fcmv1), #"{"message":{"data":{"a":"b"}}}"#) == nil)
        #expect(code(.native(.gcm), #"{"data":{"a":"b"}}"#) == nil)
        #expect(code(.native(.fcmv1), #"{"message":{"token":"t"}}"#) == .invalidField)
        #expect(code(.native(.gcm), #"{"to":"t"}"#) == .invalidField)
        #expect(code(.native(.fcmv1), "<toast/>") == .malformedJSON)
        #expect(code(.native(.gcm), "") == .invalidField)
        let large = String(repeating: "x", count: 65_537)
        #expect(code(.native(.gcm), large) == .payloadTooLarge)
        #expect(code(.template, large) == .payloadTooLarge)
        for change: (inout PushMessage) -> Void in [
            { $0.pushType = "nonsense" }, { $0.priority = 7 }, { $0.collapseID = "a\nb" }, { $0.topic = "a b" },
        ] {
            var message = PushMessage(body: Array("{}".utf8))
            change(&message)
            #expect(throws: ServiceError.self) { try check.accepted(message, as: .template, id: NotificationID()) }
        }
        var said = PushMessage(body: Array("{}".utf8), pushType: "alert", priority: 5, collapseID: "c")
        let kept = try check.accepted(said, as: .template, id: NotificationID())
        #expect(kept.pushType == "alert")
        #expect(kept.priority == 5)
        #expect(kept.collapseID == "c")
        said.pushType = "background"
        #expect(try check.accepted(said, as: .template, id: NotificationID()).pushType == "background")
        #expect(code(.template, #"{"a":"b","n":1,"t":true,"z":null}"#) == nil && code(.template, "{}") == nil)
        for body in ["", "[]", #"{"a":{}}"#, #"{"a":"b""#, #"{"a":"b","A":"c"}"#] {
            #expect(code(.template, body) == .malformedJSON)
        }
        #expect(code(.native(.apns), "<toast/>") == .malformedJSON)
    }

    @Test("format and handles are part of a command's digest; the usual ones leave it as it was")
    func digests() throws {
        let message = PushMessage(body: [1])
        let handles = ["AB", "CD"].map(DeviceToken.init(canonical:))
        let commands = [
            SendCommand(message: message, audience: nil), SendCommand(message: message, format: .template, recipients: .everyone),
            SendCommand(message: message, format: .native(.gcm), recipients: .everyone),
            SendCommand(message: message, recipients: .handles(handles)),
            SendCommand(message: message, recipients: .handles([handles[0]])),
        ]
        #expect(Set(commands.map(\.digest)).count == commands.count)
        #expect(SendCommand(message: message, recipients: .everyone).digest == commands[0].digest)
    }
}
