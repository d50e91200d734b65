import Foundation
import RichPushModel
import Testing

@testable import DeviceSimulation
@testable import LabServices
@testable import ServerSettings

struct InstallationStoryTests {
    @Test("a phone reports itself, learns the server's environments, and its operator sees a permission that was refused")
    func reported() async throws {
        try await Stage.open { stage in
            try await ProcessPhone.use("alice", on: stage) { phone in
                let caller = stage.caller("alice")
                let devices: () async throws -> [DeviceEntry] = {
                    try await caller.call("GET", APIRoute.installations).decoded(DeviceList.self).devices
                }
                let first = try #require(try await devices().first)
                #expect(first.systemVersion == "simulated")
                #expect(first.appVersion == "1.0")
                #expect(first.timeZone == "Etc/UTC")
                #expect(first.capabilities == ["sealed-content", "service-extension"])
                #expect(first.topic == Settings.demoTopic)
                #expect(first.tags == ["username:alice"])
                try await phone.phone.perform(.setPermission(.denied))
                try await phone.phone.perform(.home)
                try await phone.phone.perform(.openApp)
                _ = try await eventually("the server gets the permission") {
                    try await devices().first?.permission == "denied" ? true : nil
                }
                #expect(try await devices().map(\.since) == [first.since])
            }
            let update = InstallationUpdate(handle: nil, environment: "production")
            let path = APIRoute.installation(try #require(InstallationID("other")))
            let answer = try await stage.caller("bob").call("PUT", path, json: update).decoded(InstallationAnswer.self)
            #expect(answer.environments == ["sandbox"])
        }
    }
}
