import Foundation
import RichPushModel
import Testing

@testable import DeviceSimulation

/// A phone whose app was removed without a sign-out, as when it gets a new owner.
struct ReinstalledPhoneTests {
    @Test("after a new install the server revokes the old one, and another user signs in and gets only their own notifications")
    func handedOn() async throws {
        try await Stage.open { stage in
            try await ProcessPhone.use("alice", on: stage) { device in
                let phone = device.phone
                let secrets = await phone.configuration.folder.appending(path: "keychain")
                let name = try Data(contentsOf: secrets.appending(path: "group/installation-id"))
                try await phone.perform(.installApp)
                try await phone.perform(.openApp)
                #expect(await phone.snapshot.user == nil)
                _ = try await eventually("the server has revoked it") {
                    FileManager.default.fileExists(atPath: secrets.appending(path: "app/revocation").path) ? nil : true
                }
                _ = try await device.send(.alert)
                try await phone.perform(.signIn(user: "bob", password: "bob"))
                let snapshot = await phone.snapshot
                try #require(snapshot.user == "bob", "\(snapshot.signIn.error ?? "")")
                let bob = ProcessPhone(phone: phone, name: "bob", stage: stage)
                let id = try await bob.send(.alert)
                try await device.settled()
                #expect(phone.steps.filter { $0.step == .delivered }.map(\.richID) == [id])
                try await phone.perform(.refreshInbox)
                #expect(await phone.snapshot.inbox.map(\.id) == [id])
                #expect(try Data(contentsOf: secrets.appending(path: "group/installation-id")) == name)
            }
        }
    }
}
