import AppBackend
import PushHub
import RichPushModel
import ServiceErrors
import Testing

@Suite struct RegistrationTests {
    @Test(
        "by default no user gives their device the tag of a user, a role or a team",
        arguments: ["username:bob", "Role:admin", "team:red"])
    func protectedByDefault(_ tag: String) async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        #expect(await code { try await test.register(ann, handle: 1, tags: [tag]) } == .forbidden)
        try await test.register(ann, handle: 1, tags: ["beta"])
    }

    @Test("a new registration id is 128 random bits and stores nothing")
    func newID() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let first = try await test.backend.newRegistration(handle: Sample.handle(1), for: ann)
        let second = try await test.backend.newRegistration(handle: Sample.handle(1), for: ann)
        #expect(first.text.count == 32)
        #expect(first != second)
        #expect(test.hub.devices.isEmpty)
        #expect(await code { _ = try await test.backend.newRegistration(handle: "not hex", for: ann) } == .invalidField)
    }

    @Test("the server adds the signed-in user's own tag")
    func ownTag() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("Ann")
        let id = try await test.register(ann, handle: 1, tags: ["news", "username:ann"])
        let record = try #require(RecordID(id))
        let device = try #require(test.hub.devices[record])
        #expect(device.tags == [.user(ann.name), try #require(Tag("news"))])
        #expect(device.tags.first?.text == "username:Ann")
    }

    @Test("no user can give a device the tag of another user, whatever its case")
    func protectedTags() async throws {
        let test = try await TestBackend { $0.protectedTagPrefixes = ["username:", "role:"] }
        let ann = try await test.user("ann")
        for tag in ["username:bob", "USERNAME:bob", "username:", "Role:admin"] {
            #expect(await code { try await test.register(ann, handle: 1, tags: [tag]) } == .forbidden, "\(tag)")
        }
        #expect(test.hub.devices.isEmpty)
    }

    @Test("an unknown well-formed id is created again, as the rich push tutorial's phone needs after a 410")
    func createdAgain() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        try await test.register(ann, handle: 1, id: "7481203-1183-2")
        #expect(test.hub.devices.keys.map(\.text) == ["7481203-1183-2"])
    }

    @Test("the id of another user is gone for everybody who has not the same handle")
    func foreignID() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let id = try await test.register(ann, handle: 1)
        #expect(await code { try await test.register(bob, handle: 2, id: id) } == .registrationGone)
        let device = try #require(test.hub.devices.values.first)
        #expect(device.tags == [.user(ann.name)])
    }

    @Test("a phone that changed hands keeps its id, and the old user with their tags is gone from it")
    func handOver() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let id = try await test.register(ann, handle: 1, tags: ["news"])
        try await test.register(bob, handle: 1, id: id)
        #expect(test.hub.devices.values.map(\.tags) == [[.user(bob.name)]])
        // Ann is signed out there: what is sent to the tag she had reaches her no more.
        test.clock.advance(by: .seconds(1))
        let news = try await test.send(bob, to: "news")
        #expect(await code { _ = try await test.backend.details(of: news, for: ann) } == .notFound)
    }

    @Test("other registrations of a handle go at once")
    func sameHandle() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let old = try await test.register(ann, handle: 1)
        let kept = try await test.register(ann, handle: 2)
        let new = try await test.register(bob, handle: 1)
        #expect(Set(test.hub.devices.keys.map(\.text)) == [kept, new])
        let replaced = try #require(RecordID(old))
        #expect(try await test.store.currentBinding(of: replaced) == nil)
    }

    @Test("deleting a registration cannot touch another user's, and a repeat is harmless")
    func delete() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let id = try await test.register(ann, handle: 1)
        #expect(await code { try await test.backend.deleteRegistration(id: id, for: bob) } == .notFound)
        #expect(await code { try await test.backend.deleteRegistration(id: "unknown", for: bob) } == .notFound)
        #expect(await code { try await test.backend.deleteRegistration(id: "../../etc", for: bob) } == .notFound)
        #expect(test.hub.devices.count == 1)
        try await test.backend.deleteRegistration(id: id, for: ann)
        try await test.backend.deleteRegistration(id: id, for: ann)
        #expect(test.hub.devices.isEmpty)
    }

    @Test("a record that a hub key wrote is taken over only with the same handle")
    func hubRecord() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let record = try #require(RecordID("written-with-a-key"))
        let handle = try #require(DeviceToken(Sample.handle(9), platform: .apns))
        _ = try await test.hub.upsert(DeviceUpsert(id: record, kind: .registration, handle: handle))
        #expect(await code { try await test.register(ann, handle: 1, id: record.text) } == .registrationGone)
        try await test.register(ann, handle: 9, id: record.text)
        #expect(test.hub.devices[record]?.tags == [.user(ann.name)])
    }

    @Test("when the hub fails, nothing is lost and the same request repairs it")
    func hubFails() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        test.hub.failDevices(times: 1)
        #expect(await code { try await test.register(ann, handle: 1, id: "a") } == .storageUnavailable)
        try await test.register(ann, handle: 1, id: "a")
        #expect(test.hub.devices.count == 1)
    }

    @Test(
        "malformed requests name the field",
        arguments: [
            ("gcm", "00", [String](), "id"), ("apns", "0", [], "id"), ("apns", "", [], "id"), ("apns", "zz", [], "id"),
            ("apns", "00", ["with blank"], "id"), ("apns", "00", [""], "id"), ("apns", "00", ["$UserId:{x}"], "id"),
            ("apns", "00", [], "../up"), ("apns", "00", [], ""), ("apns", "00", [], "a\u{0}b"),
            ("apns", "00", (0..<60).map { "tag\($0)" }, "id"),
        ])
    func malformed(_ platform: String, _ handle: String, _ tags: [String], _ id: String) async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let found = await code {
            try await test.backend.putRegistration(id: id, platform: platform, handle: handle, tags: tags, for: ann)
        }
        #expect(found == .invalidField)
        #expect(test.hub.devices.isEmpty)
    }

    @Test("an unchanged registration makes no new binding")
    func unchanged() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let id = try await test.register(ann, handle: 1, tags: ["news"])
        let record = try #require(RecordID(id))
        let first = try await test.store.currentBinding(of: record)
        test.clock.advance(by: .seconds(60))
        try await test.register(ann, handle: 1, tags: ["news"], id: id)
        #expect(try await test.store.currentBinding(of: record) == first)
    }
}
