import AppBackend
import PushHub
import RichPushModel
import ServiceErrors
import Testing

@Suite struct InstallationTests {
    private func update(_ handle: Int, tags: [Tag] = []) -> InstallationUpdate {
        InstallationUpdate(handle: Sample.handle(handle), tags: tags)
    }

    @Test("a password gets a credential, and the credential gets none")
    func credential() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let (phone, _) = try await test.install(ann, "phone", handle: 1)
        #expect(phone.installation?.text == "phone")
        #expect(phone.userID == ann.userID)
        let answer = try await test.backend.putInstallation(
            id: try #require(phone.installation), update: update(2), for: phone)
        #expect(answer.credential == nil)
        #expect(test.hub.devices.values.first?.handle?.text == Sample.handle(2))
    }

    @Test("a credential may not send, register others, store content, or set protected tags")
    func narrow() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann", .admin)
        let (phone, _) = try await test.install(ann, "phone", handle: 1)
        let other = try #require(InstallationID("other"))
        let own = try #require(phone.installation)
        let protected = try #require(Tag("username:bob"))
        let id = try await test.send(ann)
        #expect(await code { _ = try await test.send(phone) } == .forbidden)
        #expect(await code { _ = try await test.backend.sendDefaultPicture(for: phone) } == .forbidden)
        #expect(await code { _ = try await test.store(phone) } == .forbidden)
        #expect(await code { try await test.backend.recall(id, for: phone) } == .forbidden)
        #expect(await code { _ = try await test.backend.status(of: id, for: phone) } == .forbidden)
        #expect(await code { try await test.register(phone, handle: 2, id: "x") } == .forbidden)
        #expect(await code { try await test.backend.deleteRegistration(id: "phone", for: phone) } == .forbidden)
        #expect(
            await code { _ = try await test.backend.putInstallation(id: other, update: update(2), for: phone) } == .forbidden)
        #expect(await code { try await test.backend.deleteInstallation(id: other, for: phone) } == .forbidden)
        #expect(
            await code { _ = try await test.backend.putInstallation(id: own, update: update(1, tags: [protected]), for: phone) }
                == .forbidden)
        #expect(try await test.inbox(phone) == [id])
    }

    private static let reported = InstallationUpdate(
        handle: Sample.handle(1), environment: "sandbox", topic: "org.example.app", locale: "sv-SE", appVersion: "2.1 (417)",
        systemVersion: "iOS 18.2", timeZone: "Europe/Stockholm", permission: "denied",
        capabilities: ["service-extension", "replies", "replies"])

    @Test("what an installation reports about itself is listed, changes in place, and goes with the sign-out")
    func facts() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob", .user))
        let id = try #require(InstallationID("phone"))
        _ = try await test.backend.putInstallation(id: id, update: Self.reported, for: ann)
        let first = try #require(try await test.backend.devices(ofUser: nil, for: ann).devices.first)
        #expect(first.id == "phone")
        #expect(first.kind == "installation")
        #expect(first.user == "ann")
        #expect(first.handle?.count == 6)
        #expect(first.appVersion == "2.1 (417)")
        #expect(first.systemVersion == "iOS 18.2")
        #expect(first.locale == "sv-SE")
        #expect(first.permission == "denied")
        #expect(first.timeZone == "Europe/Stockholm")
        #expect(first.capabilities == ["replies", "service-extension"])
        test.clock.advance(by: .seconds(60))
        var update = Self.reported
        (update.permission, update.appVersion) = ("granted", nil)
        _ = try await test.backend.putInstallation(id: id, update: update, for: ann)
        let second = try #require(try await test.backend.devices(ofUser: "ANN").devices.first)
        #expect(second.permission == "granted")
        #expect(second.appVersion == nil)
        #expect(second.since == first.since)
        let silent = InstallationUpdate(handle: Sample.handle(1), environment: "sandbox", topic: "org.example.app")
        _ = try await test.backend.putInstallation(id: id, update: silent, for: ann)
        #expect(try await test.backend.devices(ofUser: "ann").devices.first?.permission == nil)
        _ = try await test.backend.putInstallation(id: id, update: Self.reported, for: ann)
        try await test.backend.deleteInstallation(id: id, for: ann)
        #expect(try await test.backend.devices(ofUser: "ann").devices.isEmpty)
        #expect(try await test.backend.devices(ofUser: nil, for: bob).devices.isEmpty)
    }

    @Test("a list of devices is for their user and an admin, and not for a phone")
    func listRights() async throws {
        let test = try await TestBackend()
        let (ann, eve) = (try await test.user("ann", .sender), try await test.user("eve", .admin))
        let (phone, _) = try await test.install(ann, "phone", handle: 1)
        #expect(try await test.backend.devices(ofUser: "Ann", for: eve).devices.map(\.id) == ["phone"])
        #expect(try await test.backend.devices(ofUser: "ANN", for: ann).devices.count == 1)
        #expect(await code { _ = try await test.backend.devices(ofUser: "eve", for: ann) } == .forbidden)
        #expect(await code { _ = try await test.backend.devices(ofUser: nil, for: phone) } == .forbidden)
        #expect(await code { _ = try await test.backend.devices(ofUser: "nobody", for: eve) } == .notFound)
    }

    @Test(
        "what an installation reports about itself is bounded",
        arguments: [
            { $0.appVersion = "" }, { $0.systemVersion = String(repeating: "x", count: 65) }, { $0.timeZone = "a\nb" },
            { $0.permission = "maybe" }, { $0.capabilities = ["A"] }, { $0.capabilities = [""] },
            { $0.capabilities = (0..<17).map { "c\($0)" } }, { $0.locale = "" },
        ] as [@Sendable (inout InstallationUpdate) -> Void])
    func boundedFacts(_ change: @Sendable (inout InstallationUpdate) -> Void) async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        var update = Self.reported
        change(&update)
        let id = try #require(InstallationID("phone"))
        #expect(await code { _ = try await test.backend.putInstallation(id: id, update: update, for: ann) } == .invalidField)
        #expect(try await test.backend.devices(ofUser: "ann").devices.isEmpty)
    }

    @Test("sign-out ends the credential and the device at once")
    func signOut() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let (phone, credential) = try await test.install(ann, "phone", handle: 1)
        try await test.backend.deleteInstallation(id: try #require(phone.installation), for: phone)
        #expect(test.hub.devices.isEmpty)
        #expect(
            await code { _ = try await test.backend.authenticate(.bearer(credential), from: .local) } == .unauthenticated)
    }

    @Test("a sign-out that the hub did not take can be repeated with the same credential, and then nothing is left")
    func signOutAgain() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let (phone, credential) = try await test.install(ann, "phone", handle: 1)
        let id = try #require(phone.installation)
        test.hub.failDevices(times: 1)
        await #expect(throws: ServiceError.self) { try await test.backend.deleteInstallation(id: id, for: phone) }
        test.clock.advance(by: .seconds(60))
        let again = try await test.backend.authenticate(.bearer(credential), from: .local)
        try await test.backend.deleteInstallation(id: id, for: again)
        #expect(test.hub.devices.isEmpty)
    }

    @Test("a user whose removal the hub did not take can be removed again, and no device is left")
    func removeAgain() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        _ = try await test.install(ann, "phone", handle: 1)
        test.hub.failDevices(times: 1)
        await #expect(throws: ServiceError.self) { try await test.backend.removeUser(name: "ann") }
        try await test.backend.removeUser(name: "ann")
        #expect(test.hub.devices.isEmpty)
    }

    @Test("a password change ends every credential of the user and no other user's")
    func passwordChange() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let (_, annPhone) = try await test.install(ann, "a", handle: 1)
        let (_, bobPhone) = try await test.install(bob, "b", handle: 2)
        try await test.backend.setPassword("another password", ofUser: "ann")
        #expect(await code { _ = try await test.backend.authenticate(.bearer(annPhone), from: .local) } == .unauthenticated)
        #expect(await code { _ = try await test.backend.authenticate(.bearer(bobPhone), from: .local) } == nil)
    }

    @Test("who was signed in with the old password cannot turn it into a credential after the change")
    func oldPassword() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        try await test.backend.setPassword("another password", ofUser: "ann")
        let update = InstallationUpdate(handle: Sample.handle(1))
        let phone = try #require(InstallationID("phone"))
        #expect(
            await code { _ = try await test.backend.putInstallation(id: phone, update: update, for: ann) } == .notReady)
        #expect(test.hub.devices.isEmpty)
        // The caller is asked to repeat the request, and the old password is then wrong.
        #expect(await code { _ = try await test.signIn("ann") } == .unauthenticated)
    }

    @Test("a password change signs out the user's devices, which no longer could themselves, and no other user's")
    func passwordChangeSignsOut() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let (phone, _) = try await test.install(ann, "a", handle: 1)
        try await test.register(ann, handle: 2, id: "tutorial")
        let (other, _) = try await test.install(bob, "b", handle: 3)
        test.hub.failDevices(times: 1)
        #expect(await code { try await test.backend.setPassword("another password", ofUser: "ann") } == .storageUnavailable)
        try await test.backend.setPassword("another password", ofUser: "ann")
        #expect(Set(test.hub.devices.keys.map(\.text)) == ["b"])
        #expect(try await test.backend.devices(ofUser: "ann").devices.isEmpty)
        let id = try #require(phone.installation)
        #expect(await code { try await test.backend.deleteInstallation(id: id, for: phone) } == .unauthenticated)
        let sent = try await test.send(bob, to: "$InstallationId:{b}")
        #expect(try await test.inbox(other) == [sent])
    }

    @Test("who signs in with the new password while the devices are signed out stays")
    func signInDuringPasswordChange() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        _ = try await test.install(ann, "phone", handle: 1)
        test.hub.duringNextRemoval {
            guard
                let again = try? await test.backend.authenticate(
                    .basic(user: "ann", password: "another password"), from: TestBackend.source)
            else { return }
            _ = try? await test.install(again, "phone", handle: 1)
        }
        try await test.backend.setPassword("another password", ofUser: "ann")
        #expect(test.hub.devices.keys.map(\.text) == ["phone"])
        #expect(try await test.backend.devices(ofUser: "ann").devices.map(\.id) == ["phone"])
    }

    @Test("hand-over ends the old user's credential, on the same record and on another with the same handle")
    func handOver() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let (_, first) = try await test.install(ann, "phone", handle: 1)
        _ = try await test.install(bob, "phone", handle: 1)
        let (_, third) = try await test.install(ann, "tablet", handle: 2)
        _ = try await test.install(bob, "fresh", handle: 2)
        test.clock.advance(by: .seconds(5))
        for credential in [first, third] {
            #expect(
                await code { _ = try await test.backend.authenticate(.bearer(credential), from: .local) } == .unauthenticated)
        }
    }

    @Test("an installation without a handle cannot be taken over by knowing its id")
    func takeover() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        _ = try await test.install(ann, "phone", handle: nil)
        let id = try #require(InstallationID("phone"))
        let attempt = await code {
            _ = try await test.backend.putInstallation(id: id, update: InstallationUpdate(handle: nil), for: bob)
        }
        #expect(attempt == .registrationGone)
        #expect(await code { _ = try await test.install(bob, "phone", handle: 7) } == .registrationGone)
    }

    @Test("a credential lives 90 days after its last use")
    func sliding() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let (_, credential) = try await test.install(ann, "phone", handle: 1)
        for _ in 0..<3 {
            test.clock.advance(by: .seconds(80 * 24 * 3600))
            #expect(await code { _ = try await test.backend.authenticate(.bearer(credential), from: .local) } == nil)
        }
        test.clock.advance(by: .seconds(91 * 24 * 3600))
        #expect(
            await code { _ = try await test.backend.authenticate(.bearer(credential), from: .local) } == .unauthenticated)
        #expect(test.hub.devices.count == 1)
        try await test.upkeep.sweep()
        #expect(test.hub.devices.isEmpty)
        #expect(try await test.backend.devices(ofUser: "ann").devices.isEmpty)
    }

    @Test("a device that signs in while its expired credential is swept stays signed in")
    func signInDuringSweep() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        _ = try await test.install(ann, "phone", handle: 1)
        test.clock.advance(by: .seconds(91 * 24 * 3600))
        test.hub.duringNextRemoval { _ = try? await test.install(ann, "phone", handle: 1) }
        try await test.upkeep.sweep()
        #expect(test.hub.devices.count == 1)
        #expect(try await test.backend.devices(ofUser: "ann").devices.map(\.id) == ["phone"])
        try await test.upkeep.sweep()
        #expect(test.hub.devices.count == 1)
    }

    @Test("a new credential voids the one before within five seconds")
    func replaced() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let (_, first) = try await test.install(ann, "phone", handle: 1)
        _ = try await test.install(ann, "phone", handle: 1)
        test.clock.advance(by: .seconds(5))
        #expect(await code { _ = try await test.backend.authenticate(.bearer(first), from: .local) } == .unauthenticated)
    }

    @Test(
        "a malformed environment, topic or platform names the field",
        arguments: [
            InstallationUpdate(platform: "wns", handle: nil), InstallationUpdate(handle: nil, environment: "testing"),
            InstallationUpdate(handle: nil, topic: "a\r\nb: c"), InstallationUpdate(handle: nil, topic: ""),
            InstallationUpdate(handle: nil, topic: "com.example/app"),
            InstallationUpdate(handle: nil, topic: String(repeating: "a", count: 129)),
            InstallationUpdate(handle: "xyz"),
        ])
    func malformed(_ update: InstallationUpdate) async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let id = try #require(InstallationID("phone"))
        #expect(
            await code { _ = try await test.backend.putInstallation(id: id, update: update, for: ann) } == .invalidField)
    }
}
