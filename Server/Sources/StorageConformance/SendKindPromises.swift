import PushHub
import RichPushModel
import TagExpressions
import Testing

/// What the ports promise of template sends, sends of other platforms, sends to handles, and feedback.
public enum SendKindPromises {
    /// Every promise.
    public static let all: [StoragePromise<HubStorage>] =
        [
            meansItsKind, reachesPlatforms, forgetsPlatforms, readsTemplates, walksHandles, retriesHandles, forgetsHandles,
            countsByPlatform, tellsOfSends,
            tellsOfMany,
            keepsFeedback,
            sweepsFeedback,
        ] + errors

    static func send(
        _ format: SendFormat, to recipients: SendRecipients = .everyone, body: String = "{}"
    ) -> AcceptedSend {
        AcceptedSend(
            hub: Sample.hub, id: NotificationID(),
            message: AcceptedMessage(body: Array(body.utf8), pushType: "", priority: 0, format: format), recipients: recipients,
            enqueuedAt: Sample.start, dueAt: Sample.start,
            slices: recipients.handles.map { SlicePlan(handles: $0.count) } ?? SlicePlan(audience: 100))
    }

    /// Takes the one slice of a send that was just accepted.
    static func leased(_ storage: HubStorage, _ send: AcceptedSend) async throws -> SliceLease {
        #expect(try await storage.intake.accept(send) == .accepted)
        return try #require(try await storage.queue.lease(Sample.lease(4)).first { $0.id.notification == send.id })
    }

    private static func walk(_ storage: HubStorage, _ lease: SliceLease, limit: Int = 1000) async throws -> SlicePage.Walk {
        let page = try #require(try await storage.queue.page(Sample.page(lease, limit: limit)))
        guard case .walk(let walk) = page.work else {
            Issue.record("there is something to walk")
            return .init(targets: [], through: .last)
        }
        return walk
    }

    private static func device(
        _ name: String, _ platform: Platform, template: String? = nil, tags: [String] = ["t"]
    ) throws -> DeviceUpsert {
        DeviceUpsert(
            id: try Sample.record(name), kind: .registration, platform: platform, handle: DeviceToken(canonical: "ABCD"),
            tags: Sample.tags(tags), template: template.map { DeviceTemplate(name: $0, body: "{\"n\":\"\($0)\"}") })
    }

    private static func fill(_ storage: HubStorage) async throws {
        for request in [
            try device("apns", .apns), try device("adm", .adm), try device("apns-a", .apns, template: "a"),
            try device("apns-b", .apns, template: "b"), try device("adm-a", .adm, template: "a"),
            try device("apns-a-again", .apns, template: "a", tags: []),
        ] { _ = try await storage.devices.upsert(request, in: Sample.hub, at: Sample.start) }
    }

    private static let meansItsKind = StoragePromise<HubStorage>(
        "a send means the targets of its kind, by every way to find them"
    ) {
        storage in
        try await fill(storage)
        let kinds: [(SendFormat, String?, Set<String>)] = [
            (.native(.apns), nil, ["apns"]), (.native(.adm), nil, ["adm"]), (.native(.wns), nil, []),
            (.template, nil, ["apns-a", "apns-b", "adm-a", "apns-a-again"]),
            (.native(.apns), "t", ["apns"]), (.template, "t", ["apns-a", "apns-b", "adm-a"]),
            (.template, "t || none", ["apns-a", "apns-b", "adm-a"]), (.native(.adm), "!none", ["adm"]),
            (.template, "!t", ["apns-a-again"]),
        ]
        for (format, audience, names) in kinds {
            let expression = try audience.map { try TagExpression(parsing: $0) }
            let lease = try await leased(storage, send(format, to: SendRecipients(expression)))
            let walk = try await walk(storage, lease)
            #expect(Set(walk.targets.compactMap(\.record?.text)) == names, "\(format.text) \(audience ?? "all")")
            #expect(walk.targets.count == names.count && walk.through == lease.last)
            // Only templates of one name on one device count as twins.
            let skipped = walk.targets.filter(\.isSkipped).count
            #expect(skipped == (format == .template && audience == nil ? 1 : 0), "\(format.text) \(audience ?? "all")")
        }
    }

    private static let reachesPlatforms = StoragePromise<HubStorage>(
        "of a send to every platform each slice has the devices of one, and says for whose the message is"
    ) { storage in
        try await fill(storage)
        for name in ["browser-1", "browser-2"] {
            let request = try device(name, .browser, tags: name == "browser-1" ? ["t"] : ["t", "u"])
            _ = try await storage.devices.upsert(request, in: Sample.hub, at: Sample.start)
        }
        let entry = try #require(Platform.browser.indexEntry)
        let audience = try TagExpression(parsing: "t && !u")
        let compiled = try await storage.intake.compile(audience, in: Sample.hub, limit: 100, counting: [entry])
        #expect(compiled.entrySizes == [entry: 2])
        var send = send(.native(.apns), to: .matching(audience))
        send.others = [
            PlatformPart(
                platform: .browser, query: try #require(AudienceQuery(audience, amongAnyOf: [entry])),
                slices: SlicePlan(audience: 2))
        ]
        #expect(try await storage.intake.accept(send) == .accepted)
        var found: [SendFormat: [String?]] = [:]
        for lease in try await storage.queue.lease(Sample.lease(4)) where lease.id.notification == send.id {
            let page = try #require(try await storage.queue.page(Sample.page(lease)))
            guard case .walk(let walk) = page.work else { continue }
            found[page.message.format] = walk.targets.map(\.record?.text)
            #expect(page.message.bodyPlatform == (page.message.format == .native(.browser) ? .apns : nil))
        }
        #expect(found == [.native(.apns): ["apns"], .native(.browser): ["browser-1"]])
    }

    private static let forgetsPlatforms = StoragePromise<HubStorage>("a browser that goes is in no entry of the index") {
        storage in
        let entry = try #require(Platform.browser.indexEntry)
        func count() async throws -> Int? {
            try await storage.intake.compile(nil, in: Sample.hub, limit: 100, counting: [entry]).entrySizes[entry]
        }
        _ = try await storage.devices.upsert(try device("browser", .browser), in: Sample.hub, at: Sample.start)
        #expect(try await count() == 1)
        _ = try await storage.devices.upsert(try device("browser", .apns), in: Sample.hub, at: Sample.start)
        #expect(try await count() == 0)
    }

    private static let readsTemplates = StoragePromise<HubStorage>("a page brings the templates of its targets, each once") {
        storage in
        try await fill(storage)
        let lease = try await leased(storage, send(.template))
        let page = try #require(try await storage.queue.page(Sample.page(lease)))
        #expect(Set(page.templates.values.map(\.name)) == ["a", "b"] && page.templates.count == 2)
        #expect(page.work.templates == Set(page.templates.keys) && page.message.format == .template)
    }

    private static let walksHandles = StoragePromise<HubStorage>("a send to handles walks them in order of position, in pages") {
        storage in
        let handles = (1...25).map(Sample.handle)
        var lease = try await leased(storage, send(.native(.apns), to: .handles(handles)))
        var walked: [TargetPage.Target] = []
        while lease.cursor < lease.last {
            let walk = try await walk(storage, lease, limit: 10)
            #expect(walk.targets.count <= 10 && walk.targets.allSatisfy { !$0.isSkipped })
            walked += walk.targets
            lease.cursor = walk.through
        }
        #expect(walked.map(\.handle) == handles && walked.map(\.key) == (1...25).map { SliceKey($0) })
        #expect(walked.allSatisfy { $0.record == nil && $0.platform == .apns })
    }

    private static let retriesHandles = StoragePromise<HubStorage>(
        "a handle of a send to handles comes back when its retry is due"
    ) {
        storage in
        var lease = try await leased(storage, send(.native(.apns), to: .handles((1...3).map(Sample.handle))))
        lease.cursor = lease.last
        var checkpoint = SliceCheckpoint(lease: lease, now: Sample.start, disposition: .keep(until: Sample.time(60)))
        checkpoint.pending = [2, 9].map {
            PendingTarget(key: SliceKey($0), cause: .retry, attempts: 1, firstAt: Sample.start, notBefore: Sample.start)
        }
        _ = try await storage.queue.checkpoint(checkpoint)
        let page = try #require(try await storage.queue.page(Sample.page(lease)))
        guard case .retries(let due) = page.work else {
            Issue.record("retries are due")
            return
        }
        #expect(due.map(\.member?.handle) == [Sample.handle(2), nil])
    }

    private static let forgetsHandles = StoragePromise<HubStorage>("what is over keeps no handles") { storage in
        let cancelled = send(.native(.apns), to: .handles([Sample.handle(1)]))
        let lease = try await leased(storage, cancelled)
        #expect(try await storage.intake.cancel(cancelled.id, in: Sample.hub, at: Sample.time(1)))
        let page = try #require(try await storage.queue.page(Sample.page(lease)))
        #expect(page.state == .cancelled && page.work == .wait)
        let done = send(.native(.apns), to: .handles([Sample.handle(1)]))
        let second = try await leased(storage, done)
        let finish = SliceCheckpoint(lease: second, now: Sample.time(2), disposition: .finish)
        #expect(try await storage.queue.checkpoint(finish) == .stored(ended: .completed))
    }

    private static let countsByPlatform = StoragePromise<HubStorage>("counts are kept by platform and add up over all") {
        storage in
        let send = send(.template, body: #"{"a":"b"}"#)
        let lease = try await leased(storage, send)
        var checkpoint = SliceCheckpoint(lease: lease, now: Sample.start, disposition: .keep(until: Sample.time(60)))
        checkpoint.tallies = [.accepted: 3, .skipped: 1]
        checkpoint.otherTallies = [.gcm: [.skipped: 2], .wns: [.skipped: 5]]
        for _ in 1...2 { _ = try await storage.queue.checkpoint(checkpoint) }
        let telemetry = try #require(try await storage.telemetry.telemetry(of: send.id, in: Sample.hub, at: Sample.start))
        #expect(telemetry.outcomes == [.accepted: 6, .skipped: 16])
        #expect(
            telemetry.platformOutcomes == [.apns: [.accepted: 6, .skipped: 2], .gcm: [.skipped: 4], .wns: [.skipped: 10]])
    }

    private static let tellsOfSends = StoragePromise<HubStorage>("telemetry says what was sent, how and to whom") { storage in
        let audience = try TagExpression(parsing: "a && !b")
        let sends = [
            send(.template, to: .matching(audience), body: #"{"a":"b"}"#), send(.native(.gcm)),
            send(.native(.apns), to: .handles([Sample.handle(1)])),
        ]
        for send in sends {
            _ = try await storage.intake.accept(send)
            let telemetry = try #require(try await storage.telemetry.telemetry(of: send.id, in: Sample.hub, at: Sample.start))
            #expect(telemetry.format == send.message.format && telemetry.audience == send.audience)
            #expect(telemetry.isDirect == (send.recipients.handles != nil) && telemetry.body == send.message.body)
        }
    }

    private static let tellsOfMany = StoragePromise<HubStorage>("of several sends telemetry says at once what it says of each") {
        storage in
        let sends = [send(.template, body: #"{"a":"b"}"#), send(.native(.gcm)), send(.native(.apns))]
        for (number, send) in sends.enumerated() {
            var checkpoint = SliceCheckpoint(
                lease: try await leased(storage, send), now: Sample.start,
                disposition: number == 0 ? .finish : .keep(until: Sample.time(60)))
            checkpoint.tallies = [.accepted: number + 1, .rejected: 1]
            checkpoint.otherTallies = [.wns: [.skipped: number]]
            checkpoint.reasons = [OutcomeReason(outcome: .rejected, reason: "reason \(number)"): 1]
            _ = try await storage.queue.checkpoint(checkpoint)
        }
        var expected: [NotificationID: NotificationTelemetry] = [:]
        for send in sends {
            expected[send.id] = try await storage.telemetry.telemetry(of: send.id, in: Sample.hub, at: Sample.time(1))
        }
        #expect(expected.count == 3 && Set(expected.values.map(\.outcomes)).count == 3)
        let unknown = (0..<NotificationTelemetry.pageLimit).map { _ in NotificationID() }
        for ids in [sends.map(\.id), unknown + sends.map(\.id), sends.map(\.id) + unknown] {
            #expect(try await storage.telemetry.telemetry(of: ids, in: Sample.hub, at: Sample.time(1)) == expected)
        }
        #expect(try await storage.telemetry.telemetry(of: sends.map(\.id), in: Sample.otherHub, at: Sample.time(1)).isEmpty)
        #expect(try await storage.telemetry.telemetry(of: [], in: Sample.hub, at: Sample.time(1)).isEmpty)
    }

    private static func feedback(_ number: Int, at moment: Timestamp) throws -> DeviceFeedback {
        DeviceFeedback(
            platform: .apns, handle: Sample.handle(number), record: try Sample.record("r\(number)"),
            installation: number % 2 == 0 ? try Sample.record("i\(number)") : nil, notification: NotificationID(),
            reason: number % 2 == 0 ? .gone : .badToken, notedAt: moment)
    }

    private static func store(_ storage: HubStorage, _ feedback: [DeviceFeedback]) async throws {
        let lease = try await leased(storage, send(.native(.apns)))
        var checkpoint = SliceCheckpoint(lease: lease, now: Sample.start, disposition: .finish)
        checkpoint.feedback = feedback
        #expect(try await storage.queue.checkpoint(checkpoint) != .refused)
        // A refused checkpoint adds no feedback.
        #expect(try await storage.queue.checkpoint(checkpoint) == .refused)
    }

    private static let keepsFeedback = StoragePromise<HubStorage>(
        "feedback is read in pages, each row once, and by its hub alone"
    ) {
        storage in
        let noted = try (1...5).map { try feedback($0, at: Sample.time(Int64($0))) }
        try await store(storage, noted)
        var read: [DeviceFeedback] = []
        while true {
            let page = try await storage.telemetry.feedback(after: read.last?.number ?? 0, limit: 2, in: Sample.hub)
            #expect(page.count <= 2)
            guard !page.isEmpty else { break }
            read += page
        }
        #expect(read.map(\.number) == read.map(\.number).sorted() && Set(read.map(\.number)).count == 5)
        let plain = read.map { row in
            var row = row
            row.number = 0
            return row
        }
        #expect(plain == noted)
        #expect(try await storage.telemetry.feedback(after: 0, limit: 9, in: Sample.otherHub).isEmpty)
    }

    private static let sweepsFeedback = StoragePromise<HubStorage>(
        "a sweep takes old feedback, and a number is never given twice"
    ) {
        storage in
        try await store(storage, [try feedback(1, at: Sample.time(1)), try feedback(2, at: Sample.time(5))])
        let last = try #require(try await storage.telemetry.feedback(after: 0, limit: 9, in: Sample.hub).last?.number)
        while try await storage.telemetry.sweep(endedBefore: Sample.time(3), at: Sample.time(3), limit: 1) > 0 {}
        #expect(try await storage.telemetry.feedback(after: 0, limit: 9, in: Sample.hub).map(\.number) == [last])
        while try await storage.telemetry.sweep(endedBefore: Sample.time(9), at: Sample.time(9), limit: 1) > 0 {}
        #expect(try await storage.telemetry.feedback(after: 0, limit: 9, in: Sample.hub).isEmpty)
        try await store(storage, [try feedback(3, at: Sample.time(9))])
        #expect(try #require(try await storage.telemetry.feedback(after: 0, limit: 9, in: Sample.hub).first).number > last)
    }
}
