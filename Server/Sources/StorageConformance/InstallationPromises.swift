import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions
import Testing

/// What a `DeviceStore` promises of installations and of template registrations.
public enum InstallationPromises {
    /// Every promise.
    public static let all: [StoragePromise<HubStorage>] = [
        comesBack, derives, keepsKeys, movesTogether, removesTogether, tilesGoAlone, updates, updateUndone, confirmation,
        parksAll,
        forgetsAll, templatesOnce, guardsDerived, guardsRegistrations, asksFirst, addressed, expires,
    ]

    private static let id = "phone-1"

    private static func installation(_ change: (inout InstallationUpsert) -> Void = { _ in }) throws -> InstallationUpsert {
        let short = DeviceTemplate(
            name: "short", body: #"{"aps":{"alert":"$(text)"}}"#,
            headers: [.init(name: "apns-priority", value: "5"), .init(name: "apns-collapse-id", value: "$(c)")],
            expiry: "$(until)", priority: nil)
        let long = DeviceTemplate(name: "long one", body: #"{"aps":{"alert":"$(more)"}}"#)
        var result = InstallationUpsert(
            id: try Sample.record(id), handle: Sample.handle(1), topic: "com.example.app", userID: "ann",
            tags: Sample.tags(["news"]), pushVariables: ["lang": "nb"], details: ["x": "y"],
            templates: ["short": .init(short, tags: Sample.tags(["brief"])), "long one": .init(long)])
        change(&result)
        return result
    }

    private static func tiled() throws -> InstallationUpsert {
        let body = DeviceTemplate(name: "t", body: "<tile>$(a)</tile>", headers: [.init(name: "X-WNS-Type", value: "wns/tile")])
        let handle = DeviceToken(canonical: "https://example.test/tile")
        return InstallationUpsert(
            id: try Sample.record("pc"), platform: .wns, handle: DeviceToken(canonical: "https://example.test/main"),
            tags: Sample.tags(["news"]),
            tiles: ["w": .init(handle: handle, tags: Sample.tags(["w"]), templates: ["t": .init(body)])])
    }

    private static func records(_ storage: HubStorage, tag: String) async throws -> [DeviceRecord] {
        let tag = try #require(Tag.stored(tag))
        return try await storage.devices.devices(DeviceListRequest(.tag(tag)), in: Sample.hub).records
    }

    private static let comesBack = StoragePromise<HubStorage>("an installation comes back as it was put, tiles and headers too") {
        storage in
        for content in [
            try installation(), try tiled(),
            try installation {
                $0.handle = nil; $0.templates = [:]; $0.userID = nil
            },
        ] {
            let stored = try await storage.devices.put(content, in: Sample.hub, at: Sample.start)
            var expected = content
            expected.confirmsHandle = false
            let read = try #require(try await storage.devices.installation(content.id, in: Sample.hub))
            #expect(read.content == expected && stored.content == expected)
            #expect(read == stored && !read.isHandleExpired)
        }
        #expect(try await storage.devices.installation(try Sample.record("nobody"), in: Sample.hub) == nil)
        #expect(try await storage.devices.installation(try Sample.record(id), in: Sample.otherHub) == nil)
        _ = try await storage.devices.upsert(
            DeviceUpsert(id: try Sample.record("r"), kind: .registration, handle: Sample.handle(9)), in: Sample.hub,
            at: Sample.start)
        #expect(try await storage.devices.installation(try Sample.record("r"), in: Sample.hub) == nil)
    }

    private static let derives = StoragePromise<HubStorage>("each template is a record with the tags of all it belongs to") {
        storage in
        _ = try await storage.devices.put(try installation(), in: Sample.hub, at: Sample.start)
        let news = try await records(storage, tag: "news")
        #expect(news.count == 3 && news.map(\.sliceKey) == news.map(\.sliceKey).sorted())
        #expect(Set(news.map { $0.template?.name }) == [nil, "short", "long one"])
        #expect(try await records(storage, tag: "short").map(\.template?.name) == ["short"])
        #expect(try await records(storage, tag: "brief").map(\.template?.name) == ["short"])
        #expect(try await records(storage, tag: "$UserId:{ann}").count == 3)
        #expect(try await records(storage, tag: "$InstallationId:{\(id)}").count == 3)
        #expect(news.filter { $0.template != nil }.allSatisfy { $0.parent?.text == id && $0.id.isDerived && $0.topic != nil })
    }

    private static let keepsKeys = StoragePromise<HubStorage>("what stays of an installation keeps its keys, and versions count")
    {
        storage in
        _ = try await storage.devices.put(try installation(), in: Sample.hub, at: Sample.start)
        let before = try await records(storage, tag: "news")
        let second = try await storage.devices.put(
            try installation {
                $0.templates["long one"] = nil; $0.tags = Sample.tags(["news", "more"])
            }, in: Sample.hub,
            at: Sample.time(5))
        #expect(second.version == 2 && second.createdAt == Sample.start && second.registeredAt == Sample.time(5))
        let after = try await records(storage, tag: "more")
        #expect(after.count == 2 && after.allSatisfy { $0.version == 2 && $0.createdAt == Sample.start })
        #expect(Set(after.map(\.sliceKey)).isSubset(of: Set(before.map(\.sliceKey))))
        #expect(try await storage.devices.count(in: Sample.hub) == 2)
        #expect(try await records(storage, tag: "news").map(\.template?.name).contains("long one") == false)
    }

    private static let movesTogether = StoragePromise<HubStorage>("a new handle is that of every record of the installation") {
        storage in
        _ = try await storage.devices.put(try installation(), in: Sample.hub, at: Sample.start)
        _ = try await storage.devices.put(try installation { $0.handle = Sample.handle(2) }, in: Sample.hub, at: Sample.time(1))
        let old = DeviceListRequest(.handles([Sample.handle(1)], platform: .apns))
        let new = DeviceListRequest(.handles([Sample.handle(2)], platform: nil))
        #expect(try await storage.devices.devices(old, in: Sample.hub).records.isEmpty)
        #expect(try await storage.devices.devices(new, in: Sample.hub).records.count == 3)
    }

    private static let removesTogether = StoragePromise<HubStorage>("an installation goes with all that belongs to it") {
        storage in
        _ = try await storage.devices.put(try installation(), in: Sample.hub, at: Sample.start)
        #expect(try await storage.devices.remove(try Sample.record(id), in: Sample.hub))
        #expect(try await storage.devices.count(in: Sample.hub) == 0)
        for tag in ["news", "short", "$UserId:{ann}"] { #expect(try await records(storage, tag: tag).isEmpty) }
        #expect(try await storage.intake.audienceSize(.tag(try #require(Tag("news"))), in: Sample.hub, limit: 9) == 0)
    }

    private static let tilesGoAlone = StoragePromise<HubStorage>("a tile goes with its templates and leaves the rest") {
        storage in
        let content = try tiled()
        _ = try await storage.devices.put(content, in: Sample.hub, at: Sample.start)
        let tile = try #require(try await records(storage, tag: "w").first { $0.template == nil })
        #expect(tile.tile == "w" && tile.parent == content.id)
        #expect(try await storage.devices.remove(tile.id, in: Sample.hub))
        let rest = try #require(try await storage.devices.installation(content.id, in: Sample.hub))
        #expect(rest.content.tiles.isEmpty && rest.content.handle == content.handle)
        #expect(try await storage.devices.count(in: Sample.hub) == 1)
    }

    private static let updates = StoragePromise<HubStorage>("changes to an installation at the same time are all kept") {
        storage in
        _ = try await storage.devices.put(try installation(), in: Sample.hub, at: Sample.start)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let tag = try #require(Tag("t\(number)"))
                    _ = try await storage.devices.update(try Sample.record(id), in: Sample.hub, at: Sample.time(1)) {
                        var content = $0.content
                        content.tags.append(tag)
                        return content
                    }
                }
            }
            try await group.waitForAll()
        }
        let read = try #require(try await storage.devices.installation(try Sample.record(id), in: Sample.hub))
        #expect(Set(read.content.tags.map(\.text)) == Set((0..<20).map { "t\($0)" } + ["news"]) && read.version == 21)
        let none = try await storage.devices.update(try Sample.record("nobody"), in: Sample.hub, at: Sample.start) { $0.content }
        #expect(none == nil)
    }

    private static let updateUndone = StoragePromise<HubStorage>("a change that throws leaves the installation as it was") {
        storage in
        let before = try await storage.devices.put(try installation(), in: Sample.hub, at: Sample.start)
        let error = await #expect(throws: ServiceError.self) {
            _ = try await storage.devices.update(try Sample.record(id), in: Sample.hub, at: Sample.time(1)) { _ in
                throw ServiceError(.invalidField, "no")
            }
        }
        #expect(error?.code == .invalidField)
        #expect(try await storage.devices.installation(try Sample.record(id), in: Sample.hub) == before)
    }
}

extension InstallationPromises {
    private static func gone(_ storage: HubStorage, _ change: (inout SliceCheckpoint) -> Void) async throws {
        _ = try await storage.intake.accept(try Sample.send())
        let lease = try #require(try await storage.queue.lease(Sample.lease(1)).first)
        var checkpoint = SliceCheckpoint(lease: lease, now: Sample.time(3), disposition: .finish)
        change(&checkpoint)
        _ = try await storage.queue.checkpoint(checkpoint)
    }

    private static let confirmation = StoragePromise<HubStorage>(
        "a change that says nothing of the handle makes it no fresher; a new handle does"
    ) { storage in
        _ = try await storage.devices.put(try installation(), in: Sample.hub, at: Sample.start)
        let record = try Sample.record(id)
        let tagged = try await storage.devices.update(record, in: Sample.hub, at: Sample.time(5)) { $0.content }
        #expect(tagged?.registeredAt == Sample.start)
        let moved = try await storage.devices.update(record, in: Sample.hub, at: Sample.time(6)) {
            var content = $0.content
            content.handle = Sample.handle(2)
            return content
        }
        #expect(moved?.registeredAt == Sample.time(6))
        #expect(try await storage.devices.device(record, in: Sample.hub)?.registeredAt == Sample.time(6))
    }

    private static let parksAll = StoragePromise<HubStorage>(
        "a bad token makes all records of an installation inactive until it is confirmed"
    ) {
        storage in
        _ = try await storage.devices.put(try installation(), in: Sample.hub, at: Sample.start)
        let derived = try #require(try await records(storage, tag: "short").first)
        try await gone(storage) { $0.badTokens = [.init(key: derived.sliceKey, version: derived.version)] }
        #expect(try await records(storage, tag: "news").allSatisfy { $0.inactiveAt == Sample.time(3) })
        let record = try Sample.record(id)
        #expect(try await storage.devices.installation(record, in: Sample.hub)?.isHandleExpired == true)
        let kept = try await storage.devices.update(record, in: Sample.hub, at: Sample.time(4)) { $0.content }
        #expect(kept?.isHandleExpired == true)
        _ = try await storage.devices.put(try installation(), in: Sample.hub, at: Sample.time(5))
        #expect(try await records(storage, tag: "news").allSatisfy { $0.inactiveAt == nil })
    }

    private static let forgetsAll = StoragePromise<HubStorage>("a gone handle takes the whole installation") { storage in
        _ = try await storage.devices.put(try installation(), in: Sample.hub, at: Sample.start)
        try await gone(storage) {
            $0.forgotten = [.init(platform: .apns, handle: Sample.handle(1), since: Sample.time(2))]
        }
        #expect(try await storage.devices.count(in: Sample.hub) == 0)
    }

    private static let templatesOnce = StoragePromise<HubStorage>("records with one template read it back, whichever goes first")
    {
        storage in
        let template = DeviceTemplate(name: "n", body: #"{"a":"$(b)"}"#, priority: "5")
        for name in ["a", "b"] {
            let request = DeviceUpsert(
                id: try Sample.record(name), kind: .registration, handle: Sample.handle(1), template: template)
            _ = try await storage.devices.upsert(request, in: Sample.hub, at: Sample.start)
        }
        #expect(try await storage.devices.remove(try Sample.record("a"), in: Sample.hub))
        #expect(try await storage.devices.device(try Sample.record("b"), in: Sample.hub)?.template == template)
        let native = DeviceUpsert(id: try Sample.record("b"), kind: .registration, handle: Sample.handle(1))
        _ = try await storage.devices.upsert(native, in: Sample.hub, at: Sample.time(1))
        #expect(try await storage.devices.device(try Sample.record("b"), in: Sample.hub)?.template == nil)
    }

    private static let guardsDerived = StoragePromise<HubStorage>(
        "a registration replaces neither a record of an installation nor the installation, with templates or without"
    ) { storage in
        _ = try await storage.devices.put(try installation(), in: Sample.hub, at: Sample.start)
        let derived = try #require(try await records(storage, tag: "short").first)
        for target in [derived.id, try Sample.record(id)] {
            let error = await #expect(throws: ServiceError.self) {
                let request = DeviceUpsert(id: target, kind: .registration, handle: Sample.handle(3))
                _ = try await storage.devices.upsert(request, in: Sample.hub, at: Sample.time(1))
            }
            #expect(error?.code == .conflict)
        }
        #expect(try await storage.devices.count(in: Sample.hub) == 3)
        var bare = try installation()
        (bare.templates, bare.tiles) = ([:], [:])
        _ = try await storage.devices.put(bare, in: Sample.hub, at: Sample.time(1))
        let taking = DeviceUpsert(id: try Sample.record(id), kind: .registration, handle: Sample.handle(3))
        await #expect(throws: ServiceError.self) {
            _ = try await storage.devices.upsert(taking, in: Sample.hub, at: Sample.time(1))
        }
        #expect(try await storage.devices.device(try Sample.record(id), in: Sample.hub)?.kind == .installation)
        // What an app of the SDK says of itself replaces all that was said before.
        let request = DeviceUpsert(id: try Sample.record(id), kind: .installation, handle: Sample.handle(3))
        _ = try await storage.devices.upsert(request, in: Sample.hub, at: Sample.time(1))
        #expect(try await storage.devices.count(in: Sample.hub) == 1)
    }

    private static let guardsRegistrations = StoragePromise<HubStorage>(
        "what is put or removed as an installation leaves a registration of that name as it was"
    ) { storage in
        let request = DeviceUpsert(
            id: try Sample.record(id), kind: .registration, handle: Sample.handle(3), tags: Sample.tags(["plain"]))
        let before = try await storage.devices.upsert(request, in: Sample.hub, at: Sample.start).record
        let error = await #expect(throws: ServiceError.self) {
            _ = try await storage.devices.put(try installation(), in: Sample.hub, at: Sample.time(1))
        }
        #expect(error?.code == .conflict)
        #expect(try await !storage.devices.removeInstallation(try Sample.record(id), in: Sample.hub))
        #expect(try await storage.devices.device(try Sample.record(id), in: Sample.hub) == before)
        #expect(try await records(storage, tag: "plain").count == 1)
        #expect(try await storage.devices.remove(try Sample.record(id), in: Sample.hub))
        _ = try await storage.devices.put(try installation(), in: Sample.hub, at: Sample.time(2))
        let derived = try #require(try await records(storage, tag: "short").first)
        #expect(try await !storage.devices.removeInstallation(derived.id, in: Sample.hub))
        #expect(try await storage.devices.removeInstallation(try Sample.record(id), in: Sample.hub))
        #expect(try await storage.devices.count(in: Sample.hub) == 0)
    }

    private static let asksFirst = StoragePromise<HubStorage>(
        "a replacement or removal is checked against the whole stored installation, and a refusal leaves it as it was"
    ) { storage in
        let before = try await storage.devices.put(try installation(), in: Sample.hub, at: Sample.start)
        let derived = try #require(try await records(storage, tag: "short").first)
        let name = before.id
        let refuse: ReplacementCheck = { record, whole in
            guard whole?.content == before.content, [name, derived.id].contains(record.id) else { return }
            throw ServiceError(.forbidden, "no")
        }
        let (devices, later) = (storage.devices, Sample.time(1))
        let replacement = DeviceUpsert(id: name, kind: .installation, handle: Sample.handle(3))
        let changes: [@Sendable () async throws -> Void] = [
            { _ = try await devices.put(try installation(), in: Sample.hub, at: later, allowing: refuse) },
            { _ = try await devices.upsert(replacement, in: Sample.hub, at: later, allowing: refuse) },
            { _ = try await devices.removeInstallation(name, in: Sample.hub, allowing: refuse) },
            { _ = try await devices.remove(name, expecting: .none, in: Sample.hub, allowing: refuse) },
            { _ = try await devices.remove(derived.id, expecting: .none, in: Sample.hub, allowing: refuse) },
        ]
        for change in changes {
            let error = await #expect(throws: ServiceError.self) { try await change() }
            #expect(error?.code == .forbidden)
            #expect(try await devices.installation(name, in: Sample.hub) == before)
        }
        let free = DeviceUpsert(id: try Sample.record("nobody"), kind: .registration, handle: Sample.handle(4))
        let refuseAll: ReplacementCheck = { _, _ in throw ServiceError(.forbidden, "there was none to ask about") }
        _ = try await devices.upsert(free, in: Sample.hub, at: later, allowing: refuseAll)
    }

    private static let addressed = StoragePromise<HubStorage>("a user is found by a name of any characters, and by no other") {
        storage in
        let names = ["auth0|42", "ann+news@example.com", "a,b", "a b", "x{y'\"", "Ünï 🙂", "\u{301}a", "100%", "a_b"]
        for (number, name) in names.enumerated() {
            let content = try installation {
                $0.id = RecordID("i\(number),|") ?? $0.id
                ($0.userID, $0.handle) = (name, Sample.handle(number + 1))
            }
            _ = try await storage.devices.put(content, in: Sample.hub, at: Sample.start)
        }
        for (number, name) in names.enumerated() {
            let user = try #require(Tag.addressedUser(name))
            let phone = try #require(Tag.addressedInstallation("i\(number),|"))
            for tag in [user, phone] {
                let found = try await storage.devices.sample(
                    .tag(tag), format: .native(.apns), in: Sample.hub, at: Sample.time(1), limit: 10)
                #expect(found.map(\.handle) == [Sample.handle(number + 1)], "\(tag)")
            }
            let others = try await storage.devices.sample(
                .and(.tag(try #require(Tag("news"))), .not(.tag(user))), format: .native(.apns), in: Sample.hub,
                at: Sample.time(1), limit: 10)
            #expect(others.count == names.count - 1)
        }
    }

    private static let expires = StoragePromise<HubStorage>("what has expired is swept, and with an installation all of it") {
        storage in
        _ = try await storage.devices.put(try installation { $0.expiresAt = Sample.time(10) }, in: Sample.hub, at: Sample.start)
        _ = try await storage.devices.upsert(try Sample.device("stays", handle: 5), in: Sample.hub, at: Sample.start)
        #expect(try await storage.devices.sweep(expiredBefore: Sample.time(10), limit: 10) == 0)
        var swept = 0
        while true {
            let count = try await storage.devices.sweep(expiredBefore: Sample.time(11), limit: 2)
            guard count > 0 else { break }
            swept += 1
        }
        #expect(swept >= 1)
        #expect(try await storage.devices.count(in: Sample.hub) == 1)
        #expect(try await records(storage, tag: "short").isEmpty)
    }
}
