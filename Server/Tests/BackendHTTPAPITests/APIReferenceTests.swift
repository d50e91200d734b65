import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import PushHub
import ServiceErrors
import Testing

@testable import BackendHTTPAPI
@testable import HTTPService

@Suite("The description that the server shows")
struct APIReferenceTests {
    private func get(_ path: String, headers: HTTPFields = [:]) async throws -> TestResponse {
        let router = ServiceRouter()
        APIReferenceRoute().addRoutes(to: router)
        return try await Application(router: router).test(.router) { client in
            try await client.executeRequest(uri: path, method: .get, headers: headers, body: nil)
        }
    }

    private func description() async throws -> [String: Any] {
        let answer = try await get("/openapi.json")
        let object = try JSONSerialization.jsonObject(with: Data(buffer: answer.body))
        return try #require(object as? [String: Any])
    }

    @Test(
        "is the file of the repository, byte for byte",
        arguments: [("/openapi.yaml", "openapi.yaml"), ("/openapi-hub.yaml", "hub-openapi.yaml")])
    func file(_ path: String, _ name: String) async throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let answer = try await get(path)
        #expect(answer.status == .ok)
        #expect(answer.headers[.contentType] == "application/yaml")
        #expect(try Data(buffer: answer.body) == Data(contentsOf: root.appending(path: "Documentation/\(name)")))
    }

    @Test("has the same operations as JSON")
    func json() async throws {
        let paths = try #require(try await description()["paths"] as? [String: [String: Any]])
        let described = paths.flatMap { path, methods in
            methods.keys.filter { $0 != "parameters" }.compactMap { HTTPRequest.Method($0.uppercased()) }.map {
                RouteDescriptionTests.Route(method: $0, path: path)
            }
        }
        #expect(Set(described) == RouteDescriptionTests.registered(in: try await BackendBench().table))
    }

    @Test("keeps texts, numbers and flags apart as JSON")
    func kinds() async throws {
        let description = try await description()
        #expect((description["info"] as? [String: Any])?["version"] as? String == "1")
        let components = try #require(description["components"] as? [String: [String: Any]])
        let schemas = try #require(components["schemas"] as? [String: [String: Any]])
        #expect(schemas["NewServiceKey"]?["additionalProperties"] as? Bool == false)
        #expect(schemas["Tag"]?["maxLength"] as? Int == 120)
        let style = (schemas["SendRequest"]?["properties"] as? [String: [String: Any]])?["style"]
        #expect((style?["enum"] as? [Any])?.contains { $0 is NSNull } == true)
    }

    @Test("names the codes of every error")
    func codes() async throws {
        let components = try #require(try await description()["components"] as? [String: [String: Any]])
        let schemas = try #require(components["schemas"] as? [String: [String: Any]])
        let code = (schemas["Problem"]?["properties"] as? [String: [String: Any]])?["code"]
        #expect(Set(code?["enum"] as? [String] ?? []) == Set(ServiceErrorCode.allCases.map(\.rawValue)))
    }

    @Test("says for each operation what every operation may answer, with Retry-After where a repeat helps")
    func statuses() async throws {
        let description = try await description()
        let paths = try #require(description["paths"] as? [String: [String: Any]])
        for (path, methods) in paths {
            for (method, operation) in methods where method != "parameters" {
                let operation = operation as? [String: Any] ?? [:]
                var expected: Set = ["400", "401", "403", "429", "431", "500", "503"]
                // No credential is looked at there.
                if (operation["security"] as? [Any])?.isEmpty == true { expected.subtract(["401", "429"]) }
                if operation["requestBody"] != nil { expected.formUnion(["408", "413", "415"]) }
                let answers = Set((operation["responses"] as? [String: Any] ?? [:]).keys)
                #expect(expected.subtracting(answers).isEmpty, "\(method) \(path)")
            }
        }
        let components = try #require(description["components"] as? [String: [String: Any]])
        let responses = try #require(components["responses"] as? [String: [String: Any]])
        for name in ["RequestTimeout", "TooManyRequests", "Unavailable"] {
            #expect((responses[name]?["headers"] as? [String: Any])?["Retry-After"] != nil, "\(name)")
        }
    }

    @Test("names every outcome of a send, and which of them a device without its push can have")
    func outcomes() async throws {
        let components = try #require(try await description()["components"] as? [String: [String: Any]])
        let schemas = try #require(components["schemas"] as? [String: [String: Any]])
        let properties = try #require(schemas["SendStatus"]?["properties"] as? [String: [String: Any]])
        let names = (properties["outcomes"]?["propertyNames"] as? [String: Any])?["enum"] as? [String]
        #expect(names == TargetOutcome.allCases.map(\.rawValue))
        let failed = TargetOutcome.allCases.filter(\.isFailure).map(\.rawValue)
        #expect(schemas["FailedOutcome"]?["enum"] as? [String] == failed)
    }

    @Test("has a page that loads nothing from elsewhere, and that no other page frames")
    func page() async throws {
        for (path, type) in [
            ("/docs/api", "text/html; charset=utf-8"), ("/docs/api/hub", "text/html; charset=utf-8"),
            ("/docs/api/api.css", "text/css; charset=utf-8"), ("/docs/api/api.js", "text/javascript; charset=utf-8"),
        ] {
            let answer = try await get(path)
            #expect(answer.status == .ok, "\(path)")
            #expect(answer.headers[.contentType] == type)
            #expect(
                answer.headers[.contentSecurityPolicy]
                    == "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
                    + "form-action 'none'; frame-ancestors 'none'")
            #expect(answer.headers[.xContentTypeOptions] == "nosniff")
            #expect(!String(buffer: answer.body).contains("://"), "\(path)")
        }
    }

    @Test(
        "is not sent again to a browser that has it",
        arguments: ["/openapi.yaml", "/openapi.json", "/openapi-hub.yaml", "/openapi-hub.json", "/docs/api", "/docs/api/hub"])
    func unchanged(_ path: String) async throws {
        let tag = try #require(try await get(path).headers[.eTag])
        let again = try await get(path, headers: [.ifNoneMatch: tag])
        #expect(again.status == .notModified)
        #expect(again.body.readableBytes == 0)
        #expect(again.headers[.eTag] == tag)
    }
}
