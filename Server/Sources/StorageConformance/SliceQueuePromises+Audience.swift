import ClarionTesting
import PushHub
import RichPushModel
import TagExpressions
import Testing

import struct RichPushModel.Tag

extension SliceQueuePromises {
    /// Which records a send means: the walk, another try and the search for twins have to agree.
    static let ofAudience: [StoragePromise<HubStorage>] = [meansRecords, agreesWithExpressions, searchesTwinsInAudience]

    private static let meansRecords = StoragePromise<HubStorage>(
        "the audience of a send is every record with a usable device token that was registered before it and matches"
    ) { storage in
        let keys = try await registerStates(storage)
        let audiences: [(String?, Set<String>)] = [
            ("t && !u", ["meant", "expiring", "ahead"]), ("(t || none) && !u", ["meant", "expiring", "ahead"]),
            ("t", ["meant", "expiring", "ahead", "other"]), ("!u", ["meant", "expiring", "ahead"]),
            (nil, ["meant", "expiring", "ahead", "other"]),
        ]
        let sends = try audiences.map { try Sample.send(to: $0.0) }
        for send in sends { _ = try await storage.intake.accept(send) }
        // The clock says nothing about which was first.
        let late = try Sample.device("late", handle: 9, tags: ["t"])
        let lateKey = try await storage.devices.upsert(late, in: Sample.hub, at: Sample.time(-86_400)).record.sliceKey
        let leases = try await storage.queue.lease(Sample.lease(99))
        for (send, (audience, names)) in zip(sends, audiences) {
            let lease = try #require(leases.first { $0.id.notification == send.id })
            guard case .walk(let walk) = try await storage.queue.page(Sample.page(lease, at: Sample.time(10)))?.work else {
                Issue.record("there is something to walk")
                continue
            }
            #expect(Set(walk.targets.compactMap(\.record?.text)) == names, "\(audience ?? "all")")
            #expect(walk.targets.count == names.count && walk.through == lease.last)
            let due = try await retries(of: Array(keys.values) + [lateKey], lease, storage)
            #expect(Set(due.compactMap { $0.member?.record?.text }) == names, "\(audience ?? "all")")
            #expect(due.count == keys.count + 1)
        }
    }

    /// One record in each state, by name.
    private static func registerStates(_ storage: HubStorage) async throws -> [String: SliceKey] {
        var requests: [DeviceUpsert] = []
        for (number, name) in ["meant", "expiring", "expired", "ahead", "other", "inactive"].enumerated() {
            requests.append(try Sample.device(name, handle: number, tags: name == "other" ? ["t", "U"] : ["t"]))
        }
        requests[1].expiresAt = Sample.time(100)
        requests[2].expiresAt = Sample.time(10)
        var keys: [String: SliceKey] = [:]
        for request in requests {
            let now = request.id.text == "ahead" ? Sample.time(86_400) : Sample.start
            keys[request.id.text] = try await storage.devices.upsert(request, in: Sample.hub, at: now).record.sliceKey
        }
        let tokenless = InstallationUpsert(id: try Sample.record("tokenless"), handle: nil, tags: Sample.tags(["t"]))
        _ = try await storage.devices.put(tokenless, in: Sample.hub, at: Sample.start)
        keys["tokenless"] = try await storage.devices.device(tokenless.id, in: Sample.hub)?.sliceKey
        _ = try await storage.intake.accept(try Sample.send(to: "none"))
        let lease = try #require(try await storage.queue.lease(Sample.lease(1)).first)
        var checkpoint = SliceCheckpoint(lease: lease, now: Sample.start, disposition: .finish)
        checkpoint.badTokens = [.init(key: try #require(keys["inactive"]), version: 1)]
        _ = try await storage.queue.checkpoint(checkpoint)
        return keys
    }

    /// Ends the walk with a pending row for each key, and reads them ten seconds later.
    private static func retries(
        of keys: [SliceKey], _ lease: SliceLease, _ storage: HubStorage
    ) async throws -> SlicePage.DueTargets {
        var walked = lease
        walked.cursor = lease.last
        var checkpoint = SliceCheckpoint(lease: walked, now: Sample.start, disposition: .keep(until: Sample.time(60)))
        checkpoint.pending = keys.map {
            PendingTarget(key: $0, cause: .retry, attempts: 1, firstAt: Sample.start, notBefore: Sample.start)
        }
        _ = try await storage.queue.checkpoint(checkpoint)
        guard case .retries(let due) = try await storage.queue.page(Sample.page(walked, at: Sample.time(10)))?.work else {
            return []
        }
        _ = try await storage.queue.checkpoint(SliceCheckpoint(lease: walked, now: Sample.start, disposition: .finish))
        return due
    }

    private static let searchesTwinsInAudience = StoragePromise<HubStorage>(
        "a record that the send does not mean takes no push from another one with its device token"
    ) { storage in
        let names = try (0..<12).map { try Sample.record("r\($0)") }.sorted { SliceKey(of: $0) < SliceKey(of: $1) }
        // In order of key: the third and the last match, each behind others that do not.
        for (place, name) in names.enumerated() {
            let tags = place == 2 || place == 11 ? ["t"] : ["u"]
            _ = try await storage.devices.upsert(
                try Sample.device(name.text, handle: 1, tags: tags), in: Sample.hub, at: Sample.start)
        }
        for audience in ["t", "t || none", "t && !none", "!u"] {
            let send = try Sample.send(to: audience)
            _ = try await storage.intake.accept(send)
            let lease = try #require(try await storage.queue.lease(Sample.lease(1)).first)
            guard case .walk(let walk) = try await storage.queue.page(Sample.page(lease))?.work else {
                Issue.record("there is something to walk")
                continue
            }
            #expect(walk.targets.map(\.record) == [names[2], names[11]], "\(audience)")
            #expect(walk.targets.map(\.isSkipped) == [false, true], "\(audience)")
            _ = try await storage.queue.checkpoint(SliceCheckpoint(lease: lease, now: Sample.start, disposition: .finish))
        }
    }
}

extension SliceQueuePromises {
    private static let agreesWithExpressions = StoragePromise<HubStorage>(
        "for random audiences and records a walk in pages passes every match once and in order, and marks all twins but the lowest"
    ) { storage in
        var random = SeededGenerator()
        print("seed \(random.seed)")
        let records = try await registerAtRandom(storage, &random)
        let alternatives = (0..<20).map { TagExpression.tag(Tag("t\($0)")!) }
        var audiences: [TagExpression?] = [nil, TagExpression.any(alternatives)]
        for _ in 0..<24 { audiences.append(RandomAudience.expression(&random)) }
        for audience in audiences {
            for format in [SendFormat.native(.apns), .template] {
                let send = SendKindPromises.send(format, to: SendRecipients(audience))
                let lease = try await SendKindPromises.leased(storage, send)
                let what = "seed \(random.seed): \(format.text) to \(audience?.description ?? "all")"
                let (found, limit) = try await walked(lease, storage, &random)
                let meant = records.filter { $0.isTarget(of: format) && audience?.matches($0.matchingTags) != false }
                #expect(found.map(\.key) == meant.map(\.sliceKey), "\(what), \(limit) at a time")
                #expect(found.map(\.isSkipped) == twins(meant), "\(what), \(limit) at a time")
                let asked = records.shuffled(using: &random).prefix(20)
                let due = try await retries(of: asked.map(\.sliceKey), lease, storage)
                let expected = Set(asked.map(\.sliceKey)).intersection(meant.map(\.sliceKey))
                #expect(Set(due.compactMap { $0.member?.key }) == expected, "another try of \(what)")
            }
        }
    }

    /// In order of key.
    private static func registerAtRandom(
        _ storage: HubStorage, _ random: inout SeededGenerator
    ) async throws -> [DeviceRecord] {
        var records: [DeviceRecord] = []
        for number in 0..<150 {
            let kind = Int.random(in: 0..<4, using: &random)
            let name = ["a", "b"].randomElement(using: &random)
            var request = try Sample.device("r\(number)", handle: Int.random(in: 0..<60, using: &random))
            request.tags = RandomAudience.tags.filter { _ in Int.random(in: 0..<5, using: &random) < 2 }
            request.tags += (0..<20).filter { _ in Int.random(in: 0..<20, using: &random) == 0 }.compactMap { Tag("t\($0)") }
            request.platform = kind == 0 ? .gcm : .apns
            request.template = kind == 1 ? DeviceTemplate(name: name, body: "{\"n\":1}") : nil
            if kind == 1 { request.kind = .registration }
            records.append(try await storage.devices.upsert(request, in: Sample.hub, at: Sample.start).record)
        }
        return records.sorted { $0.sliceKey < $1.sliceKey }
    }

    /// All targets of a slice, read in pages of one random size.
    private static func walked(
        _ lease: SliceLease, _ storage: HubStorage, _ random: inout SeededGenerator
    ) async throws -> (found: [TargetPage.Target], limit: Int) {
        var lease = lease
        var found: [TargetPage.Target] = []
        let limit = Int.random(in: 5...80, using: &random)
        let scanLimit = Int.random(in: 10...200, using: &random)
        while lease.cursor < lease.last {
            let request = PageRequest(lease: lease, now: Sample.start, limit: limit, scanLimit: scanLimit, pendingLimit: 50)
            guard case .walk(let walk) = try await storage.queue.page(request)?.work, walk.through > lease.cursor else {
                Issue.record("the walk goes on until its end")
                break
            }
            #expect(walk.targets.count <= limit)
            found += walk.targets
            lease.cursor = walk.through
        }
        return (found, limit)
    }

    /// Of each whether a record before it has the same device token and form.
    private static func twins(_ records: [DeviceRecord]) -> [Bool] {
        var seen: Set<String> = []
        return records.map { record in
            let form = record.template.map { "template \($0.name ?? "")" } ?? "native"
            return !seen.insert("\(record.platform.rawValue) \(record.handle?.text ?? "") \(form)").inserted
        }
    }
}

/// Expressions of at most six tags.
private enum RandomAudience {
    static let tags = ["a", "B", "c", "d", "e"].compactMap { Tag($0) }

    static func expression(_ random: inout SeededGenerator) -> TagExpression {
        var left = TagExpressionLimits.tags
        return tree(&left, depth: 5, &random)
    }

    private static func tree(_ left: inout Int, depth: Int, _ random: inout SeededGenerator) -> TagExpression {
        let kind = depth == 0 || left <= 1 ? 0 : Int.random(in: 0...4, using: &random)
        switch kind {
        case 1: return .not(tree(&left, depth: depth - 1, &random))
        case 2...4:
            left -= 1
            let first = tree(&left, depth: depth - 1, &random)
            let second = tree(&left, depth: depth - 1, &random)
            return kind == 2 ? .and(first, second) : .or(first, second)
        default:
            // Each device is an installation besides, which a tag of its own addresses.
            let one = Tag.stored("$InstallationId:{r\(Int.random(in: 0..<150, using: &random))}")
            let all = tags + [one].compactMap(\.self)
            return .tag(all.randomElement(using: &random) ?? all[0])
        }
    }
}
