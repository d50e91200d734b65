import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions
import Testing

/// What a `DeviceStore` promises of lists, preconditions and samples.
public enum DeviceListPromises {
    /// Every promise.
    public static let all: [StoragePromise<HubStorage>] = [
        pages, heavyPages, byTag, byHandle, otherPlatforms, preconditions, removalPreconditions, samples, sampledTwins,
        counts, countsTwins,
    ]

    private static func fill(_ storage: HubStorage, _ count: Int) async throws {
        for number in 0..<count {
            let tags = ["all"] + (number % 3 == 0 ? ["Third"] : [])
            let request = try Sample.device("d\(number)", handle: number, tags: tags)
            _ = try await storage.devices.upsert(request, in: Sample.hub, at: Sample.start)
        }
    }

    private static func pages(
        _ storage: HubStorage, _ selection: DeviceListRequest.Selection, limit: Int,
        byteLimit: Int = DeviceListRequest.maximumBytes
    ) async throws -> [[DeviceRecord]] {
        var pages: [[DeviceRecord]] = []
        var request = DeviceListRequest(selection, limit: limit)
        request.byteLimit = byteLimit
        while true {
            let page = try await storage.devices.devices(request, in: Sample.hub)
            pages.append(page.records)
            guard let next = page.next else { return pages }
            request.after = next
        }
    }

    private static let pages = StoragePromise<HubStorage>("a list passes every record once, in order, and ends with a full page")
    {
        storage in
        try await fill(storage, 12)
        let nowhere = DeviceUpsert(id: try Sample.record("silent"), kind: .installation, handle: nil)
        _ = try await storage.devices.upsert(nowhere, in: Sample.hub, at: Sample.start)
        for (limit, count) in [(5, 3), (6, 2), (12, 1), (100, 1), (1, 12)] {
            let found = try await pages(storage, .all, limit: limit)
            let keys = found.flatMap { $0 }.map(\.sliceKey)
            #expect(found.count == count && keys.count == 12 && keys == keys.sorted() && Set(keys).count == 12, "\(limit)")
        }
        #expect(try await storage.devices.devices(DeviceListRequest(.all), in: Sample.otherHub).records.isEmpty)
    }

    private static let heavyPages = StoragePromise<HubStorage>(
        "a page ends before the record that would be too much, has one at least, and the next goes on there"
    ) { storage in
        // More than are read at once; every third is as long as half a page.
        for number in 0..<210 {
            var request = try Sample.device("d\(number)", handle: number.isMultiple(of: 2) ? 0 : number, tags: ["all"])
            let length = number.isMultiple(of: 3) ? 5_000 : 1
            request.template = DeviceTemplate(name: nil, body: String(repeating: "x", count: length) + "\(number)")
            _ = try await storage.devices.upsert(request, in: Sample.hub, at: Sample.start)
        }
        let whole = try await pages(storage, .all, limit: 1_000)
        #expect(whole.map(\.count) == [210])
        let even = whole[0].filter { $0.handle == Sample.handle(0) }
        let selections: [(DeviceListRequest.Selection, [DeviceRecord])] = [
            (.all, whole[0]), (.tag(try #require(Tag("all"))), whole[0]), (.handles([Sample.handle(0)], platform: nil), even),
        ]
        #expect(even.count == 105)
        for (selection, records) in selections {
            for limit in [1_000, 150, 4] {
                let found = try await pages(storage, selection, limit: limit, byteLimit: 10_500)
                #expect(found.flatMap { $0 } == records)
                #expect(found.allSatisfy { $0.count == 1 || $0.reduce(0) { $0 + $1.textBytes } <= 10_500 })
                // Nothing that would still have had room was left to the next page.
                for (page, next) in zip(found, found.dropFirst()) where page.count < limit {
                    #expect(page.reduce(next[0].textBytes) { $0 + $1.textBytes } > 10_500)
                }
            }
        }
        #expect(try await pages(storage, .all, limit: 1_000, byteLimit: 1).allSatisfy { $0.count == 1 })
    }

    private static let byTag = StoragePromise<HubStorage>("a list by tag ignores case and pages as well") { storage in
        try await fill(storage, 10)
        let tag = try #require(Tag("tHIRD"))
        let found = try await pages(storage, .tag(tag), limit: 2)
        #expect(found.map(\.count) == [2, 2])
        #expect(Set(found.flatMap { $0 }.map(\.id.text)) == ["d0", "d3", "d6", "d9"])
        #expect(try await pages(storage, .tag(try #require(Tag("none"))), limit: 2) == [[]])
    }

    private static let byHandle = StoragePromise<HubStorage>("a list by handle takes several spellings, any platform or one") {
        storage in
        try await fill(storage, 3)
        _ = try await storage.devices.upsert(try Sample.device("twin", handle: 1), in: Sample.hub, at: Sample.start)
        let url = DeviceToken(canonical: "https://example.test/a%20b")
        let request = DeviceUpsert(id: try Sample.record("pc"), kind: .registration, platform: .wns, handle: url)
        _ = try await storage.devices.upsert(request, in: Sample.hub, at: Sample.start)
        let handles = [url, Sample.handle(1), url]
        #expect(
            Set(try await pages(storage, .handles(handles, platform: nil), limit: 9)[0].map(\.id.text)) == ["pc", "d1", "twin"])
        #expect(try await pages(storage, .handles(handles, platform: .wns), limit: 9)[0].map(\.id.text) == ["pc"])
        #expect(try await pages(storage, .handles(handles, platform: nil), limit: 2).map(\.count) == [2, 1])
        for (id, handle) in [("b1", "https://p.test/1 k s"), ("b2", "https://p.test/12 k s"), ("b3", "https://p.test/1 k2 s")] {
            _ = try await storage.devices.upsert(
                DeviceUpsert(
                    id: try Sample.record(id), kind: .registration, platform: .browser, handle: DeviceToken(canonical: handle)),
                in: Sample.hub, at: Sample.start)
        }
        for platform in [Platform.browser, nil] {
            let found = try await pages(
                storage, .handles([DeviceToken(canonical: "https://p.test/1")], platform: platform), limit: 9)
            #expect(Set(found[0].map(\.id.text)) == ["b1", "b3"], "the keys of a browser stand behind its endpoint")
        }
    }

    private static let otherPlatforms = StoragePromise<HubStorage>("registrations of every platform come back as they were given")
    {
        storage in
        for platform in Platform.known {
            let template = DeviceTemplate(name: nil, body: "{\"a\":\"$(ø)\"}")
            let request = DeviceUpsert(
                id: try Sample.record("\(platform.rawValue)-1"), kind: .registration, platform: platform,
                handle: DeviceToken(canonical: "ÆØÅ \(platform.rawValue)"), tags: Sample.tags(["x"]),
                template: template, pushVariables: ["a": "ø"], details: ["P256DH": "k", "Auth": "ü"])
            let stored = try await storage.devices.upsert(request, in: Sample.hub, at: Sample.start).record
            let read = try #require(try await storage.devices.device(request.id, in: Sample.hub))
            #expect(read == stored && read.template == template && read.details == request.details)
            #expect(read.pushVariables == ["a": "ø"] && read.platform == platform && read.handle == request.handle)
        }
    }

    private static let preconditions = StoragePromise<HubStorage>("a change is made only if the record is as expected") {
        storage in
        var request = try Sample.device("a", handle: 1)
        func code(_ precondition: DevicePrecondition) async throws -> ServiceErrorCode? {
            request.precondition = precondition
            do {
                _ = try await storage.devices.upsert(request, in: Sample.hub, at: Sample.start)
                return nil
            } catch let error as ServiceError { return error.code }
        }
        #expect(try await code(.exists) == .notFound)
        #expect(try await code(.version(1)) == .notFound)
        #expect(try await code(.absent) == nil)
        #expect(try await code(.absent) == .conflict)
        #expect(try await code(.version(1)) == nil)
        #expect(try await code(.version(1)) == .preconditionFailed)
        #expect(try await code(.exists) == nil)
        #expect(try await storage.devices.device(request.id, in: Sample.hub)?.version == 3)
    }

    private static let removalPreconditions = StoragePromise<HubStorage>("a record is removed only if it is as expected") {
        storage in
        let request = try Sample.device("a", handle: 1)
        _ = try await storage.devices.upsert(request, in: Sample.hub, at: Sample.start)
        let mismatch = await #expect(throws: ServiceError.self) {
            _ = try await storage.devices.remove(request.id, expecting: .version(2), in: Sample.hub)
        }
        #expect(mismatch?.code == .preconditionFailed)
        #expect(try await storage.devices.remove(request.id, expecting: .version(1), in: Sample.hub))
        let missing = await #expect(throws: ServiceError.self) {
            _ = try await storage.devices.remove(request.id, expecting: .exists, in: Sample.hub)
        }
        #expect(missing?.code == .notFound)
    }

    private static let sampledTwins = StoragePromise<HubStorage>(
        "of several records of one handle a sample has one, wherever it begins"
    ) { storage in
        for number in 0..<5 {
            _ = try await storage.devices.upsert(
                try Sample.device("twin\(number)", handle: 1, tags: ["all"]), in: Sample.hub, at: Sample.start)
        }
        for audience in [nil, "all", "all && !other"] as [String?] {
            let expression = try audience.map { try TagExpression(parsing: $0) }
            for _ in 1...20 {
                let found = try await storage.devices.sample(
                    expression, format: .native(.apns), in: Sample.hub, at: Sample.start, limit: 10)
                #expect(found.count == 1, "\(audience ?? "everyone")")
            }
        }
    }

    private static let samples = StoragePromise<HubStorage>("a sample has only whom the send would reach, each once") { storage in
        try await fill(storage, 20)
        let template = DeviceUpsert(
            id: try Sample.record("t"), kind: .registration, handle: Sample.handle(70), tags: Sample.tags(["all"]),
            template: DeviceTemplate(name: "n", body: "{}"))
        _ = try await storage.devices.upsert(template, in: Sample.hub, at: Sample.start)
        for (audience, format, limit, count) in [
            (nil, SendFormat.native(.apns), 100, 20), ("third", .native(.apns), 100, 7),
            ("all && !third", .native(.apns), 10, 10),
            (nil, .template, 10, 1), (nil, .native(.gcm), 10, 0), (nil, .native(.apns), 0, 0),
        ] as [(String?, SendFormat, Int, Int)] {
            let expression = try audience.map { try TagExpression(parsing: $0) }
            for _ in 1...5 {
                let found = try await storage.devices.sample(
                    expression, format: format, in: Sample.hub, at: Sample.start, limit: limit)
                #expect(found.count == count && Set(found.map(\.id)).count == count, "\(audience ?? "all") \(format.text)")
                #expect(found.allSatisfy { $0.isTarget(of: format) && (expression?.matches($0.matchingTags) ?? true) })
            }
        }
    }

    private static let counts = StoragePromise<HubStorage>("a count has whom the send would reach, and says when it stopped") {
        storage in
        try await fill(storage, 20)
        for (audience, format, limit, count, isComplete) in [
            (nil, .native(.apns), 100, 20, true), ("third", .native(.apns), 100, 7, true),
            ("all && !third", .native(.apns), 100, 13, true), ("third || all", .native(.apns), 100, 20, true),
            ("unused", .native(.apns), 100, 0, true), (nil, .native(.gcm), 100, 0, true), (nil, .template, 100, 0, true),
            ("all", .native(.apns), 20, 20, true), ("all", .native(.apns), 19, 19, false),
            ("!third", .native(.apns), 5, 5, false),
        ] as [(String?, SendFormat, Int, Int, Bool)] {
            let expression = try audience.map { try TagExpression(parsing: $0) }
            let found = try await storage.devices.count(
                expression, format: format, in: Sample.hub, at: Sample.start, limit: limit)
            #expect(
                found == AudienceCount(targets: count, isComplete: isComplete), "\(audience ?? "all") \(format.text) \(limit)")
        }
    }

    private static let countsTwins = StoragePromise<HubStorage>(
        "a count has each handle once, and no record that has expired or has no handle"
    ) { storage in
        for number in 0..<5 {
            _ = try await storage.devices.upsert(
                try Sample.device("twin\(number)", handle: 1, tags: ["all"]), in: Sample.hub, at: Sample.start)
        }
        var old = try Sample.device("old", handle: 2, tags: ["all"])
        old.expiresAt = Sample.time(5)
        _ = try await storage.devices.upsert(old, in: Sample.hub, at: Sample.start)
        let silent = DeviceUpsert(
            id: try Sample.record("silent"), kind: .installation, handle: nil, tags: Sample.tags(["all"]))
        _ = try await storage.devices.upsert(silent, in: Sample.hub, at: Sample.start)
        for (second, count) in [(Int64(1), 2), (9, 1)] {
            let found = try await storage.devices.count(
                try TagExpression(parsing: "all"), format: .native(.apns), in: Sample.hub, at: Sample.time(second), limit: 9)
            #expect(found == AudienceCount(targets: count, isComplete: true))
        }
        let elsewhere = try await storage.devices.count(
            nil, format: .native(.apns), in: Sample.otherHub, at: Sample.start, limit: 9)
        #expect(elsewhere.targets == 0)
    }
}
