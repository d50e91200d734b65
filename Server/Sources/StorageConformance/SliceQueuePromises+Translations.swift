import ClarionTesting
import PushHub
import RichPushModel
import TagExpressions
import Testing

extension SliceQueuePromises {
    /// Sends that differ by the language of the device.
    static let ofTranslations: [StoragePromise<HubStorage>] = [
        choosesTheTranslation, choosesAgainForRetries, leavesOtherSends, keepsLanguages, forgetsTranslations, dividesUsers,
        countsGroups, reportsOutcomes,
    ]

    private static let choosesTheTranslation = StoragePromise<HubStorage>(
        "a page has the number of the translation of each device, and the bodies of those alone"
    ) { storage in
        let expected = try await Translations.register(storage)
        for audience in [nil, "t", "t && !u", "t || u", "!u"] {
            for isZoned in [false, true] {
                var send = try Sample.send(to: audience, due: Sample.start)
                send.message.translations = Translations.all
                if isZoned {
                    send.waves = [
                        SendWave(
                            moment: Sample.start, zones: [ZoneMoments.otherZones], query: try AudienceQuery(send.audience),
                            slices: SlicePlan(audience: 9))
                    ]
                }
                _ = try await storage.intake.accept(send)
                let lease = try #require(try await storage.queue.lease(Sample.lease(9, at: Sample.time(1))).first)
                let page = try #require(try await storage.queue.page(Sample.page(lease, at: Sample.time(1), limit: 50)))
                guard case .walk(let walk) = page.work else {
                    Issue.record("no walk")
                    return
                }
                let found = walk.targets.reduce(into: [:]) { $0[$1.record?.text ?? ""] = $1.template?.number ?? 0 }
                let matching = try expected.filter { name, _ in
                    let tags = Sample.tags(name.hasSuffix("-u") ? ["t", "u"] : ["t"])
                    return try audience.map { try TagExpression(parsing: $0).matches(Set(tags)) } ?? true
                }
                #expect(found == matching, "\(audience ?? "all"), zoned: \(isZoned)")
                let numbers = Set(matching.values.filter { $0 > 0 })
                #expect(page.translations.mapValues { String(decoding: $0, as: UTF8.self) } == Translations.bodies(of: numbers))
                _ = try await storage.queue.checkpoint(
                    SliceCheckpoint(lease: lease, now: Sample.time(1), disposition: .finish))
            }
        }
    }

    private static let choosesAgainForRetries = StoragePromise<HubStorage>(
        "a retry has the translation of the language that the device reports by then"
    ) { storage in
        var device = try Sample.device("one", handle: 1)
        device.languages = LanguagePreference(["sv"])
        let record = try await storage.devices.upsert(device, in: Sample.hub, at: Sample.start).record
        var send = try Sample.send(due: Sample.start)
        send.message.translations = Translations.all
        _ = try await storage.intake.accept(send)
        let lease = try #require(try await storage.queue.lease(Sample.lease(9, at: Sample.time(1))).first)
        var checkpoint = SliceCheckpoint(lease: lease, now: Sample.time(1), disposition: .keep(until: Sample.time(60)))
        checkpoint.pending = [
            PendingTarget(key: record.sliceKey, cause: .retry, attempts: 1, firstAt: Sample.time(1), notBefore: Sample.time(2))
        ]
        _ = try await storage.queue.checkpoint(checkpoint)
        device.languages = LanguagePreference(["de"])
        _ = try await storage.devices.upsert(device, in: Sample.hub, at: Sample.time(2))
        let page = try #require(try await storage.queue.page(Sample.page(lease, at: Sample.time(3))))
        guard case .retries(let due) = page.work else {
            Issue.record("no retries")
            return
        }
        #expect(due.map { $0.member?.template?.number } == [1])
        #expect(page.translations.count == 1)
    }

    private static let leavesOtherSends = StoragePromise<HubStorage>(
        "a send without translations has no numbers, whatever languages devices have"
    ) { storage in
        _ = try await Translations.register(storage)
        _ = try await storage.intake.accept(try Sample.send(to: "t", due: Sample.start))
        let lease = try #require(try await storage.queue.lease(Sample.lease(9, at: Sample.time(1))).first)
        let page = try #require(try await storage.queue.page(Sample.page(lease, at: Sample.time(1), limit: 50)))
        guard case .walk(let walk) = page.work else {
            Issue.record("no walk")
            return
        }
        #expect(walk.targets.count == 2 * Translations.devices.count)
        #expect(walk.targets.allSatisfy { $0.template == nil })
        #expect(page.translations.isEmpty)
    }

    private static let keepsLanguages = StoragePromise<HubStorage>(
        "a device keeps its languages when a client of the hub protocol replaces it, and changes them when it reports others"
    ) { storage in
        var device = try Sample.device("one", handle: 1)
        func languages(after report: LanguagePreference?) async throws -> String {
            device.languages = report
            _ = try await storage.devices.upsert(device, in: Sample.hub, at: Sample.start)
            return try #require(try await storage.devices.device(device.id, in: Sample.hub)).languages.stored
        }
        #expect(try await languages(after: nil).isEmpty)
        #expect(try await languages(after: LanguagePreference(["sv-SE", "de"])) == "sv-SE,de")
        let again = InstallationUpsert(id: device.id, handle: device.handle, tags: Sample.tags(["t"]))
        _ = try await storage.devices.put(again, in: Sample.hub, at: Sample.time(2))
        #expect(try await storage.devices.device(device.id, in: Sample.hub)?.languages.stored == "sv-SE,de")
        #expect(try await languages(after: nil) == "sv-SE,de")
        #expect(try await languages(after: LanguagePreference(["fr"])) == "fr")
        #expect(try await languages(after: LanguagePreference([])).isEmpty)
    }

    private static let forgetsTranslations = StoragePromise<HubStorage>("the translations of a send go with it") { storage in
        var device = try Sample.device("one", handle: 1)
        device.languages = LanguagePreference(["sv"])
        _ = try await storage.devices.upsert(device, in: Sample.hub, at: Sample.start)
        var send = try Sample.send(due: Sample.start)
        send.message.translations = Translations.all
        _ = try await storage.intake.accept(send)
        #expect(try await storage.intake.cancel(send.id, in: Sample.hub, at: Sample.time(1)))
        _ = try await storage.telemetry.sweep(endedBefore: Sample.time(2), at: Sample.time(2), limit: 10)
        // The same send once more would find what was left.
        _ = try await storage.intake.accept(send)
        let lease = try #require(try await storage.queue.lease(Sample.lease(9, at: Sample.time(3))).first)
        #expect(try await storage.queue.page(Sample.page(lease, at: Sample.time(3)))?.translations.count == 1)
    }
}

extension SliceQueuePromises {
    private static let dividesUsers = StoragePromise<HubStorage>(
        "a page of a send with groups has the translation of each user's group, for retries too"
    ) { storage in
        let send = try Translations.splitSend()
        let split = try #require(send.split)
        var expected: [String: Int64] = [:]
        var keys: [SliceKey] = []
        for number in 0..<250 {
            let user = try #require(UserName("user-\(number / 2)"))
            var device = try Sample.device("phone-\(number)", handle: number + 1)
            device.tags = [RichPushModel.Tag.user(user)]
            device.languages = number.isMultiple(of: 2) ? LanguagePreference(["sv"]) : nil
            keys.append(try await storage.devices.upsert(device, in: Sample.hub, at: Sample.start).record.sliceKey)
            let group = split.group(of: PushRecipient(user: user))
            expected["phone-\(number)"] = group == 2 ? 1 : number.isMultiple(of: 2) ? 2 : 0
        }
        _ = try await storage.intake.accept(send)
        let lease = try #require(try await storage.queue.lease(Sample.lease(9, at: Sample.time(1))).first)
        let page = try #require(try await storage.queue.page(Sample.page(lease, at: Sample.time(1))))
        guard case .walk(let walk) = page.work else {
            Issue.record("no walk")
            return
        }
        #expect(page.isSplit && page.translations.count == 2)
        #expect(walk.targets.reduce(into: [:]) { $0[$1.record?.text ?? ""] = $1.template?.number ?? 0 } == expected)
        var checkpoint = SliceCheckpoint(lease: lease, now: Sample.time(1), disposition: .keep(until: Sample.time(60)))
        checkpoint.pending = keys.prefix(40).map {
            PendingTarget(key: $0, cause: .retry, attempts: 1, firstAt: Sample.time(1), notBefore: Sample.time(2))
        }
        _ = try await storage.queue.checkpoint(checkpoint)
        let again = try #require(try await storage.queue.page(Sample.page(lease, at: Sample.time(3))))
        guard case .retries(let due) = again.work else {
            Issue.record("no retries")
            return
        }
        for target in due { #expect(target.member?.template?.number ?? 0 == expected[target.member?.record?.text ?? ""]) }
        #expect(due.count == 40)
    }

    private static let reportsOutcomes = StoragePromise<HubStorage>(
        "a send that reports outcomes names each device, in reports of at most 500, until they are removed or the send goes"
    ) { storage in
        var send = try Sample.send(due: Sample.start)
        send.reportsOutcomes = true
        _ = try await storage.intake.accept(send)
        let lease = try #require(try await storage.queue.lease(Sample.lease(9, at: Sample.time(1))).first)
        let request = PageRequest(lease: lease, now: Sample.time(1), limit: 9, scanLimit: 99, pendingLimit: 9)
        #expect(try await storage.queue.page(request)?.reportsOutcomes == true)
        var checkpoint = SliceCheckpoint(lease: lease, now: Sample.time(1), disposition: .finish)
        let names = (0..<1_100).compactMap { RecordID("d\($0)") }
        checkpoint.report = [
            OutcomeReport.Group(outcome: .accepted, devices: Array(names.prefix(900))),
            OutcomeReport.Group(outcome: .rejected, reason: "Topic\tDisallowed", devices: Array(names.suffix(200))),
        ]
        _ = try await storage.queue.checkpoint(checkpoint)
        func reports(_ hub: HubID = Sample.hub) async throws -> [OutcomeReport] {
            try await storage.telemetry.outcomeReports(of: send.id, limit: 9, in: hub)
        }
        let all = try await reports()
        #expect(all.map { $0.groups.reduce(0) { $0 + $1.devices.count } } == [500, 500, 100])
        #expect(all.flatMap(\.groups).flatMap(\.devices) == names)
        #expect(
            all.last?.groups == [OutcomeReport.Group(outcome: .rejected, reason: "Topic Disallowed", devices: names.suffix(100))])
        #expect(
            all.map(\.notedAt) == Array(repeating: Sample.time(1), count: 3) && all.map(\.number) == all.map(\.number).sorted())
        #expect(try await reports(Sample.otherHub).isEmpty)
        try await storage.telemetry.removeOutcomeReports([all[0].number, all[2].number], of: send.id, in: Sample.hub)
        #expect(try await reports() == [all[1]])
        _ = try await storage.telemetry.sweep(endedBefore: Sample.time(2), at: Sample.time(2), limit: 10)
        #expect(try await reports().isEmpty)
    }

    private static let countsGroups = StoragePromise<HubStorage>(
        "the outcomes of groups add up over pages and slices, and go with the send"
    ) { storage in
        let send = try Translations.splitSend()
        _ = try await storage.intake.accept(send)
        var lease = try #require(try await storage.queue.lease(Sample.lease(9, at: Sample.time(1))).first)
        for isLast in [false, true] {
            var checkpoint = SliceCheckpoint(
                lease: lease, now: Sample.time(1), disposition: isLast ? .finish : .keep(until: Sample.time(60)))
            checkpoint.tallies = [.accepted: 6, .gone: 1]
            checkpoint.groupTallies = [0: [.accepted: 1], 2: [.accepted: 5, .gone: 1]]
            _ = try await storage.queue.checkpoint(checkpoint)
            lease = checkpoint.lease
        }
        let expected: [Int: [TargetOutcome: Int]] = [0: [.accepted: 2], 2: [.accepted: 10, .gone: 2]]
        #expect(try await storage.telemetry.groupOutcomes(of: send.id, in: Sample.hub) == expected)
        #expect(try await storage.telemetry.groupOutcomes(of: send.id, in: Sample.otherHub).isEmpty)
        _ = try await storage.telemetry.sweep(endedBefore: Sample.time(2), at: Sample.time(2), limit: 10)
        #expect(try await storage.telemetry.groupOutcomes(of: send.id, in: Sample.hub).isEmpty)
    }
}

/// Devices and translations of the promises above.
private enum Translations {
    /// The second of two groups has a text of its own, and all others one in Swedish.
    static func splitSend() throws -> AcceptedSend {
        var send = try Sample.send(due: Sample.start)
        send.split = PushSplit(key: "spring", percents: [30, 40])
        send.message.translations = [
            PushTranslation(TranslationKey(nil, group: 2), body: Array(#"{"aps":{"alert":"two"}}"#.utf8)),
            PushTranslation(TranslationKey(LanguageTag("sv")), body: Array(#"{"aps":{"alert":"sv"}}"#.utf8)),
        ]
        return send
    }

    static let all = ["de", "sv", "pt-BR"].compactMap { tag in
        LanguageTag(tag).map { PushTranslation(TranslationKey($0), body: Array(#"{"aps":{"alert":"\#(tag)"}}"#.utf8)) }
    }

    /// The bodies by their numbers.
    static func bodies(of numbers: Set<Int64>) -> [TemplateID: String] {
        numbers.reduce(into: [:]) { $0[TemplateID($1)] = String(decoding: all[Int($1) - 1].body, as: UTF8.self) }
    }

    /// Names of devices, what they report, and the number of the translation that they get.
    static let devices: [(name: String, languages: [String]?, number: Int64)] = [
        ("german", ["de"], 1), ("swiss", ["de-CH-1996"], 1), ("swedish", ["sv_SE", "de"], 2), ("brazilian", ["pt-br"], 3),
        ("portuguese", ["pt-PT", "pt"], 0), ("second", ["fr", "sv"], 2), ("silent", nil, 0), ("none", [], 0),
        ("french", ["fr"], 0),
    ]

    /// Registers each twice, once with a second tag; returns the number for each.
    static func register(_ storage: HubStorage) async throws -> [String: Int64] {
        var numbers: [String: Int64] = [:]
        for (place, entry) in devices.enumerated() {
            for (name, tags) in [(entry.name, ["t"]), ("\(entry.name)-u", ["t", "u"])] {
                var device = try Sample.device(name, handle: 2 * place + tags.count, tags: tags)
                device.languages = entry.languages.map(LanguagePreference.init)
                _ = try await storage.devices.upsert(device, in: Sample.hub, at: Sample.start)
                numbers[name] = entry.number
            }
        }
        return numbers
    }
}
