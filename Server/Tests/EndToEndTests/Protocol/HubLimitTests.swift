import AsyncHTTPClient
import ClarionTesting
import Foundation
import HubProtocol
import NIOCore
import RichPushModel
import Testing
import WireText

/// What the operator of a node sets reaches the hub that clients talk to.
struct HubLimitTests {
    private static let settings = [
        "CLARION_HUB_NOTIFICATION_LIMIT": "4096", "CLARION_HUB_BATCH_HANDLES": "2", "CLARION_HUB_TAG_LIMIT": "2",
        "CLARION_HUB_SCHEDULE_HORIZON": "60s", "CLARION_HUB_PAGE_SIZE": "1", "CLARION_HUB_INSTALLATION_LIMIT": "16384",
        "CLARION_HUB_JOB_FILE_LIMIT": "1MB", "CLARION_HUB_FILE_SPACE": "4MB",
    ]

    @Test("each limit that is set is the limit of the running hub, and what keeps to it is taken")
    func limits() async throws {
        try await TemporaryFolder.use { folder in
            let server = try await HubServer.start(in: folder, hubs: ["demo"], environment: Self.settings)
            try await sends(server)
            try await devices(server)
            try await files(server)
            #expect(await server.process.terminate() == 0)
        }
    }

    @Test("a page of long templates ends before its number is reached and goes on with its token; what is skipped is counted")
    func longPages() async throws {
        try await TemporaryFolder.use { folder in
            let server = try await HubServer.start(in: folder, hubs: ["demo"], environment: ["CLARION_HUB_PAGE_SIZE": "1000"])
            let words = String(repeating: "x", count: 60_000)
            for number in 0..<50 {
                let handle = String(repeating: "\(number % 10)", count: 63) + "\(number / 10)"
                let template = RegistrationTemplate(body: #"{"aps":{"alert":"$(m)"},"x":"\#(number) \#(words)"}"#)
                let entry = RegistrationDescription(.apple, handle: handle, template: template).request()
                let type = [("Content-Type", "application/atom+xml")]
                #expect(try await status(server, "PUT", "registrations/r\(number)", type, entry) == 200)
            }
            let first = try await list(server, "$top=1000")
            #expect((30...35).contains(first.names.count))
            let second = try await list(server, "$top=1000&continuationtoken=\(try #require(first.next))")
            #expect(
                second.next == nil && Set(first.names + second.names).count == 50 && first.names.count + second.names.count == 50)
            let last = try await list(server, "$top=1000&$skip=45")
            #expect(last.next == nil)
            #expect(last.names == (first.names + second.names).suffix(5))
            #expect(await server.process.terminate() == 0)
        }
    }

    private func list(_ server: HubServer, _ query: String) async throws -> (names: [String], next: String?) {
        let answer = try await call(server, "GET", "registrations?\(query)")
        #expect(answer.status == .ok)
        let text = String(buffer: try await answer.body.collect(upTo: 8 << 20))
        let names = text.matches(of: /<RegistrationId>([^<]*)</).map { String($0.output.1) }
        return (names, answer.headers.first(name: "x-ms-continuationtoken"))
    }

    private func sends(_ server: HubServer) async throws {
        let apple = [("ServiceBusNotification-Format", "apple"), ("Content-Type", "application/json;charset=utf-8")]
        func message(_ size: Int) -> String {
            let frame = #"{"aps":{"alert":""}}"#
            return #"{"aps":{"alert":""# + String(repeating: "x", count: size - frame.utf8.count) + #""}}"#
        }
        #expect(try await status(server, "POST", "messages", apple, message(4_096)) == 201)
        #expect(try await status(server, "POST", "messages", apple, message(4_097)) == 413)
        for (count, expected) in [(2, 201), (3, 400)] {
            let tokens = (0..<count).map { "\"" + String(repeating: "\($0)", count: 64) + "\"" }.joined(separator: ",")
            let parts = [("notification", message(100)), ("devices", "[\(tokens)]")].map {
                "--b\r\nContent-Type: application/json\r\nContent-Disposition: inline; name=\($0.0)\r\n\r\n\($0.1)\r\n"
            }
            let headers = [("ServiceBusNotification-Format", "apple"), ("Content-Type", "multipart/mixed; boundary=b")]
            let answer = try await status(server, "POST", "messages/$batch?direct", headers, parts.joined() + "--b--\r\n")
            #expect(answer == expected, "\(count) handles")
        }
        for (seconds, expected) in [(50, 201), (90, 400)] {
            let due = ("ServiceBusNotification-ScheduleTime", WireTime(SystemClock().now + .seconds(seconds)).description)
            let answer = try await status(server, "POST", "schedulednotifications", apple + [due], message(100))
            #expect(answer == expected, "due in \(seconds) seconds")
        }
    }

    private func devices(_ server: HubServer) async throws {
        for (index, tags) in [["a", "b"], ["a"], ["a", "b", "c"]].enumerated() {
            let handle = String(repeating: "\(index)", count: 64)
            let entry = RegistrationDescription(.apple, handle: handle, tags: tags).request()
            let answer = try await status(
                server, "PUT", "registrations/r\(index)", [("Content-Type", "application/atom+xml")], entry)
            #expect(answer == (tags.count > 2 ? 400 : 200), "\(tags.count) tags")
        }
        let page = try await call(server, "GET", "registrations")
        #expect(page.status == .ok)
        #expect(page.headers.first(name: "x-ms-continuationtoken") != nil)
        for (size, expected) in [(16_384, 200), (16_385, 413)] {
            let frame = #"{"installationId":"i","platform":"apns","pushChannel":"\#(String(repeating: "A", count: 64))"}"#
            let body = frame + String(repeating: " ", count: size - frame.utf8.count)
            #expect(try await status(server, "PUT", "installations/i", [("Content-Type", "application/json")], body) == expected)
        }
    }

    private func files(_ server: HubServer) async throws {
        let link = try await server.container("demo")
        let query = try #require(link.firstIndex(of: "?"))
        func put(_ name: String, _ size: Int) async throws -> UInt {
            var request = HTTPClientRequest(url: link[..<query] + "/\(name)" + link[query...])
            request.method = .PUT
            request.headers.add(name: "x-ms-blob-type", value: "BlockBlob")
            request.body = .bytes(ByteBuffer(repeating: UInt8(ascii: "x"), count: size))
            return try await HTTPClient.shared.execute(request, timeout: .seconds(30)).status.code
        }
        #expect(try await put("large", 1_000_001) == 413)
        #expect(try await put("first", 1_000_000) == 201)
        #expect(try await put("second", 900_000) == 201)
        #expect(try await put("third", 200_000) == 403, "one hub has at most half of the room for files")
    }

    private func status(
        _ server: HubServer, _ method: String, _ path: String, _ headers: [(String, String)] = [], _ body: String = ""
    ) async throws -> UInt {
        try await call(server, method, path, headers, body).status.code
    }

    private func call(
        _ server: HubServer, _ method: String, _ path: String, _ headers: [(String, String)] = [], _ body: String = ""
    ) async throws -> HTTPClientResponse {
        let mark = path.contains("?") ? "&" : "?"
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(server.port)/demo/\(path)\(mark)api-version=2020-06")
        request.method = .RAW(value: method)
        request.headers.add(contentsOf: [("Authorization", server.token("demo"))] + headers)
        if !body.isEmpty { request.body = .bytes(ByteBuffer(string: body)) }
        return try await HTTPClient.shared.execute(request, timeout: .seconds(30))
    }
}
