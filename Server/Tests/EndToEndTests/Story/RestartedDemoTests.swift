import DeviceSimulation
import Foundation
import Testing

@testable import LabServices
@testable import ServerSettings

/// A demo that is ended and started again in its folder.
struct RestartedDemoTests {
    @Test("reaches the phones that were signed in before, although no app has been opened since")
    func tokens() async throws {
        try await TemporaryFolder.use { folder in
            let port = try await DemoPort.choose(0)
            try await Stage.open(in: folder, port: port) { stage in
                try await stage.signIn("bob", on: 1)
                let id = try await stage.caller("bob").send(Picture.random(side: 16), message: "Before")
                try await stage.wait(for: "the first push", on: 1) { $0.inbox.contains { $0.id == id } }
                let token = stage.demo.apns.issueToken(device: "1", topic: Settings.demoTopic)
                _ = try await eventually("the token is on disk already, should the demo be killed") {
                    let kept = try? String(contentsOfFile: folder + "/apns/state-sandbox.json", encoding: .utf8)
                    return kept?.contains(token) == true ? true : nil
                }
            }
            try await Stage.open(in: folder, port: port) { stage in
                let id = try await stage.caller("bob").send(Picture.random(side: 16), message: "After")
                try await stage.wait(for: "a push to a phone whose app was not opened", on: 1) { snapshot in
                    snapshot.notifications.contains { $0.richID == id && $0.body == "After" }
                }
            }
        }
    }
}
