import RichPushModel
import Testing

@testable import DeviceSimulation

/// A phone whose app was removed without a sign-out, as phones are that people hand on.
struct ReinstalledPhoneTests {
    @Test(
        "after a new install somebody else signs in and gets what is theirs, and nothing of the user before comes any more",
        arguments: [false, true])
    func handedOn(isHeard: Bool) async throws {
        try await Stage.open { stage in
            try await ProcessPhone.use("alice", on: stage) { device in
                let phone = device.phone
                try await phone.perform(.installApp)
                // Where it is not heard, the server takes the sign-in while it still has the phone for alice.
                if !isHeard { try await phone.perform(.setConnection(.offline)) }
                try await phone.perform(.openApp)
                #expect(await phone.snapshot.user == nil)
                try await phone.perform(.setConnection(.online))
                try await phone.perform(.signIn(user: "bob", password: "bob"))
                let snapshot = await phone.snapshot
                try #require(snapshot.user == "bob", "\(snapshot.signIn.error ?? "")")
                _ = try await device.send(.alert)
                let bob = ProcessPhone(phone: phone, name: "bob", stage: stage)
                let id = try await bob.send(.both)
                _ = try await eventually("bob's push is there") {
                    await phone.snapshot.inbox.contains { $0.id == id } ? true : nil
                }
                try await device.settled()
                #expect(Set(phone.steps.filter { $0.step == .delivered }.map(\.richID)) == [id])
                #expect(await phone.snapshot.inbox.map(\.id) == [id])
            }
        }
    }
}
