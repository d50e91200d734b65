import AppBackend
import PushHub
import RichPushModel
import ServiceErrors
import Testing

/// Changes of devices that were cut off between the binding and the hub.
@Suite("A change of a device that was cut off") struct CutOffChangeTests {
    /// The tags of the one device at the hub.
    private func tags(_ test: TestBackend) -> [Tag]? { test.hub.devices.count == 1 ? test.hub.devices.values.first?.tags : nil }

    private func unended(_ test: TestBackend) async throws -> [RecordID] {
        try await test.store.unendedChanges(begunBefore: test.clock.now + .seconds(3600), limit: 100)
    }

    @Test("before the hub heard of it ends with the hub saying what the binding says, and no push for the old user")
    func beforeTheHub() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        _ = try await test.install(ann, "phone", handle: 1)
        test.hub.failDevices(times: 1)
        #expect(await code { _ = try await test.install(bob, "phone", handle: 1) } == .storageUnavailable)
        #expect(tags(test) == [.user(ann.name)], "what is to be repaired")
        test.clock.advance(by: .seconds(120))
        try await test.upkeep.endChanges()
        #expect(tags(test) == [.user(ann.name)], "the request may still be under way")
        test.clock.advance(by: .seconds(1))
        try await test.upkeep.endChanges()
        #expect(tags(test) == [.user(bob.name)])
        #expect(try await unended(test).isEmpty)
    }

    @Test("while another change overtook it, and that wrote to the hub last, ends with the later binding")
    func overtaken() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        test.hub.losingNextUpsert { _ = try? await test.install(bob, "phone", handle: 1) }
        #expect(await code { _ = try await test.install(ann, "phone", handle: 1) } == .outcomeUnknown)
        #expect(tags(test) == [.user(ann.name)], "what is to be repaired")
        test.clock.advance(by: .seconds(121))
        try await test.upkeep.endChanges()
        #expect(tags(test) == [.user(bob.name)])
    }

    @Test("also ends for the registration that it replaced, where the hub does not know that a handle is one device's")
    func replaced() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        test.hub.keepsSameHandle()
        _ = try await test.install(ann, "old", handle: 1)
        test.hub.failDevices(times: 1)
        #expect(await code { _ = try await test.install(bob, "new", handle: 1) } == .storageUnavailable)
        _ = try await test.install(bob, "new", handle: 1)
        #expect(test.hub.devices.count == 2, "what is to be repaired: ann's pushes reach bob's phone")
        test.clock.advance(by: .seconds(121))
        try await test.upkeep.endChanges()
        #expect(tags(test) == [.user(bob.name)])
        #expect(try await unended(test).isEmpty)
    }

    @Test("to a record that was replaced gives the device back to the one that has its handle")
    func tookTheDevice() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        test.hub.losingNextUpsert { _ = try? await test.install(bob, "new", handle: 1) }
        #expect(await code { _ = try await test.install(ann, "old", handle: 1) } == .outcomeUnknown)
        #expect(tags(test) == [.user(ann.name)], "what is to be repaired")
        test.clock.advance(by: .seconds(121))
        try await test.upkeep.endChanges()
        #expect(tags(test) == [.user(bob.name)])
        #expect(test.hub.devices.keys.map(\.text) == ["new"])
    }

    @Test("to a record that has another handle since gives the former one back to the record that has it now")
    func tookAFormerHandle() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        test.hub.losingNextUpsert {
            _ = try? await test.install(ann, "one", handle: 2)
            _ = try? await test.install(bob, "two", handle: 1)
        }
        #expect(await code { _ = try await test.install(ann, "one", handle: 1) } == .outcomeUnknown)
        #expect(test.hub.devices.keys.map(\.text) == ["one"], "what is to be repaired: nothing reaches bob's phone")
        test.clock.advance(by: .seconds(121))
        try await test.upkeep.endChanges()
        #expect(test.hub.devices.mapValues(\.tags) == [try id("one"): [.user(ann.name)], try id("two"): [.user(bob.name)]])
    }

    @Test("of a user who is erased meanwhile leaves no device behind, whether the process lives or not")
    func erased() async throws {
        let test = try await TestBackend()
        for isCutOff in [false, true] {
            let ann = try await test.user("ann")
            let erase: @Sendable () async -> Void = { try? await test.backend.eraseUser(name: "ann") }
            if isCutOff { test.hub.losingNextUpsert(erase) } else { test.hub.duringNextUpsert(erase) }
            let failure = await code { _ = try await test.install(ann, "phone", handle: 1) }
            #expect(failure == (isCutOff ? .outcomeUnknown : .unauthenticated))
            #expect(test.hub.devices.isEmpty == !isCutOff)
            test.clock.advance(by: .seconds(121))
            try await test.upkeep.endChanges()
            #expect(test.hub.devices.isEmpty)
            #expect(try await unended(test).isEmpty)
        }
    }

    @Test("a late repair by a process that dies during it, while the device signs out, does not restore the device permanently")
    func repairedLate() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        _ = try await test.install(ann, "old", handle: 1)
        _ = try await test.install(bob, "new", handle: 1)
        try await test.store.begin(DeviceChange(try id("old")), at: test.clock.now)
        test.clock.advance(by: .seconds(121))
        test.hub.losingNextUpsert {
            guard let phone = InstallationID("new") else { return }
            try? await test.backend.deleteInstallation(id: phone, for: bob)
        }
        #expect(await code { try await test.upkeep.endChanges() } == .outcomeUnknown)
        #expect(tags(test) == [.user(bob.name)], "what is to be repaired")
        test.clock.advance(by: .seconds(121))
        try await test.upkeep.endChanges()
        #expect(test.hub.devices.isEmpty)
    }

    @Test("that the hub refuses for good is over, and the hub keeps nothing of the user before")
    func refused() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        _ = try await test.install(ann, "phone", handle: 1)
        test.hub.refuseDevices(.invalidField)
        #expect(await code { _ = try await test.install(ann, "phone", handle: 1) } == .invalidField)
        #expect(tags(test) == [.user(ann.name)], "what the hub said before is as good as nothing else")
        #expect(await code { _ = try await test.install(bob, "phone", handle: 1) } == .invalidField)
        #expect(test.hub.devices.isEmpty)
        #expect(try await unended(test).isEmpty)
        test.hub.refuseDevices(nil)
        _ = try await test.install(bob, "phone", handle: 1)
        #expect(tags(test) == [.user(bob.name)])
    }

    private func id(_ text: String) throws -> RecordID { try #require(RecordID(text)) }

    @Test("by a sign-out that overtook it does not bring the device back")
    func signedOut() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        test.hub.losingNextUpsert {
            guard let id = InstallationID("phone") else { return }
            try? await test.backend.deleteInstallation(id: id, for: ann)
        }
        #expect(await code { _ = try await test.install(ann, "phone", handle: 1) } == .outcomeUnknown)
        #expect(tags(test) == [.user(ann.name)], "what is to be repaired")
        test.clock.advance(by: .seconds(121))
        try await test.upkeep.endChanges()
        #expect(test.hub.devices.isEmpty)
    }

    @Test("is tried again while the hub fails, and leaves one note however often it is")
    func failing() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        _ = try await test.install(ann, "phone", handle: 1)
        test.hub.failDevices(times: 6)
        for _ in 1...3 {
            #expect(await code { _ = try await test.install(bob, "phone", handle: 1) } == .storageUnavailable)
        }
        for _ in 1...3 {
            test.clock.advance(by: .seconds(121))
            #expect(await code { try await test.upkeep.endChanges() } == .storageUnavailable)
            #expect(try await unended(test).map(\.text) == ["phone"])
        }
        test.clock.advance(by: .seconds(121))
        try await test.upkeep.endChanges()
        #expect(try await unended(test).isEmpty && tags(test) == [.user(bob.name)])
    }

    @Test("does not stay noted where all went well, or nothing came of it")
    func nothingLeft() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let (phone, _) = try await test.install(ann, "phone", handle: 1)
        #expect(await code { _ = try await test.register(bob, handle: 2, id: "phone") } == .registrationGone)
        try await test.backend.deleteInstallation(id: try #require(phone.installation), for: phone)
        try await test.backend.removeUser(name: "ann")
        #expect(await code { _ = try await test.install(ann, "second", handle: 3) } == .unauthenticated)
        #expect(try await unended(test).isEmpty)
    }
}
