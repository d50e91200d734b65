import Foundation
import HTTPTypes
import RichPushModel
import Testing

@testable import FCMAdministration
@testable import FCMEmulation

@Suite("The page of the local FCM")
struct FCMPageTests {
    @Test("everything that the page and its modules name is served, with a policy that forbids what is inline")
    func files() async throws {
        try await AdministeredFCM.run { control in
            let page = try await control.ask(.get, "")
            #expect(page.status == .ok)
            let text = String(buffer: page.body)
            #expect(!text.contains("<style") && !text.contains(" style=") && !text.contains("onclick"))
            #expect(text.matches(of: #/<script(?! type="module" src=)/#).isEmpty)
            var (wanted, seen): ([String], Set<String>) = (
                text.matches(of: #/\/fcm\/assets\/([a-z.]+)/#).map { String($0.1) }, []
            )
            #expect(wanted.count > 3)
            while let name = wanted.popLast() {
                guard seen.insert(name).inserted else { continue }
                let file = try await control.ask(.get, "/assets/\(name)")
                #expect(file.status == .ok, "\(name)")
                let policy = try #require(file.headers[.contentSecurityPolicy])
                #expect(policy.contains("script-src 'self'") && !policy.contains("unsafe"))
                wanted += String(buffer: file.body).matches(of: #/from "\.\/([a-z]+\.js)"/#).map { String($0.1) }
            }
            #expect(seen.isSuperset(of: ["dom.js", "main.js", "phones.js", "parts.css"]))
            #expect(try await control.ask(.get, "/assets/none.js").status == .notFound)
        }
    }

    @Test("the overview names the service account, the projects, and what a phone shows")
    func overview() async throws {
        try await AdministeredFCM.run { control in
            let token = try await control.addPhone()
            control.send(#""token":"\#(token)","notification":{"title":"x"}"#)
            let state = try await control.call(.get, "/state").json
            #expect(state["place"]?["keyPath"] == .text(AdministeredFCM.place.keyPath))
            #expect(state["projects"]?.asList.map { $0["id"] } == [.text("shop")])
            let phone = try #require(state["devices"]?.asList.first)
            #expect(phone["token"] == .text(token))
            #expect(phone["shown"]?.asList.map { $0["notification"]?["title"] } == [.text("x")])
            #expect(phone["events"]?.asList.map { $0["kind"] } == [.text("shown")])
        }
    }

    @Test(
        "a message that waits says why",
        arguments: [
            ("enterDoze", "doze"), ("forceStop", "forceStopped"), ("restart", "locked"), ("goOffline", "offline"),
        ])
    func obstacles(action: String, obstacle: String) async throws {
        try await AdministeredFCM.run { control in
            let token = try await control.addPhone()
            _ = try await control.call(.post, "/devices/phone/actions", #"{"action":"\#(action)"}"#)
            control.send(#""token":"\#(token)","data":{"a":"b"},"android":{"ttl":"60s"}"#)
            let waiting = try await control.call(.get, "/state").json["devices"]?.asList.first?["waiting"]?.asList
            #expect(waiting?.map { $0["obstacle"] } == [.text(obstacle)])
            #expect(waiting?.first?["message"]?["timeToLive"] == .integer(60_000))
            control.clock.advance(by: .seconds(61))
            #expect(try await control.call(.get, "/state").json["devices"]?.asList.first?["waiting"] == .list([]))
        }
    }

    @Test("a page that has seen requests gets the ones after them, with their numbers")
    func cursor() async throws {
        try await AdministeredFCM.run { control in
            for _ in 0..<3 { control.send(#""topic":"news""#) }
            let first = try await control.call(.get, "/state").json
            #expect(first["requests"]?.asList.map { $0["number"] } == [.integer(0), .integer(1), .integer(2)])
            #expect(first["next"] == .integer(3))
            control.send(#""topic":"news""#)
            #expect(try await control.call(.get, "/state?after=3").json["requests"]?.asList.map { $0["number"] } == [.integer(3)])
            _ = try await control.call(.delete, "/requests")
            let forgotten = try await control.call(.get, "/state?after=4").json
            #expect(forgotten["oldest"] == .integer(4))
            #expect(forgotten["next"] == .integer(4))
            #expect(forgotten["run"] == first["run"])
        }
    }

    @Test("an answer is bounded: the newest requests, and the first phones by name")
    func bounds() async throws {
        try await AdministeredFCM.run { control in
            _ = try await control.addPhone("phone-0")
            for number in 100..<170 { _ = try control.fcm.addDevice("phone-\(number)", project: "shop", package: "p") }
            for _ in 0..<220 { control.send(#""topic":"news""#) }
            let state = try await control.call(.get, "/state").json
            #expect(state["requests"]?.asList.count == FCMOverviewDocument.requestLimit)
            #expect(state["requests"]?.asList.last?["number"] == .integer(219))
            let names = state["devices"]?.asList.compactMap { $0["name"]?.asText } ?? []
            #expect(names == ["phone-0"] + (100..<149).map { "phone-\($0)" })
            #expect(state["deviceCount"] == .integer(71))
            let found = try await control.call(.get, "/state?name=-16").json
            #expect(found["deviceCount"] == .integer(10))
        }
    }

    @Test("the quotas that may be named are all that there are")
    func quotas() {
        #expect(Set(Mirror(reflecting: LocalFCMQuotas()).children.compactMap(\.label)) == FCMOverviewDocument.quotas)
    }
}
