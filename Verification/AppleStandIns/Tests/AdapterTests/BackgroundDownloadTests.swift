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
            let engine = try await phone.signedIn().client.engine
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
            let client = try await phone.signedIn().client
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
            let events = delegate.client.downloads.delegate
            for _ in 0..<2 { events.urlSessionDidFinishEvents(forBackgroundURLSession: URLSession.shared) }
            #expect(await soon { !ours.values.isEmpty })
            await settle()
            #expect(ours.values == [true] && ours.allOnMain)
        }
    }
}
