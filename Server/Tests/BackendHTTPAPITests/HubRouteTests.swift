import AppBackend
import Foundation
import HTTPTypes
import Testing

@testable import BackendHTTPAPI

@Suite("The routes of hubs")
struct HubRouteTests {
    @Test("a key with the scope hubs creates a hub, lists it, rolls a key and removes it; secrets are for no cache")
    func life() async throws {
        let bench = try await BackendBench()
        let headers = try await bench.key("hubs")
        let created = try await bench.json(.post, "/api/v1/hubs", headers: headers, "{\"name\":\"news\"}")
        #expect(created.status == .created)
        #expect(created.headers[.cacheControl] == "no-store")
        let keys = try #require(try created.decoded(ManagedHub.self).rules).compactMap(\.primaryKey)
        #expect(keys.count == 2)
        let rule = "DefaultFullSharedAccessSignature"
        let rolled = try await bench.json(
            .post, "/api/v1/hubs/news/rules/\(rule)/roll", headers: headers, "{\"key\":\"primary\"}")
        #expect(rolled.status == .created)
        #expect(rolled.headers[.cacheControl] == "no-store")
        let new = try #require(try rolled.decoded(ManagedHubRule.self).primaryKey)
        for path in ["hubs", "hubs/news"] {
            let answer = try await bench.call(.get, "/api/v1/\(path)", headers: headers)
            #expect(answer.status == .ok)
            #expect(answer.text.contains("\"name\":\"news\""))
            #expect(!(keys + [new]).contains { answer.text.contains($0) })
        }
        let removed = try await bench.call(.delete, "/api/v1/hubs/news?confirm=news", headers: headers)
        #expect(removed.status == .noContent)
        #expect(try await bench.call(.get, "/api/v1/hubs/news", headers: headers).status == .notFound)
    }

    @Test("a place in the list of hubs that is no name is refused")
    func badPlace() async throws {
        let bench = try await BackendBench()
        let answer = try await bench.call(.get, "/api/v1/hubs?after=a%20b", as: "root")
        #expect(answer.status == .badRequest)
        #expect(answer.code == "invalid-field")
    }

    @Test("a hub is removed only when its name is confirmed", arguments: ["", "?confirm=true", "?confirm=other", "?confirm="])
    func confirmation(query: String) async throws {
        let bench = try await BackendBench()
        _ = try await bench.backend.createHub(HubCreation(name: "news"))
        let answer = try await bench.call(.delete, "/api/v1/hubs/news\(query)", as: "root")
        #expect(answer.status == .badRequest)
        #expect(answer.detail?.contains("confirm") == true)
        #expect(try await bench.call(.get, "/api/v1/hubs/news", as: "root").status == .ok)
    }

    @Test("a roll names one of the two keys")
    func place() async throws {
        let bench = try await BackendBench()
        _ = try await bench.backend.createHub(HubCreation(name: "news"))
        let path = "/api/v1/hubs/news/rules/DefaultListenSharedAccessSignature/roll"
        let answer = try await bench.json(.post, path, as: "root", "{\"key\":\"both\"}")
        #expect(answer.status == .badRequest)
        #expect(answer.detail == "key: primary or secondary")
    }
}
