import AppBackend
import PushHub
import RichPushModel
import ServiceErrors
import Synchronization
import Testing

/// A sign-out that is under way while the next sign-in comes.
@Suite struct OvertakenSignOutTests {
    private final class Issued: Sendable {
        let credential = Mutex<String?>(nil)
    }

    private func works(_ test: TestBackend, _ credential: String?) async throws -> Bool {
        let credential = try #require(credential)
        return await code { _ = try await test.backend.authenticate(.bearer(credential), from: .local) } == nil
    }

    @Test("a sign-in that overtakes a sign-out with the old credential stays", arguments: [1, 2])
    func overtaken(handle: Int) async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let (phone, _) = try await test.install(ann, "phone", handle: 1)
        let id = try #require(phone.installation)
        let issued = Issued()
        test.hub.duringNextRemoval {
            let answer = try? await test.install(ann, "phone", handle: handle)
            issued.credential.withLock { $0 = answer?.credential }
        }
        #expect(await code { try await test.backend.deleteInstallation(id: id, for: phone) } == .unauthenticated)
        #expect(try await works(test, issued.credential.withLock { $0 }))
        #expect(test.hub.devices.values.map(\.handle?.text) == [Sample.handle(handle)])
        let sent = try await test.send(ann, to: "$InstallationId:{phone}")
        #expect(try await test.inbox(ann) == [sent])
    }

    @Test("a sign-in that overtakes a sign-out with the password stays")
    func overtakenPassword() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let (phone, _) = try await test.install(ann, "phone", handle: 1)
        let id = try #require(phone.installation)
        test.hub.duringNextRemoval { _ = try? await test.install(ann, "phone", handle: 1) }
        #expect(await code { try await test.backend.deleteInstallation(id: id, for: ann) } == .conflict)
        #expect(test.hub.devices.count == 1)
        try await test.backend.deleteInstallation(id: id, for: ann)
        #expect(test.hub.devices.isEmpty)
    }

    @Test("a sign-out ends also what its own credential changed meanwhile")
    func ownChange() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let (phone, credential) = try await test.install(ann, "phone", handle: 1)
        let id = try #require(phone.installation)
        let update = InstallationUpdate(handle: Sample.handle(2))
        test.hub.duringNextRemoval { _ = try? await test.backend.putInstallation(id: id, update: update, for: phone) }
        try await test.backend.deleteInstallation(id: id, for: phone)
        #expect(test.hub.devices.isEmpty)
        #expect(try await works(test, credential) == false)
    }

    @Test("who was let in with an old credential neither signs the new one out nor takes the phone back")
    func oldCredential() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let (old, _) = try await test.install(ann, "phone", handle: 1)
        let id = try #require(old.installation)
        let (_, new) = try await test.install(bob, "phone", handle: 1)
        let update = InstallationUpdate(handle: Sample.handle(1))
        #expect(
            await code { _ = try await test.backend.putInstallation(id: id, update: update, for: old) } == .unauthenticated)
        #expect(await code { try await test.backend.deleteInstallation(id: id, for: old) } == .unauthenticated)
        #expect(try await works(test, new))
        #expect(test.hub.devices.values.first?.tags == [.user(bob.name)])
    }

    @Test("a new credential voids the one before at once on the node that issues it")
    func atOnce() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let (_, first) = try await test.install(ann, "phone", handle: 1)
        let (_, second) = try await test.install(ann, "phone", handle: 1)
        #expect(try await works(test, first) == false)
        #expect(try await works(test, second))
    }

    @Test("a sign-out can be repeated")
    func repeated() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let (phone, _) = try await test.install(ann, "phone", handle: 1)
        let id = try #require(phone.installation)
        for _ in 0..<2 { try await test.backend.deleteInstallation(id: id, for: ann) }
        #expect(test.hub.devices.isEmpty)
    }
}
