import Foundation
import RichPushModel
import Testing
import UIKit

@testable import RichPushApp
@testable import RichPushDevice

extension AppleFace {
    /// The transfer itself is Apple's; here are the link, what is done with the file, and the system's block.
    @Suite("A download in the background")
    @MainActor
    struct BackgroundDownload {
        let phone: TestPhone

        init() throws { phone = try TestPhone() }

        private func temporaryFile(_ bytes: Data) throws -> URL {
            let file = phone.folder.appendingPathComponent(UUID().uuidString)
            try bytes.write(to: file)
            return file
        }

        @Test("goes to a link of the backend that needs no credential")
        func link() async throws {
            let engine = try await phone.signedIn().push.engine
            phone.backend.store(7)
            phone.backend.script {
                guard $0.url.path.hasSuffix("/ticket") else { return nil }
                return .success(TransportResponse(status: 200, body: Data(#"{"path":"/api/v1/notifications/7?ticket=x"}"#.utf8)))
            }
            let link = try await engine.downloadLink(for: id(7))
            #expect(link.absoluteString == "https://push.example.org/api/v1/notifications/7?ticket=x")
            phone.backend.script {
                guard $0.url.path.hasSuffix("/ticket") else { return nil }
                return .success(TransportResponse(status: 200, body: Data(#"{"path":"@evil.example/x"}"#.utf8)))
            }
            await #expect(throws: RichPushError.badAnswer) { try await engine.downloadLink(for: id(7)) }
        }

        @Test("is taken in when it is what the server described, and refused otherwise; the file is gone either way")
        func taken() async throws {
            let client = try await phone.signedIn().push
            phone.backend.store(7, bytes: Samples.png(1))
            _ = try await client.refresh()
            let wrong = try temporaryFile(Samples.png(2))
            await #expect(throws: RichPushError.contentMismatch) { try await client.engine.takeDownload(wrong, of: id(7)) }
            let right = try temporaryFile(Samples.png(1))
            try await client.engine.takeDownload(right, of: id(7))
            #expect(!FileManager.default.fileExists(atPath: wrong.path) && !FileManager.default.fileExists(atPath: right.path))
            phone.backend.setOffline(true)
            #expect(await client.open(id(7)).state == .ready)
        }

        @Test("ends with the system's block, once and on the main thread; another session's block is answered at once")
        func block() async throws {
            let delegate = try await phone.signedIn()
            let foreign = Answers<Bool>()
            delegate.application(.shared, handleEventsForBackgroundURLSession: "other") { foreign.add(true) }
            #expect(foreign.values == [true])
            let ours = Answers<Bool>()
            delegate.application(.shared, handleEventsForBackgroundURLSession: BackgroundDownloads.identifier) { ours.add(true) }
            #expect(ours.values.isEmpty)
            let events = delegate.push.downloads.delegate
            for _ in 0..<2 { events.urlSessionDidFinishEvents(forBackgroundURLSession: URLSession.shared) }
            #expect(await soon { !ours.values.isEmpty })
            await settle()
            #expect(ours.values == [true] && ours.allOnMain)
        }

        @Test("answers the system's block when a second one comes, and after 25 seconds in any case, each once")
        func everyBlock() async throws {
            let clock = ManualClock()
            let delegate = try phone.launch(clock: clock)
            let (first, second) = (Answers<Bool>(), Answers<Bool>())
            let identifier = BackgroundDownloads.identifier
            delegate.application(.shared, handleEventsForBackgroundURLSession: identifier) { first.add(true) }
            delegate.application(.shared, handleEventsForBackgroundURLSession: identifier) { second.add(true) }
            #expect(await soon { first.values == [true] })
            #expect(second.values.isEmpty)
            #expect(await soon { clock.sleeperCount >= 2 })
            clock.advance(by: .seconds(25))
            #expect(await soon { second.values == [true] })
            delegate.push.downloads.delegate.urlSessionDidFinishEvents(forBackgroundURLSession: URLSession.shared)
            await settle()
            #expect(first.values == [true] && second.values == [true] && second.allOnMain)
        }

        @Test("waits in the session's folder, so that nothing of it is left after a sign-out, and is reported when it fails")
        func failed() async throws {
            let client = try await phone.signedIn().push
            phone.backend.store(7, bytes: Samples.png(1))
            _ = try await client.refresh()
            let place = try #require(client.engine.newDownloadFile())
            #expect(place.path.hasPrefix(phone.folder.path))
            var events = client.events.makeAsyncIterator()
            client.downloads.delegate.take(try temporaryFile(Samples.png(2)), of: id(7), status: 200)
            var reason: String?
            while reason == nil, let event = await events.next() {
                if event.kind == .fetchFailed { reason = event.detail["reason"] }
            }
            #expect(reason == "content-mismatch")
            try await client.signOut()
            #expect(client.engine.newDownloadFile() == nil)
            let late = try temporaryFile(Samples.png(1))
            client.downloads.delegate.take(late, of: id(7), status: 200)
            try FileManager.default.removeItem(at: late)
            await settle()
            let files = FileManager.default.enumerator(at: phone.folder, includingPropertiesForKeys: nil)
            let isPicture = { (file: URL) in (try? Data(contentsOf: file))?.starts(with: [0x89, 0x50]) == true }
            let left = (files?.allObjects as? [URL] ?? []).filter(isPicture)
            #expect(left.isEmpty)
        }

        /// A download that the server begins and does not end, in the client's own session.
        private func hanging(_ client: RichPush) throws -> (LoopbackServer, URLSessionDownloadTask) {
            let server = try LoopbackServer { _ in
                Thread.sleep(forTimeInterval: 20)
                return Data()
            }
            let url = server.url("/7")
            let task = client.downloads.session.downloadTask(with: url)
            task.taskDescription = "7"
            task.resume()
            return (server, task)
        }

        @Test("ends with the sign-out of whom it is for, and with the sign-in of another", arguments: [true, false])
        func cancelled(isSignOut: Bool) async throws {
            let client = try await phone.signedIn().push
            let (server, task) = try hanging(client)
            #expect(await soon { server.requests.count == 1 })
            #expect(task.state == .running)
            if isSignOut { try await client.signOut() } else { try await client.signIn(user: "bob", password: "hidden") }
            #expect(await soon { task.state == .canceling || task.state == .completed })
        }

        @Test(
            "ends when more comes than any content has, or is announced",
            arguments: [(true, false), (false, true), (false, false)])
        func bounded(isLong: Bool, isAnnounced: Bool) async throws {
            let client = try await phone.signedIn().push
            let (server, task) = try hanging(client)
            #expect(await soon { server.requests.count == 1 })
            let limit = client.configuration.limits.maximumContentBytes
            client.downloads.delegate.urlSession(
                client.downloads.session, downloadTask: task, didWriteData: 1, totalBytesWritten: isLong ? limit + 1 : limit,
                totalBytesExpectedToWrite: isAnnounced ? limit + 1 : -1)
            if isLong || isAnnounced {
                #expect(await soon { task.state == .canceling || task.state == .completed })
            } else {
                await settle()
                #expect(task.state == .running)
                task.cancel()
            }
        }

        @Test("is begun once while it is under way")
        func once() async throws {
            let client = try await phone.signedIn().push
            let delegate = client.downloads.delegate
            #expect(delegate.begin(id(7)) && !delegate.begin(id(7)) && delegate.begin(id(8)))
            delegate.end(id(7))
            #expect(delegate.begin(id(7)))
            // A start that fails may be tried again.
            await #expect(throws: RichPushError.notFound) { try await client.downloadInBackground(id(9)) }
            #expect(delegate.begin(id(9)))
        }
    }
}
