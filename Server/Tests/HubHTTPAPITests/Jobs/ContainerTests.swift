import HTTPTypes
import HubProtocol
import PushHub
import RichPushModel
import SQLStorage
import Testing

@Suite("Containers of this node")
struct ContainerTests {
    @Test("files go in, are listed, come out whole and in parts, and go")
    func files() async throws {
        let bench = try await JobBench()
        let container = try await bench.makeContainer()
        for name in ["b.txt", "a/1.txt", "a/2.txt"] {
            #expect(
                try await bench.call(.put, JobBench.target(container, name), "text of \(name)", as: .nobody).status == .created)
        }
        func list(_ query: String) async throws -> ContainerListing {
            let answer = try await bench.call(
                .get, JobBench.target(container, nil, "&restype=container&comp=list\(query)"), as: .nobody)
            #expect(answer.status == .ok && answer.headers[.contentType] == "application/xml; charset=utf-8")
            return try ContainerListing.read(Array(answer.body.readableBytesView))
        }
        #expect(try await list("").blobs.map(\.name) == ["a/1.txt", "a/2.txt", "b.txt"])
        #expect(try await list("&prefix=a%2F").blobs.map(\.name) == ["a/1.txt", "a/2.txt"])
        let page = try await list("&maxresults=2")
        #expect(page.blobs.map(\.size) == [15, 15] && page.nextMarker == "a/2.txt")
        #expect(try await list("&marker=a/2.txt").blobs.map(\.name) == ["b.txt"])
        let whole = try await bench.call(.get, JobBench.target(container, "b.txt"), as: .nobody)
        #expect(String(buffer: whole.body) == "text of b.txt")
        #expect(whole.headers[.contentType] == "application/octet-stream")
        #expect(whole.headers[.contentDisposition]?.hasPrefix("attachment") == true)
        for name in [HTTPField.Name.range, HTTPField.Name("x-ms-range")!] {
            let part = try await bench.call(.get, JobBench.target(container, "b.txt"), as: .nobody, headers: [name: "bytes=5-6"])
            #expect(part.status == .partialContent && String(buffer: part.body) == "of")
        }
        #expect(try await bench.call(.delete, JobBench.target(container, "b.txt"), as: .nobody).status == .accepted)
        #expect(try await bench.call(.delete, JobBench.target(container, "b.txt"), as: .nobody).status == .notFound)
        #expect(try await bench.call(.get, JobBench.target(container, "b.txt"), as: .nobody).status == .notFound)
    }

    @Test("without the link, with another one, or for more than it allows, there is nothing")
    func links() async throws {
        let bench = try await JobBench()
        let (mine, yours) = (try await bench.makeContainer(), try await bench.makeContainer("other"))
        _ = try await bench.call(.put, JobBench.target(mine, "a"), "x", as: .nobody)
        let path = mine.dropFirst(8).drop { $0 != "/" }.prefix { $0 != "?" }
        let query = yours.drop { $0 != "?" }
        for target in ["\(path)/a", "\(path)/a\(query)", JobBench.target(mine, "a").replacing("se=1", with: "se=2")] {
            for method in [HTTPRequest.Method.get, .put, .delete] {
                #expect(try await bench.call(method, target, as: .nobody).status == .unauthorized)
            }
        }
        // A key of the hub is no link.
        #expect(try await bench.call(.get, "\(path)/a").status == .unauthorized)
        #expect(try await bench.call(.get, "/$containers/unknown/\(ContainerName.random())/a\(query)").status == .unauthorized)
        #expect(try await bench.call(.post, JobBench.target(mine, "a"), as: .nobody).status == .methodNotAllowed)
        #expect(try await bench.call(.put, JobBench.target(mine, "a", "&comp=block"), "x", as: .nobody).status == .badRequest)
        for bad in ["..", "a/../b", "%2e%2e/x", "a%00"] {
            #expect(try await bench.call(.put, JobBench.target(mine, bad), "x", as: .nobody).status == .notFound)
        }
        bench.clock.advance(by: .seconds(7 * 86_400))
        #expect(try await bench.call(.get, JobBench.target(mine, "a"), as: .nobody).status == .unauthorized)
    }

    @Test("the feedback container holds the feedback of dead tokens, each once")
    func feedback() async throws {
        let bench = try await JobBench()
        let notification = NotificationID()
        func note(_ count: Int, from first: Int) async throws {
            try await bench.database.write { connection in
                for number in first..<first + count {
                    try connection.run(
                        SQLStatement(
                            """
                            INSERT INTO feedback (hub_id, platform, handle, record_id, installation_id, notification_id, reason,
                                noted_at)
                            VALUES ($1, 'apns', $2, $3, $4, $5, $6, $7)
                            """),
                        [
                            .integer(bench.hub.id.number), .text("AB\(number)"), .text("r-\(number)"),
                            number.isMultiple(of: 2) ? .text("phone") : .null, .text(notification.text),
                            .text(number.isMultiple(of: 2) ? "gone" : "bad-token"), .integer(bench.clock.now.milliseconds),
                        ])
                }
            }
        }
        func read() async throws -> [PnsFeedback] {
            let answer = try await bench.call(.get, "/demo/feedbackcontainer?api-version=2020-06")
            #expect(answer.status == .ok)
            let link = String(buffer: answer.body)
            let listed = try await bench.call(.get, JobBench.target(link, nil, "&restype=container&comp=list"), as: .nobody)
            var found: [PnsFeedback] = []
            for blob in try ContainerListing.read(Array(listed.body.readableBytesView)).blobs {
                let file = try await bench.call(.get, JobBench.target(link, blob.name), as: .nobody)
                found += try PnsFeedback.read(Array(file.body.readableBytesView))
            }
            let refused = try await bench.call(.put, JobBench.target(link, "mine"), "x", as: .nobody)
            #expect(refused.status == .unauthorized)
            return found
        }
        #expect(try await read().isEmpty)
        try await note(1500, from: 0)
        #expect(try await read().isEmpty, "what was noted just now may have company")
        bench.clock.advance(by: .seconds(6))
        let first = try await read()
        #expect(first.count == 1500)
        #expect(
            first.first
                == PnsFeedback(
                    time: bench.clock.now - .seconds(6), systemError: "ExpiredChannel", platform: "apple", handle: "AB0",
                    owner: .installation("phone"), notificationID: notification.text))
        #expect(first[1].owner == .registration("r-1") && first[1].systemError == "WrongToken")
        try await note(3, from: 1500)
        bench.clock.advance(by: .seconds(6))
        #expect(try await read().map(\.handle) == (0..<1503).map { "AB\($0)" })
        #expect(try await bench.call(.get, "/demo/feedbackcontainer", as: .listen).status == .unauthorized)
    }
}
