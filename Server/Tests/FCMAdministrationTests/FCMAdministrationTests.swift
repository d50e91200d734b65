import Foundation
import HTTPTypes
import RichPushModel
import Testing

@testable import FCMEmulation

@Suite("The administration of the local FCM over HTTP")
struct FCMAdministrationTests {
    @Test("projects, keys, devices and their messages")
    func story() async throws {
        try await AdministeredFCM.run { control in
            let project = try await control.call(.put, "/projects/shop", #"{"number":"1234567","apnsKey":false}"#).json
            #expect(project["projectNumber"] == .text("1234567"))
            #expect(control.fcm.projects.first?.settings.hasAPNsKey == false)
            let key = try await control.call(
                .post, "/projects/shop/keys", #"{"tokenUri":"https://oauth2.googleapis.com/token"}"#)
            #expect(key.status == 201)
            #expect(key.json["token_uri"] == .text("https://oauth2.googleapis.com/token"))
            let token = try await control.addPhone()
            #expect(try await control.addPhone() == token)
            control.send(#""token":"\#(token)","notification":{"title":"x"}"#)
            let event = try await control.call(.get, "/devices/phone").json["events"]?.asList.first
            #expect(event?["kind"] == .text("shown"))
            let id = try #require(event?["message"]?["id"]?.asText)
            #expect(try await control.call(.get, "/deliveries").json.asList.first?["messageID"] == .text(id))
            #expect(try await control.call(.get, "/requests").json.asList.first?["messageID"] == .text(id))
            let tap = #"{"action":"tap","messageId":"\#(id)"}"#
            let tapped = try await control.call(.post, "/devices/phone/actions", tap).json
            #expect(tapped["events"]?.asList.map { $0["kind"] } == [.text("shown"), .text("opened")])
            let renewed = try await control.call(.post, "/devices/phone/actions", #"{"action":"renewToken"}"#).json
            #expect(renewed["token"] != .text(token))
            #expect(renewed["events"]?.asList.last?["token"] == renewed["token"])
            #expect(try await control.call(.delete, "/requests").status == 204)
            #expect(try await control.call(.get, "/requests").json == .list([]))
        }
    }

    @Test("a device has a name of any characters but slashes, which the path escapes")
    func anyName() async throws {
        try await AdministeredFCM.run { control in
            _ = try await control.addPhone("Pixel%209%3F%C3%BC")
            #expect(control.fcm.device("Pixel 9?ü") != nil)
            #expect(try await control.call(.get, "/devices/Pixel%209%3F%C3%BC").json["name"] == .text("Pixel 9?ü"))
        }
    }

    @Test(
        "every kind of fault can be planned",
        arguments: [
            (#""kind":"tooManyRequests","seconds":7"#, FCMFault.tooManyRequests(.seconds(7))),
            (#""kind":"unavailable","seconds":7,"date":true"#, .unavailable(.date(inSeconds: 7))),
            (#""kind":"tooManyRequests""#, .tooManyRequests(nil)), (#""kind":"serverError""#, .serverError),
            (#""kind":"badGateway""#, .badGateway), (#""kind":"refusal","rule":"senderID""#, .refusal(.senderID)),
            (#""kind":"delay","milliseconds":5"#, .delay(milliseconds: 5)), (#""kind":"goAway""#, .goAway(processed: false)),
            (#""kind":"goAway","processed":true"#, .goAway(processed: true)), (#""kind":"resetStream""#, .resetStream),
            (#""kind":"stall""#, .stall), (#""kind":"halfAnswer""#, .halfAnswer), (#""kind":"loseAnswer""#, .loseAnswer),
            (#""kind":"revokeTokens""#, .revokeTokens),
        ])
    func faults(members: String, fault: FCMFault) async throws {
        try await AdministeredFCM.run { (control) async throws in
            let body = #"{"endpoint":"topics","times":2,"after":3,\#(members)}"#
            #expect(try await control.call(.post, "/faults", body).status == 204)
            let planned = FCMPlannedFault(fault: fault, endpoint: .topics, every: nil, left: 2, skipped: 3)
            #expect(control.fcm.plannedFaults == [planned])
            #expect(try await control.call(.delete, "/faults").status == 204)
            #expect(control.fcm.waitingFaults == 0)
        }
    }

    @Test("quotas are changed one by one, and rules can be read")
    func quotas() async throws {
        try await AdministeredFCM.run { control in
            let changed = try await control.call(.patch, "/quotas", #"{"devicePerMinute":7,"silentHighPriority":3}"#).json
            #expect(changed["devicePerMinute"] == .integer(7))
            #expect(changed["devicePerHour"] == .integer(5_000))
            #expect(control.fcm.quotas.silentHighPriority == 3)
            #expect(try await control.call(.get, "/quotas").json == changed)
            #expect(try await control.call(.get, "/rules").json.asList.count == FCMRule.allCases.count)
        }
    }

    @Test(
        "access tokens are revoked, or expire",
        arguments: [("revoke", FCMRule.credentialNotRevoked), ("expire", .credentialFresh)])
    func accessTokens(action: String, rule: FCMRule) async throws {
        try await AdministeredFCM.run { control in
            let token = try await control.addPhone()
            let bearer = control.issueAccessToken()
            #expect(control.send(#""token":"\#(token)""#, bearer: bearer) == 200)
            let body = #"{"action":"\#(action)"}"#
            #expect(try await control.call(.post, "/projects/shop/access-tokens", body).status == 204)
            #expect(control.send(#""token":"\#(token)""#, bearer: bearer) == 401)
            #expect(control.fcm.recorder.exchanges.last?.brokenRule == rule)
        }
    }

    @Test(
        "what is wrong is said, and nothing is changed",
        arguments: [
            ("GET", "/nothing", nil, 404), ("PUT", "/projects/X", "{}", 400), ("PUT", "/projects/shop", #"{"numbers":"1"}"#, 400),
            ("PUT", "/projects/shop", "[]", 400), ("POST", "/projects/nowhere/keys", "{}", 404),
            ("POST", "/projects/shop/access-tokens", #"{"action":"lose"}"#, 400), ("GET", "/devices/unknown", nil, 404),
            ("PUT", "/devices/phone", #"{"project":"nowhere","package":"p"}"#, 404),
            ("PUT", "/devices/phone", #"{"project":"nowhere","package":"p","platform":"windows"}"#, 400),
            ("POST", "/devices/phone/actions", #"{"action":"enterDoze"}"#, 404),
            ("POST", "/faults", #"{"kind":"fire"}"#, 400), ("POST", "/faults", #"{"kind":"refusal","rule":"none"}"#, 400),
            ("POST", "/faults", #"{"kind":"stall","endpoint":"moon"}"#, 400), ("POST", "/faults", #"{"kind":"delay"}"#, 400),
            ("POST", "/faults", #"{"kind":"stall","times":0}"#, 400), ("POST", "/faults", #"{"kind":"stall","every":0}"#, 400),
            ("PATCH", "/quotas", #"{"speed":1}"#, 400), ("PATCH", "/quotas", #"{"devicePerMinute":-1}"#, 400),
            ("GET", "/state?before=1", nil, 400), ("GET", "/state?after=-1", nil, 400),
        ] as [(String, String, String?, Int)])
    func refused(method: String, path: String, body: String?, status: Int) async throws {
        try await AdministeredFCM.run { control in
            let wanted = try #require(HTTPRequest.Method(rawValue: method))
            let answer = try await control.call(wanted, path, body)
            #expect(answer.status == status)
            #expect(answer.json["code"]?.asText?.isEmpty == false)
            #expect(control.fcm.keptState.isEmpty)
            #expect(control.fcm.waitingFaults == 0)
        }
    }

    @Test("an action that a phone cannot do is refused with a sentence")
    func impossible() async throws {
        try await AdministeredFCM.run { control in
            _ = try await control.addPhone()
            let cases = [
                (#"{"action":"dance"}"#, 400, "goOffline"), (#"{"action":"tap","messageId":"x"}"#, 404, "shows no such message"),
                (#"{"action":"install"}"#, 400, "is installed"),
            ]
            for (body, status, sentence) in cases {
                let answer = try await control.call(.post, "/devices/phone/actions", body)
                #expect(answer.status == status, "\(body)")
                #expect(answer.json["detail"]?.asText?.contains(sentence) == true, "\(body)")
            }
        }
    }

    @Test("a page of another site and a form are refused")
    func boundaries() async throws {
        try await AdministeredFCM.run { control in
            let stall = #"{"kind":"stall"}"#
            let form = try await control.ask(.post, "/faults", stall, headers: [.contentType: "text/plain"])
            #expect(form.status == .unsupportedMediaType)
            let foreign: HTTPFields = [.contentType: "application/json", .origin: "https://evil.example"]
            #expect(try await control.ask(.post, "/faults", stall, headers: foreign).status == .forbidden)
            #expect(try await control.ask(.get, "/state", headers: foreign).status == .forbidden)
            #expect(control.fcm.waitingFaults == 0)
        }
    }
}
