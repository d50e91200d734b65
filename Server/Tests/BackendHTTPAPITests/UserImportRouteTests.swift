import AppBackend
import Foundation
import HTTPTypes
import HummingbirdTesting
import RichPushModel
import Testing

@testable import BackendHTTPAPI

@Suite("The route that imports users")
struct UserImportRouteTests {
    private func post(
        _ bench: BackendBench, _ body: String, type: String = "application/x-ndjson", as user: String = "root"
    ) async throws -> TestResponse {
        try await bench.call(
            .post, "/api/v1/user-imports", as: user, headers: [.contentType: type], body: Array(body.utf8))
    }

    private func fates(_ answer: TestResponse) throws -> [UserImportFate] {
        try answer.text.split(separator: "\n").map { try JSONDecoder().decode(UserImportFate.self, from: Data($0.utf8)) }
    }

    @Test("each line is answered by one, in the order of the body, with the number of the line")
    func answers() async throws {
        let bench = try await BackendBench()
        let answer = try await post(
            bench, "{\"name\":\"zoe\",\"tags\":[\"gold\"]}\r\n\n{\"name\":\"bob\",\"role\":\"sender\"}\n{\"name\":\"a b\"}")
        #expect(answer.status == .ok)
        #expect(answer.headers[.contentType] == "application/x-ndjson")
        #expect(answer.headers[.cacheControl] == "no-store")
        let found = try fates(answer)
        #expect(found.map(\.line) == [1, 3, 4])
        #expect(found.map(\.fate) == [.created, .changed, .refused])
        #expect(found.map(\.name) == ["zoe", "bob", "a b"])
        #expect(found.last?.reason?.hasPrefix("name:") == true)
        #expect(try await bench.backend.user("zoe").tags.map(\.text) == ["gold"])
    }

    @Test(
        "a line that is no row is refused with its fault, and its neighbours are stored",
        arguments: [
            ("{\"name\":\"bad\"", "at byte"), ("[]", "the body"), ("{}", "field 'name' is missing"),
            ("{\"name\":\"bad\",\"password\":\"x\"}", "field 'password' is not known"),
            ("{\"name\":\"bad\",\"role\":\"king\"}", "field 'role'"),
            ("{\"name\":\"bad\",\"tags\":[\"a b\"]}", "field 'tags[0]'"),
            ("{\"name\":\"bad\",\"name\":\"good\"}", "at byte"), ("{\"name\":7}", "field 'name': expected a string"),
            ("{\"name\":\"" + String(repeating: "x", count: 9_000) + "\"}", "line:"),
        ])
    func badLine(line: String, reason: String) async throws {
        let bench = try await BackendBench()
        let found = try fates(try await post(bench, "{\"name\":\"first\"}\n\(line)\n{\"name\":\"last\"}\n"))
        #expect(found.map(\.fate) == [.created, .refused, .created])
        #expect(found[1].reason?.hasPrefix(reason) == true, "\(found[1].reason ?? "none")")
        #expect(try await bench.backend.user("last").name.text == "last")
    }

    @Test("an empty body is an import of nothing")
    func empty() async throws {
        let bench = try await BackendBench()
        let answer = try await post(bench, "")
        #expect(answer.status == .ok)
        #expect(answer.text == "")
    }

    @Test("a row beyond 10,000 is 413, and the rows before it are stored")
    func tooMany() async throws {
        let bench = try await BackendBench()
        let body = String(repeating: "{\"name\":\"zoe\"}\n", count: 10_000)
        #expect(try await fates(post(bench, body)).count == 10_000)
        let rows = String(repeating: "{\"name\":\"yan\"}\n", count: 9_999) + "{\"name\":\"last\"}\n"
        let answer = try await post(bench, rows + "{\"name\":\"late\"}\n")
        #expect(answer.status == .contentTooLarge)
        #expect(answer.code == "payload-too-large")
        #expect(try await bench.call(.get, "/api/v1/users/yan", as: "root").status == .ok)
        #expect(try await bench.call(.get, "/api/v1/users/last", as: "root").status == .ok)
        #expect(try await bench.call(.get, "/api/v1/users/late", as: "root").status == .notFound)
    }

    @Test("a body of another media type is 415, and a caller without the right is 403 before anything is read")
    func refusals() async throws {
        let bench = try await BackendBench()
        #expect(try await post(bench, "{\"name\":\"zoe\"}", type: "application/json").status == .unsupportedMediaType)
        #expect(try await post(bench, "{\"name\":\"zoe\"}", as: "sam").status == .forbidden)
        #expect(try await bench.call(.get, "/api/v1/users/zoe", as: "root").status == .notFound)
    }
}
