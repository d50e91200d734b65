import AppBackend
import Foundation
import HTTPTypes
import RichPushModel
import Testing

@testable import BackendHTTPAPI

@Suite("The routes of users, keys and the audit")
struct ManagementRouteTests {
    private struct User: Decodable {
        var name: String
        var role: String
        var tags: [String]
        var disabledAt: Int64?
    }

    private struct Page: Decodable {
        var users: [User]
        var next: String?
    }

    @Test("a user who is created over HTTP signs in, with role and tags, and a second of the name is a conflict")
    func createUser() async throws {
        let bench = try await BackendBench()
        let body =
            "{\"name\":\"zoe\",\"password\":\"\(BackendBench.password(of: "zoe"))\",\"role\":\"sender\",\"tags\":[\"team:red\"]}"
        let answer = try await bench.json(.post, "/api/v1/users", as: "root", body)
        #expect(answer.status == .created)
        let user = try answer.decoded(User.self)
        #expect(user.name == "zoe")
        #expect(user.role == "sender")
        #expect(user.tags == ["team:red"])
        #expect(user.disabledAt == nil)
        #expect(!answer.text.contains("keeps-a-password"))
        #expect(try await bench.call(.get, "/api/v1/me", as: "zoe").status == .ok)
        let again = try await bench.json(.post, "/api/v1/users", as: "root", body)
        #expect(again.status == .conflict)
    }

    @Test("the quiet hours of a user are set and removed over HTTP")
    func quietHours() async throws {
        var settings = BackendSettings()
        settings.userQuietHours = true
        let bench = try await BackendBench(settings: settings)
        func set(_ hours: String) async throws -> String {
            try await bench.json(.patch, "/api/v1/users/ann", as: "root", "{\"quietHours\":\"\(hours)\"}").text
        }
        #expect(try await set("22:00-07:30").contains("\"quietHours\":\"22:00-07:30\""))
        #expect(try await set("22:10-07:30").contains("invalid-field"))
        #expect(try await bench.call(.get, "/api/v1/users/ann", as: "eve").text.contains("22:00-07:30"))
        #expect(try await !set("none").contains("quietHours"))
    }

    @Test("the workload counts all parts that are due, and names the nodes, for administrators and auditors")
    func workload() async throws {
        let bench = try await BackendBench()
        for name in ["root", "eve"] {
            let answer = try await bench.call(.get, "/api/v1/workload", as: name)
            let workload = try answer.decoded(Workload.self)
            #expect(workload.due == 3 && workload.underWay == 5 && workload.waiting == 4)
            #expect(workload.oldestDueAt == bench.clock.now && workload.nodes?.map(\.name) == ["a"])
        }
        #expect(try await bench.call(.get, "/api/v1/workload", as: "sam").status == .forbidden)
    }

    @Test(
        "a body that cannot be is refused, with the name of the field",
        arguments: [
            ("{\"name\":\"@shop\"}", "name:"), ("{\"name\":\"a b\"}", "name:"),
            ("{\"name\":\"zoe\",\"role\":\"service\"}", "role:"),
            ("{\"name\":\"zoe\",\"tags\":[\"username:bob\"]}", "tags:"),
        ])
    func refusedUser(body: String, field: String) async throws {
        let bench = try await BackendBench()
        let answer = try await bench.json(.post, "/api/v1/users", as: "root", body)
        #expect(answer.status == .badRequest)
        #expect(answer.code == "invalid-field")
        #expect(answer.detail?.hasPrefix(field) == true, "\(answer.text)")
    }

    @Test("a last page of users that is full has no next one")
    func fullLastPage() async throws {
        let bench = try await BackendBench()
        let all = try await bench.call(.get, "/api/v1/users", as: "eve").decoded(Page.self).users.map(\.name)
        let page = try await bench.call(.get, "/api/v1/users?limit=\(all.count)", as: "eve").decoded(Page.self)
        #expect(page.users.map(\.name) == all)
        #expect(page.next == nil)
        let shorter = try await bench.call(.get, "/api/v1/users?limit=\(all.count - 1)", as: "eve").decoded(Page.self)
        #expect(shorter.next == all.dropLast().last)
    }

    @Test("users are listed in pages, and one is found by name")
    func listUsers() async throws {
        let bench = try await BackendBench()
        let first = try await bench.call(.get, "/api/v1/users?limit=3", as: "eve").decoded(Page.self)
        #expect(first.users.map(\.name) == ["ann", "bob", "eve"])
        let second = try await bench.call(.get, "/api/v1/users?limit=3&after=\(first.next ?? "")", as: "eve").decoded(Page.self)
        #expect(second.users.map(\.name) == ["root", "sam"])
        #expect(second.next == nil)
        #expect(try await bench.call(.get, "/api/v1/users/SAM", as: "eve").decoded(User.self).role == "sender")
        #expect(try await bench.call(.get, "/api/v1/users/zoe", as: "eve").status == .notFound)
    }

    @Test("a change of a user says what is so now, and what is absent stays")
    func changeUser() async throws {
        let bench = try await BackendBench()
        let answer = try await bench.json(.patch, "/api/v1/users/bob", as: "root", "{\"disabled\":true,\"tags\":[\"gold\"]}")
        #expect(answer.status == .ok)
        let user = try answer.decoded(User.self)
        #expect(user.role == "user")
        #expect(user.tags == ["gold"])
        #expect(user.disabledAt != nil)
        #expect(try await bench.call(.get, "/api/v1/me", as: "bob").status == .unauthorized)
    }

    @Test(
        "a change of which one part is wrong changes nothing",
        arguments: ["\"password\":\"bob\"", "\"tags\":[\"username:ann\"]", "\"tags\":[\"a b\"]", "\"color\":1"])
    func wrongChange(part: String) async throws {
        let bench = try await BackendBench()
        let before = try await bench.call(.get, "/api/v1/users/bob", as: "root").decoded(User.self)
        let body = "{\"role\":\"admin\",\"disabled\":true,\(part)}"
        #expect(try await bench.json(.patch, "/api/v1/users/bob", as: "root", body).status == .badRequest)
        let after = try await bench.call(.get, "/api/v1/users/bob", as: "root").decoded(User.self)
        #expect(after.role == before.role)
        #expect(after.disabledAt == nil)
    }

    @Test("a change of every field at once makes each of them, and the new password signs in")
    func changeEverything() async throws {
        let bench = try await BackendBench()
        for isDisabled in [true, false] {
            let body =
                "{\"disabled\":\(isDisabled),\"role\":\"sender\",\"password\":\"another long password\",\"tags\":[\"gold\"]}"
            #expect(try await bench.json(.patch, "/api/v1/users/bob", as: "root", body).status == .ok)
        }
        try await bench.sealAudit()
        let found = try await bench.call(.get, "/api/v1/audit?action=user.changed&subject=bob", as: "eve")
        let changes = Set(try found.decoded(AuditPage.self).entries.compactMap(\.details))
        #expect(changes == ["disabled=true", "disabled=false", "role=sender", "password=changed", "tags=gold"])
        let own = BackendBench.basic("bob", password: "another long password")
        #expect(try await bench.call(.get, "/api/v1/me", headers: own).status == .ok)
    }

    @Test("sessions that are ended over HTTP leave no credential")
    func endSessions() async throws {
        let bench = try await BackendBench()
        let phone = try await bench.signIn("phone", as: "ann")
        #expect(try await bench.call(.delete, "/api/v1/users/ann/sessions", as: "root").status == .noContent)
        #expect(try await bench.call(.get, "/api/v1/me", headers: phone).status == .unauthorized)
        #expect(try await bench.call(.get, "/api/v1/me", as: "ann").status == .ok)
    }

    @Test("an export is lines of JSON that no cache keeps, and a user who is not there is not found")
    func export() async throws {
        let bench = try await BackendBench()
        let answer = try await bench.call(.get, "/api/v1/users/ann/export", as: "root")
        #expect(answer.status == .ok)
        #expect(answer.headers[.contentType] == "application/x-ndjson")
        #expect(answer.headers[.cacheControl] == "no-store")
        let lines = answer.text.split(separator: "\n")
        #expect(!lines.isEmpty)
        for line in lines { #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) } }
        #expect(try await bench.call(.get, "/api/v1/users/zoe/export", as: "root").status == .notFound)
    }

    @Test("an export that the caller may not have is refused with an error answer, before the first line")
    func exportAbove() async throws {
        let bench = try await BackendBench()
        let key = try await bench.key("users")
        for (name, status) in [("root", HTTPResponse.Status.forbidden), ("ann", .ok)] {
            #expect(try await bench.call(.get, "/api/v1/users/\(name)/export", headers: key).status == status)
        }
    }

    @Test("a user who is removed or erased is gone", arguments: ["", "?erase=false", "?erase=true"])
    func removeUser(query: String) async throws {
        let bench = try await BackendBench()
        #expect(try await bench.call(.delete, "/api/v1/users/bob\(query)", as: "root").status == .noContent)
        #expect(try await bench.call(.get, "/api/v1/users/bob", as: "root").status == .notFound)
        #expect(try await bench.call(.delete, "/api/v1/users/bob\(query)", as: "root").status == .notFound)
    }

    @Test("the account of a key is not removed over HTTP", arguments: ["", "?erase=true"])
    func removeAccount(query: String) async throws {
        let bench = try await BackendBench()
        let key = try await bench.key("send")
        #expect(try await bench.call(.delete, "/api/v1/users/@send\(query)", as: "root").status == .conflict)
        #expect(try await bench.call(.get, "/api/v1/me", headers: key).status == .ok)
    }

    @Test("the secret of a key is in one answer, which no cache keeps, and in no list")
    func createKey() async throws {
        let bench = try await BackendBench()
        let answer = try await bench.json(.post, "/api/v1/keys", as: "root", "{\"name\":\"shop\",\"scopes\":[\"send\"]}")
        #expect(answer.status == .created)
        #expect(answer.headers[.cacheControl] == "no-store")
        let secret = try #require(try answer.decoded(ServiceKeyAnswer.self).key)
        let list = try await bench.call(.get, "/api/v1/keys", as: "root")
        #expect(try list.decoded(ServiceKeyList.self).keys.map(\.name) == ["shop"])
        #expect(!list.text.contains(secret))
        let me = try await bench.call(.get, "/api/v1/me", headers: [.authorization: "Bearer \(secret)"])
        #expect(me.text.contains("\"user\":\"@shop\""))
    }

    @Test("a key sends over HTTP, and its request without a body is refused, since it names no audience")
    func sendWithKey() async throws {
        let bench = try await BackendBench()
        let key = try await bench.key("send")
        let sent = try await bench.json(
            .post, "/api/v1/notifications", headers: key, "{\"message\":\"hello\",\"audience\":\"news\"}")
        #expect(sent.status == .created)
        let button = try await bench.call(.post, "/api/v1/notifications", headers: key)
        #expect(button.code == "invalid-audience")
    }

    @Test("a key is rolled and revoked over HTTP")
    func rollAndRevoke() async throws {
        let bench = try await BackendBench()
        _ = try await bench.key("send")
        let rolled = try await bench.json(.post, "/api/v1/keys/1/roll", as: "root", "{\"overlapSeconds\":0}")
        #expect(rolled.status == .created)
        #expect(rolled.headers[.cacheControl] == "no-store")
        let new = try rolled.decoded(ServiceKeyAnswer.self)
        #expect(try await bench.call(.delete, "/api/v1/keys/\(new.id)", as: "root").status == .noContent)
        let me = try await bench.call(.get, "/api/v1/me", headers: [.authorization: "Bearer \(new.key ?? "")"])
        #expect(me.status == .unauthorized)
        #expect(try await bench.call(.delete, "/api/v1/keys/\(new.id)", as: "root").status == .notFound)
    }

    @Test("a key of which the minute's requests are used up gets 429 with a wait")
    func limit() async throws {
        let bench = try await BackendBench()
        let body = "{\"name\":\"shop\",\"scopes\":[\"send\"],\"requestsPerMinute\":1}"
        let key = try await bench.json(.post, "/api/v1/keys", as: "root", body).decoded(ServiceKeyAnswer.self).key ?? ""
        let headers: HTTPFields = [.authorization: "Bearer \(key)"]
        #expect(try await bench.call(.get, "/api/v1/me", headers: headers).status == .ok)
        let refused = try await bench.call(.get, "/api/v1/me", headers: headers)
        #expect(refused.status == .tooManyRequests)
        #expect(refused.headers[.retryAfter] == "60")
    }

    @Test("each answer to a key with a limit says what is left of it, errors and refusals included")
    func remaining() async throws {
        let bench = try await BackendBench()
        let request = ServiceKeyRequest(name: "shop", scopes: ["send"], requestsPerMinute: 3)
        let headers: HTTPFields = [.authorization: "Bearer \(try await bench.backend.createKey(request).key ?? "")"]
        var left: [String?] = []
        for (path, status) in [("me", 200), ("users", 403), ("notifications/1", 403), ("me", 429)] {
            let answer = try await bench.call(.get, "/api/v1/\(path)", headers: headers)
            #expect(answer.status.code == status, "\(path)")
            #expect(answer.headers[.rateLimitPolicy] == "\"key\";q=3;w=60", "\(path)")
            left.append(answer.headers[.rateLimit])
        }
        #expect(left == [2, 1, 0, 0].map { "\"key\";r=\($0);t=20" })
        let others = [BackendBench.basic("ann"), try await bench.key("status"), [:]]
        for headers in others {
            let answer = try await bench.call(.get, "/api/v1/me", headers: headers)
            #expect(answer.headers[.rateLimit] == nil)
            #expect(answer.headers[.rateLimitPolicy] == nil)
        }
    }

    @Test("the audit is read over HTTP by filters; an unknown action is refused with the list")
    func audit() async throws {
        let bench = try await BackendBench()
        _ = try await bench.json(.patch, "/api/v1/users/bob", as: "root", "{\"role\":\"sender\"}")
        try await bench.sealAudit()
        let found = try await bench.call(.get, "/api/v1/audit?action=user.changed&actor=ROOT&subject=bob", as: "eve")
        let entries = try found.decoded(AuditPage.self).entries
        #expect(entries.map(\.details) == ["role=sender"])
        #expect(entries.map(\.actorKind) == ["user"])
        let unknown = try await bench.call(.get, "/api/v1/audit?action=user.eaten", as: "eve")
        #expect(unknown.code == "invalid-field")
        #expect(unknown.detail?.contains("user.changed") == true)
    }

    @Test("the audit is read as lines, all entries or the newest")
    func auditLines() async throws {
        let bench = try await BackendBench()
        for role in ["sender", "admin", "user"] {
            _ = try await bench.json(.patch, "/api/v1/users/bob", as: "root", "{\"role\":\"\(role)\"}")
        }
        try await bench.sealAudit()
        func lines(_ query: String) async throws -> [String] {
            let uri = "/api/v1/audit?action=user.changed\(query)"
            let answer = try await bench.call(.get, uri, as: "eve", headers: [.accept: "application/x-ndjson"])
            #expect(answer.headers[.contentType] == "application/x-ndjson")
            return try answer.text.split(separator: "\n").map {
                try JSONDecoder().decode(AuditAnswer.self, from: Data($0.utf8)).details ?? ""
            }
        }
        #expect(try await lines("").sorted() == ["role=admin", "role=sender", "role=user"])
        #expect(try await lines("&limit=1").count == 1)
    }

    @Test("the audit has who read it, and whom it was refused to")
    func auditOfTheAudit() async throws {
        let bench = try await BackendBench()
        #expect(try await bench.call(.get, "/api/v1/audit?actor=bob&limit=9", as: "eve").status == .ok)
        #expect(try await bench.call(.get, "/api/v1/audit", as: "ann").status == .forbidden)
        try await bench.sealAudit()
        let read = try await bench.call(.get, "/api/v1/audit?action=audit.read", as: "root").decoded(AuditPage.self).entries
        #expect(read.map(\.details) == ["limit=9 by=actor"])
        #expect(read.first?.actor?.hasPrefix("eve ") == true)
        let refused = try await bench.call(.get, "/api/v1/audit?action=access.refused", as: "root")
            .decoded(AuditPage.self).entries
        #expect(refused.map(\.details) == ["reason=forbidden operation=read-the-audit"])
        #expect(refused.first?.actor?.hasPrefix("ann ") == true)
    }
}
