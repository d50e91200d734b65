import ClarionTesting
import Foundation
import HTTPTypes
import HummingbirdTesting
import RichPushModel
import Testing

@testable import BackendHTTPAPI

@Suite("A storm", .timeLimit(.minutes(10)))
struct FetchStormTests {
    private func basic(_ pair: String) -> HTTPFields { [.authorization: "Basic " + Data(pair.utf8).base64EncodedString()] }

    @Test("of cold sign-ins is answered 503 with Retry-After, while phones fetch, a send leaves and the node is well")
    func coldSignIns() async throws {
        let bench = try await BackendBench()
        let phone = try await bench.signIn("phone-1", as: "ann")
        let picture = Fixtures.png(name: "storm")
        let uri = "/api/v1/notifications/" + (try await bench.sendPicture(picture, as: "sam", audience: "username:ann"))
        let blocked = await BlockedHashing(bench.hasher, threads: 1)
        let count = 200
        // Callers inside a test have no address, so they count as one network and have half of the queue.
        let room = bench.hasher.capacity / 2
        try await withThrowingTaskGroup(of: TestResponse.self) { group in
            for number in 0..<count {
                group.addTask { try await bench.call(.get, uri, headers: basic("nobody\(number):password")) }
            }
            for _ in 0..<(count - room) {
                let refused = try #require(try await group.next())
                #expect(refused.status == .serviceUnavailable)
                #expect(refused.code == "overloaded")
                #expect(refused.headers[.retryAfter].flatMap { Int($0) } ?? 0 >= 1)
            }
            #expect(bench.admission.underWay == room)
            #expect(try await bench.call(.get, uri, headers: phone).bytes == picture)
            #expect(try await bench.call(.get, "/livez").status == .ok)
            #expect(try await bench.call(.get, "/readyz").status == .ok)
            #expect(try await bench.json(.post, "/api/v1/notifications", as: "sam", #"{"message":"m"}"#).status == .created)
            #expect(try await bench.json(.patch, uri, headers: phone, #"{"read":true}"#).status == .noContent)
            blocked.release()
            for _ in 0..<room { #expect(try await group.next()?.status == .unauthorized) }
        }
        #expect(bench.admission.underWay == 0)
    }

    @Test("of one user is answered 429 beyond a quarter of the limit, and affects no other user")
    func oneUser() async throws {
        let bench = try await BackendBench(requestLimit: 16)
        let uri = "/api/v1/notifications/" + (try await bench.sendPicture(Fixtures.large(name: "a"), as: "ann"))
        bench.contents.opening.close()
        try await withThrowingTaskGroup(of: TestResponse.self) { group in
            for _ in 0..<4 { group.addTask { try await bench.call(.get, uri, as: "ann") } }
            await bench.contents.opening.holds(4)
            for path in [uri, "/api/v1/me", "/api/v1/notifications"] {
                let answer = try await bench.call(.get, path, as: "ann")
                #expect(answer.status == .tooManyRequests)
                #expect(answer.code == "too-many-requests")
                #expect((1...4).contains(answer.headers[.retryAfter].flatMap { Int($0) } ?? 0))
            }
            for user in ["bob", "sam", "root"] { #expect(try await bench.call(.get, "/api/v1/me", as: user).status == .ok) }
            bench.contents.opening.open()
            for try await answer in group { #expect(answer.status == .ok) }
        }
        #expect(try await bench.call(.get, uri, as: "ann").status == .ok)
    }

    @Test("of all users is answered 503 beyond the limit, before a credential is verified; health is not counted")
    func everybody() async throws {
        let bench = try await BackendBench(requestLimit: 16)
        var uris: [String: String] = [:]
        for user in ["ann", "bob", "sam", "root"] {
            uris[user] = "/api/v1/notifications/" + (try await bench.sendPicture(Fixtures.large(name: user), as: user))
        }
        bench.contents.opening.close()
        try await withThrowingTaskGroup(of: TestResponse.self) { group in
            for (user, uri) in uris { for _ in 0..<4 { group.addTask { try await bench.call(.get, uri, as: user) } } }
            await bench.contents.opening.holds(16)
            for header in [HTTPFields(), basic("ann:wrong"), basic("ann:\(BackendBench.password(of: "ann"))")] {
                let answer = try await bench.call(.get, "/api/v1/me", headers: header)
                #expect(answer.status == .serviceUnavailable)
                #expect(answer.headers[.retryAfter] != nil)
            }
            #expect(try await bench.call(.get, "/livez").status == .ok)
            bench.contents.opening.open()
            for try await answer in group { #expect(answer.status == .ok) }
        }
        #expect(try await bench.call(.get, "/api/v1/me", as: "ann").status == .ok)
        #expect(bench.admission.underWay == 0)
    }

    @Test("leaves no place taken, however a request ends")
    func places() async throws {
        let bench = try await BackendBench(requestLimit: 4)
        for _ in 0..<5 {
            #expect(try await bench.call(.get, "/api/v1/me").status == .unauthorized)
            #expect(try await bench.call(.get, "/api/v1/notifications/7", as: "ann").status == .notFound)
            #expect(try await bench.call(.get, "/api/v1/notifications?limit=x", as: "ann").status == .badRequest)
            #expect(try await bench.call(.get, "/api/v1/notifications/7?ticket=x").status == .notFound)
            #expect(try await bench.call(.get, "/api/v1/me", as: "ann").status == .ok)
        }
        #expect(bench.admission.underWay == 0)
    }
}
