import ClarionTesting
import Foundation
import Logging
import RichPushModel
import Testing

@testable import AppBackend
@testable import ContentStorage
@testable import ServerComposition

/// `serve` with its contents in a bucket.
struct ContentStoreTests {
    /// A server with its contents in a bucket behind a proxy, and the user `ops` who may send.
    private func run(
        proxyIsOpen: Bool = true, size: Int = 0, settings: [String: String] = [:],
        _ body: (ServerProcess, Fleet, FaultProxy) async throws -> Void
    ) async throws {
        try await TemporaryFolder.use { folder in
            let proxy = try await FaultProxy(to: try await ThrowAwayS3.running().plain)
            let bucket = try await SharedPlaces.bucket(through: proxy.port)
            let fleet = try await Fleet(folder: folder, size: size, shared: bucket.merging(settings) { $1 })
            if !proxyIsOpen { try await proxy.stop() }
            let server = try await ServerProcess(fleet.options)
            try await body(server, fleet, proxy)
            #expect(await server.terminate() == 0)
            await fleet.apns.shutdown()
            if proxyIsOpen { try await proxy.stop() }
        }
    }

    private func readiness(_ server: ServerProcess) async throws -> String {
        let answer = try await APIClient(address: server.address, user: "", password: "").call(
            "GET", "/readyz", body: nil, headers: [:])
        return "\(answer.status) " + String(decoding: answer.body, as: UTF8.self)
    }

    @Test("a content goes into the bucket, its id to the phone, its bytes to who may have them, and a recall ends that")
    func story() async throws {
        try await run { server, fleet, _ in
            let ops = fleet.caller(at: server.address)
            let phone = try await PhoneCaller("phone-1", of: ops, apns: fleet.apns)
            let picture = Picture.random(side: 32)
            let id = try await ops.send(picture, message: "Look")
            #expect(try await phone.nextRichID() == id)
            let fetched = try await phone.at(server.address).call("GET", APIRoute.notification(id), body: nil, headers: [:])
            #expect(fetched.status == 200 && fetched.body == picture && fetched.headers["content-type"] == "image/gif")
            let part = try await phone.at(server.address).call(
                "GET", APIRoute.notification(id), body: nil, headers: ["Range": "bytes=10-19"])
            #expect(part.status == 206 && part.body == picture[10...19])
            let bucket = try await SharedPlaces.open(fleet.options.shared)
            let stored = try await bucket.digests(after: nil, limit: 10)
            // The default picture and this one; nothing of them is in the data directory.
            #expect(stored.count == 2)
            #expect(!FileManager.default.fileExists(atPath: fleet.options.dataDirectory + "/content"))
            #expect(try await ops.call("DELETE", APIRoute.notification(id), body: nil, headers: [:]).status == 204)
            let gone = try await phone.at(server.address).call("GET", APIRoute.notification(id), body: nil, headers: [:])
            #expect(gone.status == 404)
            await bucket.shutDown()
        }
    }

    @Test("a bucket that goes away makes the node not ready and fetches fail politely, and is used again when it is back")
    func away() async throws {
        try await run { server, fleet, proxy in
            let ops = fleet.caller(at: server.address)
            let id = try await ops.send(Picture.random(side: 8), message: "Look")
            #expect(try await readiness(server).hasPrefix("200 "))
            try await proxy.stop()
            _ = try await eventually("it says that it is not ready") {
                let text = try await readiness(server)
                return text.hasPrefix("503 ") && text.contains("ok storage\nfailed content-store") ? true : nil
            }
            let fetch = try await ops.call("GET", APIRoute.notification(id), body: nil, headers: [:])
            #expect(fetch.status == 503 && fetch.headers["retry-after"] != nil)
            let upload = try await ops.call(
                "POST", APIRoute.content, body: Picture.random(side: 8), headers: ["Content-Type": "image/gif"])
            #expect(upload.status == 503 && upload.headers["retry-after"] != nil)
            // What needs no content goes on.
            #expect(try await ops.call("POST", APIRoute.notifications, json: SendRequest(message: "Words")).status == 201)
            try await proxy.restart()
            _ = try await eventually("it is ready again") { try await readiness(server).hasPrefix("200 ") ? true : nil }
            #expect(try await ops.call("GET", APIRoute.notification(id), body: nil, headers: [:]).status == 200)
        }
    }

    @Test("a node starts while its bucket is unavailable, is not ready, and stores the default picture when it comes back")
    func lateBucket() async throws {
        try await run(proxyIsOpen: false) { server, fleet, proxy in
            #expect(try await readiness(server).contains("failed content-store"))
            let ops = fleet.caller(at: server.address)
            #expect(try await ops.call("POST", "/api/notifications", body: nil, headers: [:]).status == 503)
            #expect(try await ops.call("POST", APIRoute.notifications, json: SendRequest(message: "Words")).status == 201)
            try await proxy.restart()
            _ = try await eventually("the rich push tutorial's send works") {
                try await ops.call("POST", "/api/notifications", body: nil, headers: [:]).status == 200 ? true : nil
            }
            _ = try await eventually("it is ready") { try await readiness(server).hasPrefix("200 ") ? true : nil }
            try await proxy.stop()
        }
    }

    @Test("a bucket that refuses the key stops the start with a sentence, and so does one that is none")
    func refused() async throws {
        for (name, value) in [("CLARION_S3_SECRET", "not-the-secret"), ("CLARION_S3_BUCKET", "no-such-bucket-here")] {
            try await TemporaryFolder.use { folder in
                let bucket = try await SharedPlaces.bucket()
                let fleet = try await Fleet(folder: folder, size: 0, shared: bucket)
                var options = fleet.options
                options.shared[name] = value
                var command = ChildProcess.Command(ServerProcess.program, ["serve"], output: folder + "/output")
                command.environment = options.environment.merging(["CLARION_DATA_DIRECTORY": folder + "/data"]) { $1 }
                #expect(try await ChildProcess(command).exitStatus() != 0)
                let text = try String(contentsOfFile: folder + "/output", encoding: .utf8)
                #expect(text.contains(name == "CLARION_S3_SECRET" ? "look at s3-secret" : "look at s3-bucket"))
                #expect(!text.contains("not-the-secret"))
                await fleet.apns.shutdown()
            }
        }
    }

    @Test("a content that goes away while it is read ends in a broken connection, never in a short content, and harms no other")
    func removedWhileRead() async throws {
        try await run { server, fleet, proxy in
            let ops = fleet.caller(at: server.address)
            let picture = Picture.random(side: 8, padding: 24_000_000)
            let id = try await ops.send(picture, message: "Look")
            let other = try await ops.send(Picture.random(side: 8), message: "Look")
            let bucket = try await SharedPlaces.open(fleet.options.shared)
            let head = try await ops.call("HEAD", APIRoute.notification(id), body: nil, headers: [:])
            let digest = try #require(head.headers["etag"].flatMap { ContentDigest($0.filter { $0 != "\"" }) })
            // However much the buffers on the way hold, some of it has not left the bucket.
            proxy.set(.holdToClient(after: 4_000_000))
            let download = try await ops.begin(APIRoute.notification(id))
            #expect(download.status == 200)
            try await bucket.client.delete(S3Keys.object(digest))
            proxy.set(.none)
            await #expect(throws: (any Error).self) { try await download.rest() }
            #expect(try await ops.call("GET", APIRoute.notification(id), body: nil, headers: [:]).status == 404)
            #expect(try await ops.call("GET", APIRoute.notification(other), body: nil, headers: [:]).status == 200)
            await bucket.shutDown()
        }
    }

    @Test("with links, a large content comes from the store by one that needs no credential; the frozen routes answer with bytes")
    func links() async throws {
        try await run(settings: ["CLARION_S3_LINKS": "true"]) { server, fleet, _ in
            let ops = fleet.caller(at: server.address)
            let picture = Picture.random(side: 8, padding: 100_000)
            let id = try await ops.send(picture, message: "Look")
            let small = try await ops.send(Picture.random(side: 8), message: "Look")
            let answer = try await ops.call("GET", APIRoute.notification(id), body: nil, headers: [:])
            #expect(answer.status == 307 && answer.headers["cache-control"] == "no-store" && answer.body.isEmpty)
            let link = try #require(answer.headers["location"])
            let bytes = try await APIClient.anonymous(link)
            #expect(bytes.status == 200 && bytes.body == picture && bytes.headers["content-type"] == "image/gif")
            #expect(bytes.headers["content-disposition"]?.hasPrefix("attachment") == true)
            #expect(try await ops.call("GET", "/api/notifications/\(id)", body: nil, headers: [:]).body == picture)
            #expect(try await ops.call("HEAD", APIRoute.notification(id), body: nil, headers: [:]).status == 200)
            #expect(try await ops.call("GET", APIRoute.notification(small), body: nil, headers: [:]).status == 200)
            let unauthorized = APIClient(address: server.address, user: "ops", password: "guess")
            #expect(try await unauthorized.call("GET", APIRoute.notification(id), body: nil, headers: [:]).status == 401)
        }
    }

    @Test("bytes without a reference leave the bucket, those of other sends stay")
    func swept() async throws {
        try await TemporaryFolder.use { folder in
            let bucket = try await SharedPlaces.bucket()
            let fleet = try await Fleet(folder: folder, size: 0, shared: bucket)
            let server = try await ServerProcess(fleet.options)
            let ops = fleet.caller(at: server.address)
            let recalled = try await ops.send(Picture.random(side: 8), message: "Look")
            _ = try await ops.send(Picture.random(side: 8), message: "Look")
            #expect(try await ops.call("DELETE", APIRoute.notification(recalled), body: nil, headers: [:]).status == 204)
            #expect(await server.terminate() == 0)
            let store = try await SharedPlaces.open(bucket)
            #expect(try await store.digests(after: nil, limit: 10).count == 3)
            let node = try await ServerNode.make(
                fleet.options.settings(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            // Two hours later, so that no request can be about to use the bytes; a store refuses requests with a wrong clock.
            var parts = node.backend.parts
            parts.clock = WrongClock(ahead: .seconds(7_200))
            _ = try await BackendUpkeep(of: RichPushBackend(parts: parts)).sweep()
            await node.storage.close()
            #expect(try await store.digests(after: nil, limit: 10).count == 2)
            await store.shutDown()
            await fleet.apns.shutdown()
        }
    }
}
